// A request as a connection reads it and the service knows it. Internal to connections.
#pragma once

#include <string>

#include <boost/asio/ip/tcp.hpp>
#include <boost/beast/http/message.hpp>
#include <boost/beast/http/string_body.hpp>

#include "doors/http/message.h"

namespace baton::http {

// Without its body.
[[nodiscard]] Request request_of(
    const boost::beast::http::request<boost::beast::http::string_body>& message);

// "127.0.0.1:54321"
[[nodiscard]] std::string peer_of(const boost::asio::ip::tcp::socket& socket);

// The answer to bytes that are no request.
[[nodiscard]] Response unreadable(const boost::system::error_code& error);

// The answers to those that are not taken.
[[nodiscard]] Response no_body();             // its path takes none
[[nodiscard]] Response no_connection_left();  // for this user

}  // namespace baton::http
