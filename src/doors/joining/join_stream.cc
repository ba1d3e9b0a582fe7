#include "doors/joining/join_stream.h"

#include <utility>

#include <boost/asio/buffer.hpp>
#include <boost/asio/ssl.hpp>

#include "adapters/system/server_tls.h"

namespace baton::joining {

namespace asio = boost::asio;

Result<asio::ssl::context> tls_of(const system::TlsTexts& texts) {
    TRY_ASSIGN(bare, system::current_tls());
    asio::ssl::context context(bare.release());
    boost::system::error_code error;
    context.add_certificate_authority(asio::buffer(texts.ca), error);
    if (!error && !texts.cert.empty()) {
        context.use_certificate_chain(asio::buffer(texts.cert), error);
    }
    if (!error && !texts.cert.empty()) {
        context.use_private_key(asio::buffer(texts.key), asio::ssl::context::pem, error);
    }
    // Of clients a certificate is asked for; that there is one is judged where it is needed.
    if (!error) context.set_verify_mode(asio::ssl::verify_peer, error);
    if (!error) return context;
    return Error{.code = ErrorCode::invalid_configuration,
                 .message = "cannot use the certificates of the cluster: " + error.message()};
}

}  // namespace baton::joining
