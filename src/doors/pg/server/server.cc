#include "doors/pg/server/server.h"

#include <atomic>
#include <condition_variable>
#include <map>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/post.hpp>

#include "adapters/system/digest.h"
#include "adapters/system/server_tls.h"
#include "base/text.h"
#include "coordinator/sessions/version.h"
#include "doors/desk/log_limit.h"
#include "doors/desk/strangers.h"
#include "doors/pg/server/pg_connection.h"
#include "doors/pg/wire/scram.h"

namespace baton::pgserver {

namespace asio = boost::asio;
using ErrorOfAsio = boost::system::error_code;

namespace {

constexpr auto kAcceptPause = std::chrono::milliseconds(100);
constexpr auto kBetweenWarnings = std::chrono::seconds(10);  // of the same trouble

std::uint32_t random_number() {
    std::uint32_t number = 0;
    for (const char c : system::random_bytes(4))
        number = number << 8U | static_cast<unsigned char>(c);
    return number;
}

// Whom a stranger counts for: its address, or of IPv6 the network, of which one has many.
std::string address_of(const Socket& socket) {
    ErrorOfAsio error;
    const auto address = socket.remote_endpoint(error).address();
    if (error || address.is_v4()) return address.to_string();
    const auto bytes = address.to_v6().to_bytes();
    return {bytes.begin(), bytes.begin() + (address.to_v6().is_v4_mapped() ? 16 : 8)};
}

std::string version_number() {
    std::string_view version = coordinator::kVersion;
    version.remove_prefix(std::min(version.find(' ') + 1, version.size()));
    return std::string(version);
}

}  // namespace

class Server::Inside : public ServerContext {
public:
    Inside(desk::Desk& desk, desk::Access access, desk::Metrics& metrics, ServerOptions options)
        : desk_(desk),
          options_(std::move(options)),
          answers_(metrics, "pg"),
          open_(metrics.gauge("baton_connections", {{"door", "pg"}})),
          turned_away_(metrics.counter("baton_connections_refused_total", {{"door", "pg"}})),
          mock_(system::random_bytes(32)),
          kept_(std::make_shared<desk::Shares>(options_.kept_bytes_max)),
          acceptor_(asio::make_strand(io_)),
          pause_(acceptor_.get_executor()),
          work_(io_.get_executor()),
          access_(std::make_shared<const desk::Access>(std::move(access))) {}

    ~Inside() override {
        stop(Duration::zero());
        {
            std::unique_lock lock(mutex_);  // what they run on the desk ends before they do
            left_.wait(lock, [&] { return links_.empty(); });
        }
        work_.reset();
        for (std::thread& thread : threads_) thread.join();
    }

    Result<Done> listen() {
        TRY_ASSIGN(tls, read_tls());
        tls_ = std::move(tls);
        ErrorOfAsio error;
        asio::ip::tcp::resolver resolver(io_);
        const auto found = resolver.resolve(options_.host, std::to_string(options_.port),
                                            asio::ip::tcp::resolver::passive, error);
        if (error || found.empty()) {
            return Error{
                .code = ErrorCode::invalid_configuration,
                .message = "cannot listen on " + in_quotes(options_.host) + ": " + error.message()};
        }
        const Tcp::endpoint endpoint = found.begin()->endpoint();
        acceptor_.open(endpoint.protocol(), error);
        if (!error) acceptor_.set_option(asio::socket_base::reuse_address(true), error);
        if (!error) acceptor_.bind(endpoint, error);
        if (!error) acceptor_.listen(asio::socket_base::max_listen_connections, error);
        if (error) {
            return Error{.code = ErrorCode::cannot_open,
                         .message = "cannot listen on " + options_.host + ":" +
                                    std::to_string(options_.port) + ": " + error.message(),
                         .hint =
                             "stop the program that listens there, or choose another address "
                             "(--pg HOST:PORT; --pg '' closes this door)"};
        }
        port_ = acceptor_.local_endpoint().port();
        asio::post(acceptor_.get_executor(), [this] { accept(); });
        for (std::size_t i = 0; i < std::max<std::size_t>(options_.threads, 1); ++i) {
            threads_.emplace_back([this] { io_.run(); });
        }
        return Done{};
    }

