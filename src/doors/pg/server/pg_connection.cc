#include "doors/pg/server/pg_connection.h"

#include <utility>

#include <boost/asio/buffer.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/write.hpp>
#include <netinet/tcp.h>

#include "base/overload.h"
#include "base/text.h"

namespace baton::pgserver {

namespace asio = boost::asio;
namespace wire = pgwire::connection;

namespace {

constexpr auto kLingerMax = std::chrono::seconds(2);

pgwire::Report shutting_down() {
    return {.sqlstate = "57P01", .message = "the coordinator is shutting down"};
}

// A client whose machine is gone is noticed after about two minutes.
void keep_alive(Socket& socket) {
    boost::system::error_code ignored;
    socket.set_option(asio::socket_base::keep_alive(true), ignored);
    socket.set_option(Tcp::no_delay(true), ignored);
    using Idle = asio::detail::socket_option::integer<IPPROTO_TCP, TCP_KEEPIDLE>;
    using Interval = asio::detail::socket_option::integer<IPPROTO_TCP, TCP_KEEPINTVL>;
    using Count = asio::detail::socket_option::integer<IPPROTO_TCP, TCP_KEEPCNT>;
    socket.set_option(Idle(60), ignored);
    socket.set_option(Interval(15), ignored);
    socket.set_option(Count(4), ignored);
}

std::string peer_of(const Socket& socket) {
    boost::system::error_code error;
    const auto endpoint = socket.remote_endpoint(error);
    if (error) return "unknown";
    return endpoint.address().to_string() + ":" + std::to_string(endpoint.port());
}

}  // namespace

PgConnection::PgConnection(ServerContext& context, Socket socket, PgConnectionOptions options)
    : context_(context),
      options_(std::move(options)),
      socket_(std::move(socket)),
      peer_(peer_of(socket_)),
      timer_(socket_.get_executor()),
      idle_timer_(socket_.get_executor()),
      hold_(socket_.get_executor()),
      heard_(std::chrono::steady_clock::now()),
      machine_(options_.connection) {
    login_until_ = heard_ + options_.login_timeout;
    keep_alive(socket_);
}

PgConnection::~PgConnection() {
    context_.left(options_.connection.process);
}

void PgConnection::start() {
    asio::post(socket_.get_executor(), [self = shared_from_this()] {
        self->watch_login();
        self->read();
    });
}

void PgConnection::cancel() {
    asio::post(socket_.get_executor(),
               [self = shared_from_this()] { self->step(wire::CancelAsked{}); });
}

void PgConnection::leave(bool at_once) {
    asio::post(socket_.get_executor(), [self = shared_from_this(), at_once] {
        self->hold_.cancel();
        if (at_once) return self->step(wire::Expelled{shutting_down()});
        self->leaving_ = true;
        self->after_steps();
    });
}

void PgConnection::give_way() {
    asio::post(socket_.get_executor(), [self = shared_from_this()] {
        if (self->logged_in_) return;
        if (self->ending_ != Ending::no) return self->close();
        self->vanished_ = true;
        self->step(wire::Vanished{});
    });
}

void PgConnection::reconsider() {
    asio::post(socket_.get_executor(), [self = shared_from_this()] {
        if (!self->who_ || self->context_.still_admits(*self->who_)) return;
        self->step(wire::Expelled{{.sqlstate = "57P01",
                                   .message = "user " + in_quotes(self->who_->name) +
                                              " may not stay: its access was changed"}});
    });
}

// ---- events and effects -------------------------------------------------------------------------

void PgConnection::step(Event event) {
    events_.push_back(std::move(event));
    if (stepping_) return;
    stepping_ = true;
    while (!events_.empty()) {
        Event next = std::move(events_.front());
        events_.pop_front();
        logged_in_ = logged_in_ || std::holds_alternative<wire::SessionOpened>(next);
        for (wire::Effect& effect : machine_.step(std::move(next))) perform(std::move(effect));
    }
    stepping_ = false;
    after_steps();
}

void PgConnection::perform(wire::Effect effect) {
    std::visit(
        Overload{
            [&](wire::Send& e) { waiting_.push_back(std::move(e.bytes)); },
            [&](const wire::StartTls&) { tls_wanted_ = true; },
            [&](const wire::HangUp&) { ending_ = Ending::wanted; },
            [&](const wire::PauseReading&) { reads_ = false; },
            [&](const wire::ResumeReading&) { reads_ = true; },
            [&](const wire::Cancel& e) { context_.cancel(e.process, e.key); },
            [&](const wire::LookUpVerifier& e) { look_up(e.user); },
            [&](const wire::LoginRefused& e) { keep_waiting(context_.refused(e.user, peer_)); },
            [&](const wire::OpenSession& e) { open_session(e); },
            [&](const wire::EndSession&) {
                if (runner_) runner_->end();
            },
            [&](const wire::RunSimple& e) { runner_->run(e); },
            [&](wire::Prepare& e) { runner_->prepare(std::move(e)); },
            [&](wire::BindPortal& e) { runner_->bind(std::move(e)); },
            [&](const wire::RunPortal& e) { runner_->run(e); },
            [&](const wire::GiveCopied& e) { runner_->give(e); },
            [&](const wire::EndCopied& e) { runner_->end_copied(e); },
            [&](const wire::ClosePrepared& e) { runner_->close(e); },
            [&](const wire::ClosePortal& e) { runner_->close(e); },
            [&](const wire::EndSeries& e) { runner_->end_series(e); },
            [&](const wire::Interrupt&) { runner_->interrupt(); },
            [&](const wire::PauseRows&) { runner_->pause_rows(); },
            [&](const wire::ResumeRows&) { runner_->resume_rows(); },
        },
        effect);
}

void PgConnection::look_up(const std::string& user) {
    if (auto held_up = context_.hold_up(user, peer_)) {
        events_.emplace_back(wire::Expelled{*std::move(held_up)});
    } else {
        events_.emplace_back(wire::VerifierLookedUp{context_.verifier(user)});
    }
}

// What is said from here on is said later, by nobody's thread.
void PgConnection::keep_waiting(Duration time) {
    if (time <= Duration::zero()) return;
    held_ = true;
    hold_.expires_after(time);
    hold_.async_wait([self = shared_from_this()](const Error&) {
        self->held_ = false;
        if (self->ending_ != Ending::closed) self->after_steps();
    });
}

void PgConnection::open_session(const wire::OpenSession& session) {
    auto admitted = context_.admit(options_.connection.process, session.user, peer_);
    if (auto* refused = std::get_if<pgwire::Report>(&admitted)) {
        events_.emplace_back(wire::Failed{.report = std::move(*refused)});
        return;
    }
    who_ = std::get<desk::Principal>(admitted);
    if (!who_->coordinator) {
        // Where nobody proves who it is, a name says nothing.
        const bool proved = options_.connection.authentication == pgwire::Authentication::scram;
        kept_.emplace(options_.kept, proved ? session.user : std::string());
    }
    runner_ = std::make_shared<Runner>(
        RunnerOptions{.desk = options_.desk,
                      .post =
                          [self = shared_from_this()](std::function<void()> work) {
                              asio::post(self->socket_.get_executor(), std::move(work));
                          },
                      .tell = [link = this](Event event) { link->step(std::move(event)); },
                      .process = options_.connection.process,
                      .version = options_.connection.version,
                      .answers = options_.answers});
    runner_->open(session, std::get<desk::Principal>(std::move(admitted)));
}

void PgConnection::after_steps() {
    if (ending_ == Ending::wanted) runner_.reset();  // which holds us
    if (ending_ == Ending::wanted && !held_ && !std::exchange(hurried_, true)) {
        timer_.expires_after(kLingerMax);  // nobody waits for a client that does not read
        timer_.async_wait([self = shared_from_this()](const Error& error) {
            if (!error) self->close();
        });
    }
    if (leaving_ && ending_ == Ending::no && (!runner_ || !runner_->works())) {
        return step(wire::Expelled{shutting_down()});
    }
    if (!proves_ && machine_.proves()) {
        proves_ = true;
        context_.proves(options_.connection.process);
    }
    if (keeps_too_much()) {
        return step(wire::Expelled{
            {.sqlstate = "53200",
             .message = "the message cannot be taken: messages, prepared statements and portals of "
                        "clients take too much memory just now",
             .hint = "try again, or send less at once"}});
    }
    watch_transaction();
    write();
    read();
}

bool PgConnection::keeps_too_much() {
    return kept_ && ending_ == Ending::no && !kept_->becomes(machine_.bytes_kept());
}

void PgConnection::watch_transaction() {
    const auto at_most = runner_ && ending_ == Ending::no ? runner_->idle_in_transaction()
                                                          : std::optional<Duration>();
    if (std::exchange(idles_, at_most.has_value()) == at_most.has_value()) return;
    idle_timer_.cancel();
    if (!at_most) return;
    idle_timer_.expires_after(*at_most);
    idle_timer_.async_wait([self = shared_from_this()](const Error& error) {
        if (error || !self->idles_ || self->ending_ != Ending::no) return;
        self->step(wire::Expelled{{.sqlstate = "25P03",
                                   .message = "the transaction was left open for too long: it is "
                                              "rolled back, nothing happened",
                                   .hint = "COMMIT or ROLLBACK in time, or SET "
                                           "idle_in_transaction_session_timeout"}});
    });
}

// ---- bytes --------------------------------------------------------------------------------------

void PgConnection::read() {
    if (reading_ || !reads_ || tls_wanted_ || ending_ != Ending::no) return;
    reading_ = true;
    with_stream([&](auto& stream) {
        stream.async_read_some(asio::buffer(input_),
                               [self = shared_from_this()](const Error& error, std::size_t bytes) {
                                   self->on_read(error, bytes);
                               });
    });
}

void PgConnection::on_read(const Error& error, std::size_t bytes) {
    reading_ = false;
    if (ending_ == Ending::under_way) return discard();
    if (ending_ != Ending::no) return;
    if (error) {
        vanished_ = true;
        return step(wire::Vanished{});
    }
    heard_ = std::chrono::steady_clock::now();
    step(wire::Received{std::string(input_.data(), bytes)});
}

void PgConnection::write() {
    if (!sending_.empty() || held_) return;
    if (vanished_) waiting_.clear();
    if (waiting_.empty()) {
        if (ending_ == Ending::wanted) return hang_up();
        if (tls_wanted_ && !tls_) return shake_hands();
        return;
    }
    sending_ = std::exchange(waiting_, {});
    std::vector<asio::const_buffer> buffers;
    buffers.reserve(sending_.size());
    for (const std::string& bytes : sending_) buffers.push_back(asio::buffer(bytes));
    with_stream([&](auto& stream) {
        asio::async_write(stream, buffers,
                          [self = shared_from_this()](const Error& error, std::size_t bytes) {
                              self->on_written(error, bytes);
                          });
    });
}

void PgConnection::on_written(const Error& error, std::size_t bytes) {
    sending_.clear();
    if (ending_ == Ending::closed) return;
    if (error) {
        vanished_ = true;
        if (ending_ == Ending::wanted) return hang_up();
        return step(wire::Vanished{});
    }
    step(wire::Written{bytes});
}

void PgConnection::shake_hands() {
    tls_.emplace(socket_, *options_.tls);
    tls_->async_handshake(
        asio::ssl::stream_base::server, [self = shared_from_this()](const Error& error) {
            self->tls_wanted_ = false;
            if (self->ending_ != Ending::no) return;
            if (error) {
                self->context_.warn("a TLS handshake failed",
                                    {{"peer", self->peer_}, {"reason", error.message()}});
                self->vanished_ = true;
                return self->step(wire::Vanished{});
            }
            self->step(wire::TlsStarted{});
        });
}

// ---- the end ------------------------------------------------------------------------------------

// The client is to read what was said last: if input were left unread when the socket is closed, it
// would see an error instead.
void PgConnection::hang_up() {
    ending_ = Ending::under_way;
    if (vanished_ || tls_wanted_) return close();
    if (tls_) {
        tls_->async_shutdown([self = shared_from_this()](const Error&) { self->close(); });
        return;
    }
    Error ignored;
    socket_.shutdown(Socket::shutdown_send, ignored);
    if (!reading_) discard();
}

void PgConnection::discard() {
    if (ending_ != Ending::under_way || tls_) return;
    socket_.async_read_some(asio::buffer(input_),
                            [self = shared_from_this()](const Error& error, std::size_t) {
                                if (error) return self->close();
                                self->discard();
                            });
}

void PgConnection::close() {
    if (ending_ == Ending::closed) return;
    ending_ = Ending::closed;
    Error ignored;
    timer_.cancel();
    idle_timer_.cancel();
    hold_.cancel();
    socket_.close(ignored);
}

void PgConnection::watch_login() {
    if (logged_in_ || ending_ != Ending::no) return;
    const auto now = std::chrono::steady_clock::now();
    const auto until = std::min(login_until_, heard_ + options_.startup_idle_timeout);
    if (now >= until) {
        return step(wire::Expelled{{.sqlstate = "57014", .message = "the login took too long"}});
    }
    timer_.expires_at(until);
    timer_.async_wait([self = shared_from_this()](const Error& error) {
        if (!error) self->watch_login();
    });
}

}  // namespace baton::pgserver
