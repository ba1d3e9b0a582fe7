#include "doors/http/wire_request.h"

#include <utility>

#include <boost/beast/http/error.hpp>

#include "doors/http/problems.h"

namespace baton::http {

namespace {

namespace wire = boost::beast::http;
using boost::system::error_code;
using tcp = boost::asio::ip::tcp;

}  // namespace

Request request_of(const wire::request<wire::string_body>& message) {
    Request request{.method = std::string(message.method_string()),
                    .target = std::string(message.target()),
                    .headers = {},
                    .body = {}};
    for (const auto& field : message) {
        std::string name(field.name_string());
        for (char& c : name) {
            if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
        }
        request.headers.emplace_back(std::move(name), std::string(field.value()));
    }
    return request;
}

std::string peer_of(const tcp::socket& socket) {
    error_code error;
    const auto endpoint = socket.remote_endpoint(error);
    if (error) return "unknown";
    return endpoint.address().to_string() + ":" + std::to_string(endpoint.port());
}

Response unreadable(const error_code& error) {
    Error what{.code = ErrorCode::malformed_message,
               .message = "the request cannot be read: " + error.message()};
    if (error == wire::error::header_limit || error == wire::error::buffer_overflow) {
        return problem(what, 431);
    }
    if (error == wire::error::body_limit) {
        what.code = ErrorCode::too_large;
        what.message = "the body is too large";
        return problem(what);
    }
    return problem(what);
}

Response no_body() {
    return problem({.code = ErrorCode::too_large,
                    .message = "a request for this path cannot have a body",
                    .hint = "send GET without a body"});
}

Response no_connection_left() {
    Response refused =
        problem({.code = ErrorCode::slow_down,
                 .message = "the request cannot be read: too many connections of this user are "
                            "in use",
                 .hint = "end streams and requests that are not needed, or try again in a moment"});
    refused.headers.emplace_back("Retry-After", "1");
    return refused;
}

}  // namespace baton::http
