#include "doors/http/connection.h"

#include <algorithm>
#include <array>
#include <deque>
#include <type_traits>
#include <utility>

#include <boost/asio.hpp>
#include <boost/asio/ssl.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>
#include <boost/beast/ssl.hpp>

#include "doors/http/problems.h"
#include "doors/http/wire_request.h"

namespace baton::http {

namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace wire = boost::beast::http;
using tcp = asio::ip::tcp;
using beast::error_code;
using Plain = beast::tcp_stream;
using Secure = beast::ssl_stream<beast::tcp_stream>;

constexpr std::size_t kEventBytes = std::size_t{256} * 1024;  // of one write
constexpr std::size_t kSmallBody = std::size_t{64} * 1024;
constexpr std::size_t kWritesAtOnce = 8;
constexpr std::size_t kLingerBytesMax = std::size_t{1} << 20U;
constexpr std::size_t kLingeringMax = 256;
constexpr auto kLinger = std::chrono::seconds(2);

constexpr std::string_view kContinue = "HTTP/1.1 100 Continue\r\n\r\n";
constexpr std::string_view kEventsHead =
    "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nCache-Control: no-store\r\n"
    "X-Accel-Buffering: no\r\nConnection: close\r\n";  // and more
constexpr std::string_view kComment = ":\n\n";

template <class Stream>
class Client final : public Connection, public std::enable_shared_from_this<Client<Stream>> {
public:
    Client(std::shared_ptr<ServerContext> server, std::uint64_t id, Stream stream)
        : server_(std::move(server)),
          id_(id),
          stream_(std::move(stream)),
          peer_(peer_of(lowest().socket())),
          timer_(server_->io) {}

    void start() override {
        server_->open.add(1);
        if constexpr (kSecure) {
            lowest().expires_after(server_->options.header_timeout);
            stream_.async_handshake(asio::ssl::stream_base::server, then(&Client::read_head));
        } else {
            read_head();
        }
    }

    void replied(Service::Answered answered) override {
        if (state_ != State::serving) return;
        underway_.reset();
        turn_ += 1;
        error_code ignored;
        lowest().socket().cancel(ignored);  // the look-out for its end
        if (auto* events = std::get_if<std::shared_ptr<EventStream>>(&answered)) {
            if (!head_only_) return begin_events(std::move(*events));
            return respond_and_end(
                {.content_type = "text/event-stream", .headers = {}, .body = {}});
        }
        respond(std::get<Response>(std::move(answered)));
    }

    void end_when_idle() override {
        if (state_ == State::idle) return close();
        if (state_ != State::events) return;
        ending_ = true;
        if (!writing_) finish();
    }

    void end_now() override {
        if (underway_) underway_->cancel(true);
        close();
    }

    bool gives_way() override {
        if (busy_) return false;
        if (underway_) underway_->cancel(true);
        close();
        return true;
    }

    void reconsider() override {
        if (server_->service.still_admits(known_as_)) return;
        if (underway_) underway_->cancel(true);
        if (state_ != State::events) return;
        ending_ = true;
        if (!writing_) finish();
    }

    // ---- events -----------------------------------------------------------------------------

    void pump() override {
        for (std::size_t i = 0; i < kWritesAtOnce; ++i) {
            if (state_ != State::events || writing_) return;
            auto pieces = events_->take(kEventBytes);
            if (pieces.empty()) return events_->ended() ? finish() : void();
            write_events(std::move(pieces));
        }
        ring(server_, id_);  // there may be more, when others had their turn
    }

private:
    static constexpr bool kSecure = std::is_same_v<Stream, Secure>;
    enum class State : std::uint8_t { idle, reading, serving, writing, events, ended };

    beast::tcp_stream& lowest() { return beast::get_lowest_layer(stream_); }

    // Calls a member when something was done, or ends the connection if it failed.
    auto then(void (Client::*next)()) {
        return [self = this->shared_from_this(), next](const error_code& error, auto...) {
            if (self->state_ == State::ended) return;
            if (error) return self->close();
            ((*self).*next)();
        };
    }

    // ---- a request --------------------------------------------------------------------------