    void stop(Duration patience) {
        asio::post(acceptor_.get_executor(), [this] {
            ErrorOfAsio ignored;
            acceptor_.close(ignored);
            pause_.cancel();
        });
        std::unique_lock lock(mutex_);
        stopping_ = true;
        tell_to_leave(lock, false);
        const auto gone = [&] { return links_.empty(); };
        if (left_.wait_for(lock, patience, gone)) return;
        tell_to_leave(lock, true);
    }

    Result<Done> reload(desk::Access access) {
        TRY_ASSIGN(tls, read_tls());
        std::vector<std::shared_ptr<PgConnection>> present;
        {
            const std::lock_guard lock(mutex_);
            tls_ = std::move(tls);
            access_ = std::make_shared<const desk::Access>(std::move(access));
            for (const auto& [process, link] : links_) present.push_back(link.lock());
        }
        for (const auto& link : present) {
            if (link) link->reconsider();
        }
        return Done{};
    }

    [[nodiscard]] std::uint16_t port() const { return port_; }
    [[nodiscard]] Load load() const {
        const std::lock_guard lock(mutex_);
        return {.connections = links_.size(), .accepted = accepted_, .refused = refused_};
    }

    // ---- for links ----
    void cancel(std::uint32_t process, std::uint32_t key) override {
        const auto link = find(process);
        if (link && link->key() == key) link->cancel();
    }
    std::optional<pgwire::ScramVerifier> verifier(const std::string& user) override {
        const auto access = this->access();
        const desk::Access::User* known = access->user(user);
        const bool coordinator = is_coordinator(*access, user);
        if (known == nullptr && !coordinator) return std::nullopt;
        auto verifier =
            pgwire::verifier_of(coordinator ? access->verifier_of_coordinators() : known->verifier);
        if (verifier) return *std::move(verifier);
        warn("the verifier of a user cannot be read", {{"user", user}});
        return std::nullopt;
    }
    std::variant<desk::Principal, pgwire::Report> admit(std::uint32_t process,
                                                        const std::string& user,
                                                        const std::string& peer) override {
        if (!takes_place(process, user)) {
            return pgwire::Report{.sqlstate = "53300",
                                  .message = "too many connections: at most " +
                                             std::to_string(options_.connections_max) +
                                             " are let in"};
        }
        const auto access = this->access();
        const auto who = principal(*access, user);
        if (!who) {  // it was known when it began to prove its password
            return pgwire::Report{.sqlstate = "28000",
                                  .message = "user " + in_quotes(user) + " is no longer let in"};
        }
        const bool proved = !access->trusts_everybody() || who->coordinator;
        if (proved && options_.logins != nullptr) options_.logins->succeeded(peer, user);
        write(LogLevel::info, "a client logged in",
              {{"user", desk::shown(user)},
               {"role", std::string(to_string(who->role))},
               {"proof", proved ? "password" : "none"},
               {"peer", peer}});
        return *who;
    }
    Duration refused(const std::string& user, const std::string& peer) override {
        const auto access = this->access();
        const bool known = is_coordinator(*access, user) || access->user(user) != nullptr;
        warn("a login was refused", {{"user", desk::shown(user)},
                                     {"reason", known ? "wrong password" : "no such user"},
                                     {"peer", peer}});
        if (options_.logins == nullptr) return Duration::zero();
        return options_.logins->failed("pg", peer, user);
    }
    std::optional<pgwire::Report> hold_up(const std::string& user,
                                          const std::string& peer) override {
        if (options_.logins == nullptr) return std::nullopt;
        const Duration wait = options_.logins->refusal("pg", peer, user);
        if (wait <= Duration::zero()) return std::nullopt;
        const auto seconds = std::chrono::ceil<std::chrono::seconds>(wait).count();
        // As many of these as come: at a level that does not fill the log.
        write(LogLevel::debug, "a login was held up",
              {{"user", desk::shown(user)}, {"peer", peer}});
        return pgwire::Report{.sqlstate = "53000",
                              .message = "too many logins have failed",
                              .hint = "try again in " + std::to_string(seconds) + " s"};
    }
    bool still_admits(const desk::Principal& who) override {
        return principal(*access(), who.name) == who;
    }
    void proves(std::uint32_t process) override {
        const std::lock_guard lock(mutex_);
        strangers_.proves(process);
    }
    void left(std::uint32_t process) override {
        const std::lock_guard lock(mutex_);
        if (links_.erase(process) > 0) open_.add(-1);
        strangers_.left(process);
        if (const auto member = members_.find(process); member != members_.end()) {
            const auto count = counts_.find(member->second);
            if (--count->second == 0) counts_.erase(count);
            members_.erase(member);
        }
        left_.notify_all();
    }
    void warn(std::string_view message, const std::vector<LogField>& fields) override {
        // Strangers cause these: what they write is cut, and not every one is told.
        std::optional<std::uint64_t> left_out;
        {
            const std::lock_guard lock(mutex_);
            left_out = warnings_[message].take(desk_.coordinator().clock().now());
        }
        if (!left_out) return;
        std::vector<LogField> told = fields;
        if (*left_out > 0) told.push_back({"left_out_before", std::to_string(*left_out)});
        write(LogLevel::warn, message, std::move(told));
    }

private:
    void write(LogLevel level, std::string_view message, std::vector<LogField> fields) {
        if (options_.log == nullptr) return;
        fields.insert(fields.begin(), {"door", "pg"});
        options_.log->write(level, message, fields);
    }
    [[nodiscard]] std::shared_ptr<const desk::Access> access() const {
        const std::lock_guard lock(mutex_);
        return access_;
    }
    [[nodiscard]] static bool is_coordinator(const desk::Access& access, const std::string& user) {
        return access.lets_coordinators_in() && user == desk::kCoordinatorUser;
    }
    // As whom the user is let in; none: it is not.
    [[nodiscard]] static std::optional<desk::Principal> principal(const desk::Access& access,
                                                                  const std::string& user) {
        desk::Principal who{.name = user, .role = desk::Role::admin};
        if (is_coordinator(access, user)) {
            who.coordinator = true;
            who.role = desk::Role::reader;  // of its own it asks for nothing
        } else if (!access.trusts_everybody()) {
            const desk::Access::User* known = access.user(user);
            if (known == nullptr) return std::nullopt;
            who.role = known->role;
            who.files = known->files;
        }
        return who;
    }

