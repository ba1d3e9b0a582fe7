// The connection that both ends of joining have; internal to this adapter.
#pragma once

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/ssl/context.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <boost/beast/ssl/ssl_stream.hpp>

#include "adapters/system/certificate_files.h"
#include "base/result.h"

namespace baton::joining {

using Stream = boost::beast::ssl_stream<boost::beast::tcp_stream>;

// How coroutines wait here: a failure is a value.
inline constexpr auto kNoThrow = boost::asio::as_tuple(boost::asio::use_awaitable);

// Processes at the other end are known by `ca`. Without `cert` this end shows no certificate. Fails
// with invalid_configuration.
[[nodiscard]] Result<boost::asio::ssl::context> tls_of(const system::TlsTexts& texts);

}  // namespace baton::joining