    void read_head() {
        request_id_.clear();
        busy_.reset();
        parser_.emplace();
        parser_->header_limit(static_cast<std::uint32_t>(server_->options.header_bytes_max));
        parser_->body_limit(server_->options.body_bytes_max);
        if (buffer_.size() > 0) return read_rest_of_head();
        // Between two requests there is more time than within one.
        state_ = State::idle;
        if (server_->closing) return close();
        lowest().expires_after(served_ == 0 ? server_->options.header_timeout
                                            : server_->options.idle_timeout);
        stream_.async_read_some(
            buffer_.prepare(1024),
            [self = this->shared_from_this()](const error_code& error, std::size_t size) {
                if (self->state_ == State::ended) return;
                if (error) return self->close();
                self->buffer_.commit(size);
                self->read_rest_of_head();
            });
    }

    void read_rest_of_head() {
        state_ = State::reading;
        lowest().expires_after(server_->options.header_timeout);
        wire::async_read_header(
            stream_, buffer_, *parser_,
            [self = this->shared_from_this()](const error_code& error, std::size_t) {
                self->got_head(error);
            });
    }

    void got_head(const error_code& error) {
        if (state_ == State::ended) return;
        if (error) return refuse(error);
        Request head = request_of(parser_->get());
        head.peer = peer_;
        head.id = request_id_ = server_->service.id_for(head);
        if (parser_->get().version() >= 11 && head.header("host") == nullptr) {
            return respond_and_end(problem(
                {.code = ErrorCode::malformed_message, .message = "the header Host is missing"}));
        }
        Duration wait{};
        if (auto refusal = server_->service.refusal(head, known_as_, wait)) {
            return wait > Duration::zero() ? respond_later(*std::move(refusal), wait)
                                           : respond_and_end(*std::move(refusal));
        }
        // A stranger may ask how the coordinator is, and is never waited for.
        if (Service::is_open(head))
            return parser_->is_done() ? serve() : respond_and_end(no_body());
        busy_.emplace(server_->busy, server_->service.whose(known_as_));
        if (!busy_->becomes(1)) return respond_and_end(no_connection_left());
        const std::string* expects = head.header("expect");
        if (expects == nullptr) return read_body();
        lowest().expires_after(server_->options.write_timeout);
        asio::async_write(stream_, asio::buffer(kContinue), then(&Client::read_body));
    }

    void read_body() {
        lowest().expires_after(server_->options.body_timeout);
        read_rest_of_body();
    }

    // Part by part: what all bodies together take is bounded.
    void read_rest_of_body() {
        if (parser_->is_done()) return serve();
        wire::async_read_some(
            stream_, buffer_, *parser_,
            [self = this->shared_from_this()](const error_code& error, std::size_t) {
                if (self->state_ == State::ended) return;
                if (error) return self->refuse(error);
                if (!self->count_body()) {
                    return self->respond_and_end(
                        problem({.code = ErrorCode::slow_down,
                                 .message = "the bodies of requests take too much memory just now",
                                 .hint = "try again, or send less at once"}));
                }
                self->read_rest_of_body();
            });
    }

    // False: it is large, and there is no room for all of them, or for more of this user.
    bool count_body() {
        const std::size_t bytes = parser_->get().body().size();
        if (bytes <= kSmallBody) return true;
        if (!body_) {
            body_ =
                std::make_shared<desk::Share>(server_->bodies, server_->service.whose(known_as_));
        }
        return body_->becomes(bytes);
    }

    // What is sent cannot be read. Who went away is told nothing.
    void refuse(const error_code& error) {
        const bool ours =
            error.category() == wire::make_error_code(wire::error::bad_method).category();
        const bool gone =
            error == wire::error::end_of_stream || error == wire::error::partial_message;
        if (!ours || gone) return close();
        respond_and_end(unreadable(error));
    }

    void serve() {
        state_ = State::serving;
        served_ += 1;
        auto message = parser_->release();
        head_only_ = message.method() == wire::verb::head;
        keep_alive_ =
            message.keep_alive() && served_ < server_->options.requests_per_connection_max;
        Request request = request_of(message);
        request.body = std::move(message.body());
        request.peer = peer_;
        request.id = request_id_;
        lowest().expires_never();
        look_out();
        server_->replies_due += 1;
        underway_ = server_->service.serve(
            std::move(request),
            [server = server_, id = id_](Service::Answered answered) {
                // Called by any thread; the connection lives and dies on that of the server.
                const std::lock_guard lock(server->posting);
                asio::post(server->io, [server, id, told = std::move(answered)]() mutable {
                    server->replies_due -= 1;
                    const auto found = server->connections.find(id);
                    if (found == server->connections.end()) return;
                    const auto connection = found->second;
                    connection->replied(std::move(told));
                });
            },
            std::exchange(body_, nullptr));
    }

