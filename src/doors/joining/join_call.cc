#include "doors/joining/join_call.h"

#include <chrono>
#include <utility>

#include <boost/asio.hpp>
#include <boost/asio/ssl.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>
#include <boost/beast/ssl.hpp>

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
using JoinAnswer = http::response<http::string_body>;

constexpr auto kPatience = std::chrono::seconds(10);
constexpr std::size_t kAnswerBytesMax = std::size_t{64} << 10U;

// "host:port"; a host with colons has brackets.
std::pair<std::string, std::string> host_and_port(const std::string& address) {
    const std::size_t colon = address.rfind(':');
    std::string host = address.substr(0, colon);
    if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
    return {std::move(host), colon == std::string::npos ? "" : address.substr(colon + 1)};
}

http::request<http::string_body> request_of(const JoinCall& call) {
    http::request<http::string_body> request(http::verb::post, call.shown ? "/renew" : "/join", 11);
    request.set(http::field::host, call.server_name);
    if (!call.shown) request.set(http::field::authorization, "Bearer " + call.token);
    request.keep_alive(false);
    request.body() = call.request;
    request.prepare_payload();
    return request;
}

// What the coordinator answers, or why it does not.
struct Outcome {
    error_code error;
    JoinAnswer answer;
};

asio::awaitable<Outcome> ask(const JoinCall& call, Stream& stream) {
    const auto [host, port] = host_and_port(call.address);
    tcp::resolver resolver(co_await asio::this_coro::executor);
    const auto [unknown, places] = co_await resolver.async_resolve(host, port, kNoThrow);
    if (unknown) co_return Outcome{unknown, {}};
    auto& lowest = beast::get_lowest_layer(stream);
    const auto [unreached, endpoint] = co_await lowest.async_connect(places, kNoThrow);
    if (unreached) co_return Outcome{unreached, {}};
    const auto [untrusted] =
        co_await stream.async_handshake(asio::ssl::stream_base::client, kNoThrow);
    if (untrusted) co_return Outcome{untrusted, {}};
    const auto request = request_of(call);
    const auto [unsaid, sent] = co_await http::async_write(stream, request, kNoThrow);
    if (unsaid) co_return Outcome{unsaid, {}};
    beast::flat_buffer buffer(kAnswerBytesMax);
    http::response_parser<http::string_body> parser;
    parser.body_limit(kAnswerBytesMax / 2);
    const auto [unheard, read] = co_await http::async_read(stream, buffer, parser, kNoThrow);
    co_return Outcome{unheard, unheard ? JoinAnswer() : parser.release()};
}

Error refused(const JoinCall& call, ErrorCode code, const std::string& why) {
    return {
        .code = code,
        .message = "cannot get a certificate from the coordinator at " + call.address + ": " + why};
}

}  // namespace

Result<std::string> ask_for_certificate(const JoinCall& call) {
    TRY_ASSIGN(tls, joining::tls_of(call.shown ? *call.shown : system::TlsTexts{call.ca, {}, {}}));
    asio::io_context io(1);
    Stream stream(io, tls);
    stream.set_verify_callback(asio::ssl::host_name_verification(call.server_name));
    std::optional<Outcome> outcome;
    asio::co_spawn(io, ask(call, stream), [&](const std::exception_ptr& thrown, Outcome it) {
        outcome = std::move(it);
        if (thrown) outcome->error = asio::error::message_size;  // the library's only reason
    });
    io.run_for(kPatience);
    if (!outcome) {
        return refused(call, ErrorCode::cannot_connect, "it does not answer in time");
    }
    if (outcome->error) {
        return refused(call, ErrorCode::cannot_connect, outcome->error.message());
    }
    std::string& body = outcome->answer.body();
    const http::status status = outcome->answer.result();
    if (status == http::status::ok) return std::move(body);
    ErrorCode code = ErrorCode::cannot_connect;
    if (status == http::status::unauthorized) code = ErrorCode::not_authenticated;
    if (status == http::status::forbidden) code = ErrorCode::not_permitted;
    return refused(call, code, body);
}

}  // namespace baton::joining
