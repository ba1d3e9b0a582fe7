#include "doors/http/server.h"

#include <chrono>
#include <condition_variable>
#include <future>
#include <mutex>
#include <thread>

#include <boost/asio.hpp>
#include <boost/asio/ssl.hpp>

#include "adapters/system/server_tls.h"
#include "base/text.h"
#include "doors/http/connection.h"

namespace baton::http {

namespace {

namespace asio = boost::asio;
using boost::system::error_code;
using tcp = asio::ip::tcp;

constexpr std::string_view kFull =
    "HTTP/1.1 503 Service Unavailable\r\nRetry-After: 1\r\nContent-Length: 0\r\n"
    "Connection: close\r\n\r\n";
constexpr std::size_t kKeptForProbes = 16;  // one of so many connections
constexpr auto kAcceptPause = std::chrono::milliseconds(100);

Error misconfigured(std::string message, std::string hint = {}) {
    return {.code = ErrorCode::invalid_configuration,
            .message = std::move(message),
            .hint = std::move(hint)};
}

}  // namespace

class Server::Inside {
public:
    Inside(desk::Desk& desk, const desk::Access& access, desk::Metrics& metrics,
           const ServerOptions& options)
        : options_(options),
          service_(desk, access, metrics, options.service),
          acceptor_(io_),
          pause_(io_),
          refused_(metrics.counter("baton_connections_refused_total", {{"door", "http"}})),
          context_(new ServerContext{
              .io = io_,
              .tls = nullptr,
              .service = service_,
              .options = options_,
              .open = metrics.gauge("baton_connections", {{"door", "http"}}),
              .streams = metrics.gauge("baton_streams", {{"door", "http"}}),
              .connections = {},
              .busy = std::make_shared<desk::Shares>(
                  options_.connections_max - options_.connections_max / kKeptForProbes,
                  options_.connections_max),
              .bodies = std::make_shared<desk::Shares>(options_.bodies_bytes_max)}) {}
    ~Inside() { stop(Duration::zero()); }
    Inside(const Inside&) = delete;
    Inside& operator=(const Inside&) = delete;

    Result<Done> listen(const asio::ip::address& address) {
        error_code error;
        const tcp::endpoint endpoint(address, options_.port);
        acceptor_.open(endpoint.protocol(), error);
        if (!error) acceptor_.set_option(tcp::acceptor::reuse_address(true), error);
        if (!error) acceptor_.bind(endpoint, error);
        if (!error) acceptor_.listen(asio::socket_base::max_listen_connections, error);
        if (error) {
            return misconfigured("cannot listen at " + options_.address + ":" +
                                     std::to_string(options_.port) + ": " + error.message(),
                                 "stop the program that listens there, or choose another address "
                                 "(--http HOST:PORT; --http '' closes this door)");
        }
        port_ = acceptor_.local_endpoint(error).port();
        return Done{};
    }

    Result<Done> use_tls() {
        TRY_ASSIGN(tls, read_tls());
        tls_ = std::move(tls);
        context_->tls = tls_.get();
        return Done{};
    }

    Result<Done> reload(desk::Access access) {
        TRY_ASSIGN(tls, read_tls());
        on_thread([&] {
            // Connections hold on to what they began with.
            tls_ = std::move(tls);
            context_->tls = tls_.get();
            service_.use(std::move(access));
            for_each([](Connection& connection) { connection.reconsider(); });
        });
        return Done{};
    }

    void run() {
        accept();
        thread_ = std::thread([this] { io_.run(); });
    }

    [[nodiscard]] std::uint16_t port() const { return port_; }