    // While a request is served nothing is read; but if the client goes away it need not go on.
    void look_out() {
        lowest().socket().async_wait(
            tcp::socket::wait_read,
            [self = this->shared_from_this(), turn = turn_](const error_code& error) {
                if (error || self->turn_ != turn || self->state_ != State::serving) return;
                error_code failure;
                const bool gone = self->lowest().socket().available(failure) == 0 || failure;
                if (!gone) return;
                if (self->underway_) self->underway_->cancel();
                self->close();
            });
    }

    // ---- a response -------------------------------------------------------------------------

    // No thread waits for it.
    void respond_later(Response told, Duration wait) {
        lowest().expires_never();
        timer_.expires_after(wait);
        timer_.async_wait(
            [self = this->shared_from_this(), later = std::move(told)](const error_code&) mutable {
                if (self->state_ != State::ended) self->respond_and_end(std::move(later));
            });
    }

    void respond_and_end(Response told) {
        keep_alive_ = false;
        respond(std::move(told));
    }

    void respond(Response told) {
        state_ = State::writing;
        parser_.reset();
        body_.reset();
        if (server_->closing) keep_alive_ = false;
        response_.emplace(static_cast<wire::status>(told.status), 11);
        for (const auto& [name, value] : told.headers) response_->set(name, value);
        if (!request_id_.empty()) response_->set(kRequestIdHeader, request_id_);
        if (!told.content_type.empty()) {
            response_->set(wire::field::content_type, told.content_type);
            response_->set(wire::field::cache_control, "no-store");
            response_->set("X-Content-Type-Options", "nosniff");
            response_->content_length(told.body.size());
            if (!head_only_) response_->body() = std::move(told.body);
        }
        response_->keep_alive(keep_alive_);
        lowest().expires_after(server_->options.write_timeout);
        wire::async_write(stream_, *response_, then(&Client::responded));
    }

    void responded() {
        response_.reset();
        if (keep_alive_) return read_head();
        finish();
    }

    // ---- events -----------------------------------------------------------------------------

    void begin_events(std::shared_ptr<EventStream> events) {
        if (server_->closing) {
            return respond_and_end(problem(
                {.code = ErrorCode::cancelled, .message = "the coordinator is shutting down"}));
        }
        state_ = State::events;
        server_->streams.add(1);
        events_ = std::move(events);
        const std::weak_ptr<ServerContext> weak = server_;
        events_->when_ready([weak, id = id_] {
            if (const auto server = weak.lock()) ring(server, id);
        });
        notice_end();
        write_events({piece_of(std::string(kEventsHead) + std::string(kRequestIdHeader) + ": " +
                               request_id_ + "\r\n\r\n")});
        keep_alive();
        pump();
    }

    void write_events(std::vector<Piece> pieces) {
        quiet_ = false;
        std::vector<asio::const_buffer> buffers;
        buffers.reserve(pieces.size());
        for (const Piece& piece : pieces) buffers.emplace_back(asio::buffer(*piece));
        const std::size_t written = write_at_once(buffers);
        if (written == asio::buffer_size(buffers)) return;
        writing_ = true;
        pieces_ = std::move(pieces);
        beast::buffers_suffix<std::vector<asio::const_buffer>> rest(std::move(buffers));
        rest.consume(written);
        lowest().expires_after(server_->options.write_timeout);
        asio::async_write(stream_, rest, then(&Client::wrote_events));
    }

    // As much as the socket takes without waiting, which would cost as much as the write.
    std::size_t write_at_once(const std::vector<asio::const_buffer>& buffers) {
        if constexpr (kSecure) {
            return 0;
        } else {
            error_code error;  // and if there is one, who waits is told of it
            if (!lowest().socket().non_blocking()) lowest().socket().non_blocking(true, error);
            const std::size_t size = error ? 0 : lowest().socket().write_some(buffers, error);
            return error ? 0 : size;
        }
    }

