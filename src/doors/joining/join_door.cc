#include "doors/joining/join_door.h"

#include <list>
#include <thread>
#include <utility>

#include <boost/asio.hpp>
#include <boost/asio/ssl.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>
#include <boost/beast/ssl.hpp>
#include <openssl/pem.h>
#include <openssl/x509.h>

#include "adapters/system/listening.h"
#include "adapters/system/seldom.h"
#include "doors/joining/join_stream.h"

namespace baton::joining {

namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = boost::beast::http;
using boost::system::error_code;
using tcp = asio::ip::tcp;
using joining::kNoThrow;
using joining::Stream;
using Request = http::request<http::string_body>;
using Answer = http::response<http::string_body>;

constexpr std::size_t kHeaderBytesMax = std::size_t{16} << 10U;
constexpr std::size_t kBodyBytesMax = std::size_t{16} << 10U;
constexpr std::size_t kServingThreads = 2;
constexpr auto kAnswerTimeout = std::chrono::seconds(10);
constexpr auto kAcceptPause = std::chrono::milliseconds(100);

// One connection. It lives on the door's thread.
struct Visit {
    Visit(tcp::socket socket, asio::ssl::context& tls) : stream(std::move(socket), tls) {
        error_code ignored;
        const auto endpoint = lowest().socket().remote_endpoint(ignored);
        if (!ignored) {
            peer = endpoint.address().to_string() + " port " + std::to_string(endpoint.port());
        }
    }
    beast::tcp_stream& lowest() { return beast::get_lowest_layer(stream); }

    Stream stream;
    std::string peer;
    bool asked = false;  // its request is there
};
using Visits = std::list<std::shared_ptr<Visit>>;

// PEM; empty: none was shown. One that is shown was verified.
std::string shown_by(Stream& stream) {
    const std::unique_ptr<X509, decltype(&X509_free)> certificate(
        SSL_get1_peer_certificate(stream.native_handle()), &X509_free);
    const std::unique_ptr<BIO, decltype(&BIO_free)> text(BIO_new(BIO_s_mem()), &BIO_free);
    if (!certificate || !text || PEM_write_bio_X509(text.get(), certificate.get()) != 1) return {};
    char* bytes = nullptr;
    const long size = BIO_get_mem_data(text.get(), &bytes);
    return {bytes, static_cast<std::size_t>(size)};
}

Answer answer_of(http::status status, std::string body) {
    Answer answer(status, 11);
    answer.set(http::field::content_type,
               status == http::status::ok ? "application/x-pem-file" : "text/plain; charset=utf-8");
    answer.keep_alive(false);
    answer.body() = std::move(body);
    answer.prepare_payload();
    return answer;
}

Answer answer_of(const Error& error) {
    http::status status = http::status::service_unavailable;
    if (error.code == ErrorCode::not_authenticated) status = http::status::unauthorized;
    if (error.code == ErrorCode::not_permitted) status = http::status::forbidden;
    if (error.code == ErrorCode::malformed_message) status = http::status::bad_request;
    return answer_of(status,
                     error.hint.empty() ? error.message : error.message + "; " + error.hint);
}

}  // namespace

class JoinDoor::Inside {
public:
    Inside(JoinDoorOptions options, asio::ssl::context tls)
        : options_(std::move(options)),
          tls_(std::move(tls)),
          refusals_(options_.log),
          serving_(kServingThreads) {}
    ~Inside() {
        io_.stop();
        if (thread_.joinable()) thread_.join();
        serving_.join();
        visits_.clear();  // before what their sockets belong to
    }
    Inside(const Inside&) = delete;
    Inside& operator=(const Inside&) = delete;

    Result<Done> listen() {
        TRY_ASSIGN(listening, system::listen_at(options_.listen));
        port_ = listening.port;
        for (const system::OpenFile& socket : listening.sockets) {
            tcp::acceptor acceptor(io_);
            error_code error;
            acceptor.assign(tcp::v6(), ::dup(*socket), error);
            if (error) {
                return Error{.code = ErrorCode::invalid_configuration,
                             .message = "cannot listen for workers that join: " + error.message()};
            }
            asio::co_spawn(io_, accept(std::move(acceptor)), asio::detached);
        }
        thread_ = std::thread([this] { io_.run(); });
        return Done{};
    }

    [[nodiscard]] std::uint16_t port() const { return port_; }

private:
    asio::awaitable<void> accept(tcp::acceptor acceptor) {
        asio::steady_timer pause(io_);
        for (;;) {
            auto [error, socket] = co_await acceptor.async_accept(io_, kNoThrow);
            if (error) {  // no descriptors are left, perhaps: some may be free soon
                pause.expires_after(kAcceptPause);
                (void)co_await pause.async_wait(kNoThrow);
                continue;
            }
            if (visits_.size() >= options_.connections_max && !make_room()) continue;
            visits_.push_back(std::make_shared<Visit>(std::move(socket), tls_));
            asio::co_spawn(io_, visit(std::prev(visits_.end())), asio::detached);
        }
    }

