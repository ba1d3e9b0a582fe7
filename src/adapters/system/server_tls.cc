#include "adapters/system/server_tls.h"

#include <openssl/err.h>
#include <openssl/ssl.h>

#include "adapters/system/private_file.h"
#include "base/text.h"

namespace baton::system {

namespace {

constexpr const char* kCiphers12 =
    "ECDHE-ECDSA-AES256-GCM-SHA384:ECDHE-RSA-AES256-GCM-SHA384:"
    "ECDHE-ECDSA-CHACHA20-POLY1305:ECDHE-RSA-CHACHA20-POLY1305:"
    "ECDHE-ECDSA-AES128-GCM-SHA256:ECDHE-RSA-AES128-GCM-SHA256";
constexpr const char* kCiphers13 =
    "TLS_AES_256_GCM_SHA384:TLS_CHACHA20_POLY1305_SHA256:TLS_AES_128_GCM_SHA256";
constexpr const char* kGroups = "X25519:P-256:P-384";

// Why the library failed last.
std::string why() {
    const unsigned long code = ERR_peek_last_error();
    ERR_clear_error();
    const char* const reason = code == 0 ? nullptr : ERR_reason_error_string(code);
    return reason == nullptr ? "it cannot be read" : reason;
}

Error unusable(const std::string& file) {
    return {.code = ErrorCode::invalid_configuration,
            .message = "cannot use " + in_quotes(file) + " for TLS: " + why(),
            .hint = "tls.cert and tls.key name files in PEM that belong together"};
}

}  // namespace

void FreeTls::operator()(SSL_CTX* context) const {
    SSL_CTX_free(context);
}

Result<TlsContext> current_tls() {
    TlsContext context(SSL_CTX_new(TLS_method()));
    SSL_CTX* const raw = context.get();
    const bool set = raw != nullptr && SSL_CTX_set_min_proto_version(raw, TLS1_2_VERSION) == 1 &&
                     SSL_CTX_set_cipher_list(raw, kCiphers12) == 1 &&
                     SSL_CTX_set_ciphersuites(raw, kCiphers13) == 1 &&
                     SSL_CTX_set1_groups_list(raw, kGroups) == 1;
    if (!set) {
        return Error{.code = ErrorCode::invalid_configuration,
                     .message = "this machine's OpenSSL does not encrypt as it has to: " + why()};
    }
    (void)SSL_CTX_set_options(
        raw, SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION | SSL_OP_CIPHER_SERVER_PREFERENCE);
    (void)SSL_CTX_set_mode(raw, SSL_MODE_RELEASE_BUFFERS);
    return context;
}

Result<TlsContext> server_tls(const std::string& certificate, const std::string& key) {
    TRY(require_private("the key of the certificate", key));
    TRY_ASSIGN(context, current_tls());
    SSL_CTX* const raw = context.get();
    if (SSL_CTX_use_certificate_chain_file(raw, certificate.c_str()) != 1) {
        return unusable(certificate);
    }
    if (SSL_CTX_use_PrivateKey_file(raw, key.c_str(), SSL_FILETYPE_PEM) != 1 ||
        SSL_CTX_check_private_key(raw) != 1) {
        return unusable(key);
    }
    return context;
}

}  // namespace baton::system