    void wrote_events() {
        writing_ = false;
        pieces_.clear();
        if (ending_) return finish();
        pump();
    }

    void keep_alive() {
        quiet_ = true;
        timer_.expires_after(server_->options.keep_alive);
        timer_.async_wait([self = this->shared_from_this()](const error_code& error) {
            if (error || self->state_ != State::events) return;
            if (self->quiet_ && !self->writing_) {
                self->write_events({std::make_shared<const std::string>(kComment)});
            }
            self->keep_alive();
        });
    }

    // A client that shows events says nothing more; reading tells when it is gone.
    void notice_end() {
        lowest().expires_never();
        stream_.async_read_some(asio::buffer(unread_), then(&Client::notice_end));
    }

    // ---- the end ----------------------------------------------------------------------------

    // Everything was written. What the client still sends is read for a while: a socket that is
    // closed with something unread takes back what was written last.
    void finish() {
        if (state_ == State::ended) return;
        const bool streamed = state_ == State::events;
        leave();
        // It is being read from; and nothing was unread.
        if (streamed || server_->lingering >= kLingeringMax) return shut();
        server_->lingering += 1;
        lingers_ = true;
        lowest().expires_after(kLinger);
        if constexpr (kSecure) {
            stream_.async_shutdown(
                [self = this->shared_from_this()](const error_code&) { self->shut(); });
        } else {
            error_code ignored;
            lowest().socket().shutdown(tcp::socket::shutdown_send, ignored);
            linger();
        }
    }

    void linger() {
        stream_.async_read_some(
            asio::buffer(unread_),
            [self = this->shared_from_this()](const error_code& error, std::size_t size) {
                self->lingered_ += size;
                if (error || self->lingered_ > kLingerBytesMax) return self->shut();
                self->linger();
            });
    }

    void close() {
        if (state_ == State::ended) return;
        leave();
        shut();
    }

    void shut() {
        if (std::exchange(lingers_, false)) server_->lingering -= 1;
        error_code ignored;
        lowest().socket().close(ignored);
    }

    void leave() {
        body_.reset();
        busy_.reset();
        if (events_) server_->streams.add(-1);
        server_->open.add(-1);
        state_ = State::ended;
        events_.reset();
        timer_.cancel();
        server_->connections.erase(id_);
    }

    const std::shared_ptr<ServerContext> server_;
    const std::uint64_t id_;
    Stream stream_;
    const std::string peer_;
    asio::steady_timer timer_;
    State state_ = State::reading;
    beast::flat_buffer buffer_;
    std::optional<wire::request_parser<wire::string_body>> parser_;
    std::optional<wire::response<wire::string_body>> response_;
    std::shared_ptr<Underway> underway_;
    std::string request_id_;  // of the last request; none: it could not be read
    std::string known_as_;    // who asked last
    std::size_t served_ = 0;
    std::shared_ptr<desk::Share> body_;  // of the bytes of the present body, until it is served
    std::uint64_t turn_ = 0;
    bool keep_alive_ = false;
    bool head_only_ = false;
    std::optional<desk::Share> busy_;  // a known caller waits for the present request

    std::shared_ptr<EventStream> events_;
    std::vector<Piece> pieces_;  // being written
    bool writing_ = false;
    bool ending_ = false;  // after what is being written
    bool quiet_ = true;    // nothing was written since the last comment was due
    std::array<char, 1024> unread_{};
    std::size_t lingered_ = 0;
    bool lingers_ = false;
};

}  // namespace

void let_in(const std::shared_ptr<ServerContext>& server, int socket) {
    const std::uint64_t id = ++server->last_id;
    tcp::socket own(server->io);
    error_code error;
    own.assign(tcp::v4(), socket, error);
    if (error) return;
    own.set_option(tcp::no_delay(true), error);
    own.set_option(asio::socket_base::keep_alive(true), error);
    std::shared_ptr<Connection> client;
    if (server->tls != nullptr) {
        client = std::make_shared<Client<Secure>>(server, id, Secure(std::move(own), *server->tls));
    } else {
        client = std::make_shared<Client<Plain>>(server, id, Plain(std::move(own)));
    }
    server->connections.emplace(id, client);
    client->start();
}

}  // namespace baton::http