    [[nodiscard]] std::shared_ptr<PgConnection> find(std::uint32_t process) const {
        const std::lock_guard lock(mutex_);
        const auto found = links_.find(process);
        return found == links_.end() ? nullptr : found->second.lock();
    }

    // False: it may not be a member.
    bool takes_place(std::uint32_t process, const std::string& user) {
        const std::lock_guard lock(mutex_);
        const bool first = !counts_.contains(user);
        const std::size_t most = options_.connections_max + (first ? kKeptForOthers : 0);
        // One that is refused stays a stranger until it is gone.
        if (!strangers_.contains(process) || members_.size() >= most) {
            turned_away();
            return false;
        }
        strangers_.left(process);
        members_[process] = user;
        counts_[user] += 1;
        return true;
    }

    void turned_away() {
        refused_ += 1;
        turned_away_.add();
    }

    // Without the lock: a link that ends here wants it.
    void tell_to_leave(std::unique_lock<std::mutex>& lock, bool at_once) {
        std::vector<std::shared_ptr<PgConnection>> present;
        for (const auto& [process, link] : links_) present.push_back(link.lock());
        lock.unlock();
        for (const auto& link : present) {
            if (link) link->leave(at_once);
        }
        present.clear();
        lock.lock();
    }

    // Null: there is none.
    [[nodiscard]] Result<std::shared_ptr<asio::ssl::context>> read_tls() const {
        if (!options_.tls) return std::shared_ptr<asio::ssl::context>();
        TRY_ASSIGN(context, system::server_tls(options_.tls->certificate, options_.tls->key));
        return std::make_shared<asio::ssl::context>(context.release());
    }

    void accept() {
        if (!acceptor_.is_open()) return;
        acceptor_.async_accept(
            asio::make_strand(io_), [this](const ErrorOfAsio& error, Socket socket) {
                if (!acceptor_.is_open()) return;
                if (!error) {
                    let_in(std::move(socket));
                    return accept();
                }
                if (error == asio::error::connection_aborted) return accept();
                // Out of descriptors or memory: those who have some will give
                // them back.
                const auto now = std::chrono::steady_clock::now();
                if (now - warned_ >= kBetweenWarnings) {
                    warned_ = now;
                    warn("cannot accept a connection", {{"reason", error.message()}});
                }
                pause_.expires_after(kAcceptPause);
                pause_.async_wait([this](const ErrorOfAsio&) { accept(); });
            });
    }