    void stop(Duration patience) {
        if (!thread_.joinable()) return;
        const auto deadline = std::chrono::steady_clock::now() + patience;
        service_.begin_to_close();
        on_thread([this] {
            context_->closing = true;
            error_code ignored;
            acceptor_.close(ignored);
            for_each([](Connection& connection) { connection.end_when_idle(); });
        });
        while (!is_quiet() && std::chrono::steady_clock::now() < deadline) pause();
        on_thread([this] { for_each([](Connection& connection) { connection.end_now(); }); });
        while (!is_quiet()) pause();                    // what was cancelled says so
        const std::lock_guard lock(context_->posting);  // and whoever said so has left
        io_.stop();
        thread_.join();
    }

private:
    // Null: there is none.
    [[nodiscard]] Result<std::unique_ptr<asio::ssl::context>> read_tls() const {
        if (!options_.tls) return std::unique_ptr<asio::ssl::context>();
        TRY_ASSIGN(context, system::server_tls(options_.tls->certificate, options_.tls->key));
        return std::make_unique<asio::ssl::context>(context.release());
    }

    void accept() {
        acceptor_.async_accept([this](const error_code& error, tcp::socket socket) {
            if (error == asio::error::operation_aborted || context_->closing) return;
            if (error) {  // no descriptors are left, perhaps: some may be free soon
                pause_.expires_after(kAcceptPause);
                pause_.async_wait([this](const error_code& failure) {
                    if (!failure) accept();
                });
                return;
            }
            admit(std::move(socket));
            accept();
        });
    }

    void admit(tcp::socket socket) {
        error_code ignored;
        if (context_->connections.size() >= options_.connections_max && !make_room()) {
            refused_.add();
            socket.non_blocking(true, ignored);
            if (!tls_) socket.send(asio::buffer(kFull), 0, ignored);
            return;
        }
        let_in(context_, socket.release(ignored));
    }

    // The oldest connection that does nothing for a known caller gives way.
    bool make_room() {
        for (const auto& [id, connection] : context_->connections) {
            const auto present = connection;  // it may leave the map
            if (present->gives_way()) {
                refused_.add();
                return true;
            }
        }
        return false;
    }

    template <class F>
    void for_each(F what) {
        const auto all = context_->connections;  // some leave
        for (const auto& [id, connection] : all) what(*connection);
    }

    template <class F>
    auto on_thread(F what) -> decltype(what()) {
        std::promise<decltype(what())> done;
        asio::post(io_, [&] {
            if constexpr (std::is_void_v<decltype(what())>) {
                what();
                done.set_value();
            } else {
                done.set_value(what());
            }
        });
        return done.get_future().get();
    }
    bool is_quiet() {
        return on_thread(
            [this] { return context_->connections.empty() && context_->replies_due == 0; });
    }
    static void pause() { std::this_thread::sleep_for(std::chrono::milliseconds(5)); }

    const ServerOptions options_;
    asio::io_context io_{1};
    const asio::executor_work_guard<asio::io_context::executor_type> busy_ =
        asio::make_work_guard(io_);
    Service service_;
    std::unique_ptr<asio::ssl::context> tls_;  // null: none
    tcp::acceptor acceptor_;
    asio::steady_timer pause_;
    desk::Counter& refused_;
    const std::shared_ptr<ServerContext> context_;
    std::uint16_t port_ = 0;
    std::thread thread_;
};

Server::Server(std::unique_ptr<Inside> inside) : inside_(std::move(inside)) {}
Server::~Server() = default;

Result<std::unique_ptr<Server>> Server::open(desk::Desk& desk, const desk::Access& access,
                                             desk::Metrics& metrics, const ServerOptions& options) {
    error_code error;
    const std::string text = options.address == "localhost" ? "127.0.0.1" : options.address;
    const auto address = asio::ip::make_address(text, error);
    if (error)
        return misconfigured("not an IP address to listen at: " + in_quotes(options.address));
    auto inside = std::make_unique<Inside>(desk, access, metrics, options);
    TRY(inside->use_tls());
    TRY(inside->listen(address));
    inside->run();
    return std::unique_ptr<Server>(new Server(std::move(inside)));
}

std::uint16_t Server::port() const {
    return inside_->port();
}

Result<Done> Server::reload(desk::Access access) {
    return inside_->reload(std::move(access));
}

void Server::stop(Duration patience) {
    inside_->stop(patience);
}

}  // namespace baton::http