    bool make_room() {
        for (const auto& visit : visits_) {
            if (visit->asked || !visit->lowest().socket().is_open()) continue;
            visit->lowest().close();
            return true;
        }
        return false;
    }

    asio::awaitable<void> visit(Visits::iterator place) {
        const std::shared_ptr<Visit> visit = *place;
        co_await hear(*visit);
        visit->lowest().close();
        visits_.erase(place);
    }

    asio::awaitable<void> hear(Visit& visit) {
        visit.lowest().expires_after(options_.request_timeout);
        const auto [shaken] =
            co_await visit.stream.async_handshake(asio::ssl::stream_base::server, kNoThrow);
        if (shaken) co_return;
        beast::flat_buffer buffer(kHeaderBytesMax + kBodyBytesMax);
        http::request_parser<http::string_body> parser;
        parser.header_limit(kHeaderBytesMax);
        parser.body_limit(kBodyBytesMax);
        const auto [error, bytes] =
            co_await http::async_read(visit.stream, buffer, parser, kNoThrow);
        const bool is_http = error.category() == http::make_error_code(http::error{}).category();
        if (error && (!is_http || error == http::error::end_of_stream)) co_return;
        visit.asked = true;
        Answer answer =
            answer_of(http::status::bad_request, "this is no request to join a cluster");
        if (!error) answer = co_await answer_to(parser.release(), visit);
        visit.lowest().expires_after(kAnswerTimeout);
        const auto [unwritten, written] =
            co_await http::async_write(visit.stream, answer, kNoThrow);
        if (unwritten) co_return;
        visit.asked = false;
        // Until the other end has read it all: a connection that is reset takes back the answer.
        (void)co_await visit.stream.async_shutdown(kNoThrow);
    }

    asio::awaitable<Answer> answer_to(Request request, Visit& visit) {
        if (served_ >= options_.served_max) {
            co_return answer_of(http::status::service_unavailable,
                                "too many workers join just now; try again");
        }
        std::string shown = shown_by(visit.stream);
        visit.lowest().expires_never();
        served_ += 1;
        Answer answer = co_await asio::co_spawn(
            serving_, serve(std::move(request), std::move(shown), visit.peer), asio::use_awaitable);
        served_ -= 1;
        co_return answer;
    }

    // On a thread that may wait.
    asio::awaitable<Answer> serve(Request request, std::string shown, std::string peer) {
        co_return served(request, shown, peer);
    }

    Answer served(const Request& request, const std::string& shown, const std::string& peer) {
        const bool joins = request.target() == "/join";
        if (request.method() != http::verb::post || (!joins && request.target() != "/renew")) {
            return answer_of(http::status::not_found,
                             "workers join here, with `baton worker --join`");
        }
        constexpr std::string_view kBearer = "Bearer ";
        const auto field = request[http::field::authorization];
        const std::string authorization(field.data(), field.size());
        if (joins && !authorization.starts_with(kBearer)) {
            return answer_of(http::status::unauthorized, "the request has no token");
        }
        if (!joins && shown.empty()) {
            return answer_of(http::status::unauthorized, "the caller shows no certificate");
        }
        const std::string what = joins ? "join" : "renew its certificate";
        const auto certificate =
            joins ? options_.join(authorization.substr(kBearer.size()), request.body())
                  : options_.renew(shown, request.body());
        if (!certificate) {
            refusals_.say("a worker at " + peer + " may not " + what + ": " +
                          certificate.error().message);
            return answer_of(certificate.error());
        }
        if (options_.log) options_.log("a worker at " + peer + " could " + what);
        return answer_of(http::status::ok, *certificate);
    }

    const JoinDoorOptions options_;
    asio::ssl::context tls_;
    system::Seldom refusals_;
    Visits visits_;           // on the thread of io_
    std::size_t served_ = 0;  // the same
    std::uint16_t port_ = 0;
    asio::io_context io_{1};
    asio::thread_pool serving_;
    std::thread thread_;
};

JoinDoor::JoinDoor(std::unique_ptr<Inside> inside) : inside_(std::move(inside)) {}
JoinDoor::~JoinDoor() = default;

Result<std::unique_ptr<JoinDoor>> JoinDoor::open(const JoinDoorOptions& options) {
    TRY_ASSIGN(tls, joining::tls_of(options.tls));
    auto inside = std::make_unique<Inside>(options, std::move(tls));
    TRY(inside->listen());
    return std::unique_ptr<JoinDoor>(new JoinDoor(std::move(inside)));
}

std::uint16_t JoinDoor::port() const {
    return inside_->port();
}

}  // namespace baton::joining