    void let_in(Socket socket) {
        std::shared_ptr<PgConnection> link;
        std::shared_ptr<PgConnection> gives_way;
        const std::string address = address_of(socket);
        {
            const std::lock_guard lock(mutex_);
            if (stopping_) return;
            const auto first = strangers_.size() >= options_.strangers_max
                                   ? strangers_.first_to_go()
                                   : std::nullopt;
            if (first) {
                turned_away();
                gives_way = links_[*first].lock();
                strangers_.left(*first);
            }
            accepted_ += 1;
            do {
                last_process_ = last_process_ % INT32_MAX + 1;
            } while (links_.contains(last_process_));
            PgConnectionOptions options = link_options();
            options.connection.process = last_process_;
            link = std::make_shared<PgConnection>(*this, std::move(socket), std::move(options));
            links_[last_process_] = link;
            open_.add(1);
            strangers_.came(last_process_, address);
        }
        if (gives_way) gives_way->give_way();
        link->start();
    }

    [[nodiscard]] PgConnectionOptions link_options() {
        PgConnectionOptions options{.connection = {},
                                    .tls = tls_,
                                    .desk = &desk_,
                                    .answers = &answers_,
                                    .kept = kept_,
                                    .login_timeout = options_.login_timeout,
                                    .startup_idle_timeout = options_.startup_idle_timeout};
        pgwire::ConnectionOptions& connection = options.connection;
        if (options_.tls) {
            connection.tls = options_.tls->required ? pgwire::Tls::required : pgwire::Tls::offered;
        }
        connection.authentication = access_->trusts_everybody() ? pgwire::Authentication::trust
                                                                : pgwire::Authentication::scram;
        if (access_->lets_coordinators_in()) connection.always_proves = desk::kCoordinatorUser;
        connection.scram = {.nonce = pgwire::nonce_of(system::random_bytes(18)), .mock = mock_};
        connection.key = random_number();
        connection.version = version_number();
        connection.output_bytes_max = options_.output_bytes_max;
        return options;
    }

    desk::Desk& desk_;
    const ServerOptions options_;
    desk::DoorAnswers answers_;
    desk::Gauge& open_;
    desk::Counter& turned_away_;
    const std::string mock_;
    const std::shared_ptr<desk::Shares> kept_;

    asio::io_context io_;
    boost::asio::basic_socket_acceptor<Tcp, Strand> acceptor_;
    Timer pause_;
    asio::executor_work_guard<asio::io_context::executor_type> work_;
    std::uint16_t port_ = 0;
    std::vector<std::thread> threads_;

    mutable std::mutex mutex_;
    std::shared_ptr<const desk::Access> access_;
    std::shared_ptr<asio::ssl::context> tls_;  // null: none
    std::condition_variable left_;
    std::map<std::uint32_t, std::weak_ptr<PgConnection>> links_;  // by process
    desk::Strangers strangers_;                                   // have not logged in
    std::map<std::uint32_t, std::string> members_;                // the users of those who have
    std::map<std::string, std::size_t> counts_;                   // of the connections of users
    std::chrono::steady_clock::time_point warned_{};
    std::map<std::string_view, desk::LogLimit> warnings_;  // by their message, which is ours
    std::uint32_t last_process_ = 0;
    std::uint64_t accepted_ = 0;
    std::uint64_t refused_ = 0;
    bool stopping_ = false;
};

Result<std::unique_ptr<Server>> Server::open(desk::Desk& desk, desk::Access access,
                                             desk::Metrics& metrics, ServerOptions options) {
    auto inside = std::make_unique<Inside>(desk, std::move(access), metrics, std::move(options));
    TRY(inside->listen());
    return std::unique_ptr<Server>(new Server(std::move(inside)));
}

Server::Server(std::unique_ptr<Inside> inside) : inside_(std::move(inside)) {}
Server::~Server() = default;

std::uint16_t Server::port() const {
    return inside_->port();
}

void Server::stop(Duration patience) {
    inside_->stop(patience);
}

Result<Done> Server::reload(desk::Access access) {
    return inside_->reload(std::move(access));
}

Server::Load Server::load() const {
    return inside_->load();
}

}  // namespace baton::pgserver
