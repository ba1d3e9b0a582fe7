#include "adapters/mqtt/mqtt_tls.h"

#include <utility>

#include <arpa/inet.h>
#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509_vfy.h>
#include <openssl/x509v3.h>

#include "base/text.h"

namespace baton::mqtt {

namespace {

Error bad_option(std::string_view key, const std::string& why) {
    ERR_clear_error();
    return {.code = ErrorCode::invalid_configuration,
            .message = "option " + in_quotes(key) + " cannot be used: " + why,
            .hint = "give the text of a PEM file"};
}

using Bio = std::unique_ptr<BIO, int (*)(BIO*)>;

Bio bio_of(const std::string& pem) {
    return {BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size())), BIO_free};
}

using Certificate = std::unique_ptr<X509, void (*)(X509*)>;

// A key that needs a password asks nobody for it.
int no_password(char*, int, int, void*) {
    return 0;
}

Certificate next_in(const Bio& bio) {
    return {PEM_read_bio_X509(bio.get(), nullptr, no_password, nullptr), X509_free};
}

Result<Done> trust(SSL_CTX* context, const std::string& pem) {
    const Bio bio = bio_of(pem);
    X509_STORE* const store = SSL_CTX_get_cert_store(context);
    std::size_t count = 0;
    while (const Certificate one = next_in(bio)) {
        if (X509_STORE_add_cert(store, one.get()) != 1)
            return bad_option("TLS_CA", "it is refused");
        count += 1;
    }
    ERR_clear_error();  // the end of the text is one, too
    if (count == 0) return bad_option("TLS_CA", "it holds no certificate");
    return Done{};
}

Result<Done> introduce(SSL_CTX* context, const std::string& cert, const std::string& key) {
    const Bio certificates = bio_of(cert);
    const Certificate own = next_in(certificates);
    if (!own || SSL_CTX_use_certificate(context, own.get()) != 1) {
        return bad_option("TLS_CERT", "it holds no certificate");
    }
    while (const Certificate one = next_in(certificates)) {
        if (SSL_CTX_add1_chain_cert(context, one.get()) != 1) {
            return bad_option("TLS_CERT", "a certificate of its chain is refused");
        }
    }
    ERR_clear_error();
    const Bio keys = bio_of(key);
    const std::unique_ptr<EVP_PKEY, void (*)(EVP_PKEY*)> own_key(
        PEM_read_bio_PrivateKey(keys.get(), nullptr, no_password, nullptr), EVP_PKEY_free);
    if (!own_key) return bad_option("TLS_KEY", "it holds no key, or one with a password");
    if (SSL_CTX_use_PrivateKey(context, own_key.get()) != 1 ||
        SSL_CTX_check_private_key(context) != 1) {
        return bad_option("TLS_KEY", "it is not the key of TLS_CERT");
    }
    return Done{};
}

bool is_address(const std::string& host) {
    in_addr four{};
    in6_addr six{};
    return ::inet_pton(AF_INET, host.c_str(), &four) == 1 ||
           ::inet_pton(AF_INET6, host.c_str(), &six) == 1;
}

}  // namespace

struct MqttTls::Callbacks {
    static MqttTls& self(const SSL* connection) {
        return *static_cast<MqttTls*>(SSL_CTX_get_app_data(SSL_get_SSL_CTX(connection)));
    }
    // The library names the address; the broker is asked for by its name.
    static void before(const SSL* connection, int where, int) {
        if ((where & SSL_CB_HANDSHAKE_START) == 0) return;
        const MqttTls& tls = self(connection);
        char* const name = tls.is_address_ ? nullptr : const_cast<char*>(tls.name_.c_str());
        (void)SSL_ctrl(const_cast<SSL*>(connection), SSL_CTRL_SET_TLSEXT_HOSTNAME,
                       TLSEXT_NAMETYPE_host_name, name);
    }
    static int verified(int good, X509_STORE_CTX* store) {
        if (good == 1) return good;
        const auto* const connection = static_cast<const SSL*>(
            X509_STORE_CTX_get_ex_data(store, SSL_get_ex_data_X509_STORE_CTX_idx()));
        MqttTls& tls = self(connection);
        const std::lock_guard lock(tls.mutex_);
        tls.refusal_ = std::string("its certificate is refused: ") +
                       X509_verify_cert_error_string(X509_STORE_CTX_get_error(store));
        return good;
    }
};

Result<std::unique_ptr<MqttTls>> MqttTls::make(const MqttBroker& broker, const std::string& host) {
    std::unique_ptr<MqttTls> tls(new MqttTls);
    tls->name_ = broker.tls_server_name.value_or(host);
    tls->is_address_ = is_address(tls->name_);
    tls->context_ = SSL_CTX_new(TLS_client_method());
    if (tls->context_ == nullptr) return bad_option("SERVER_URI", "TLS is not there");
    SSL_CTX* const context = tls->context_;
    SSL_CTX_set_app_data(context, tls.get());
    SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION);
    SSL_CTX_set_mode(context, SSL_MODE_AUTO_RETRY);
    SSL_CTX_set_verify(context, SSL_VERIFY_PEER, Callbacks::verified);
    SSL_CTX_set_info_callback(context, Callbacks::before);
    X509_VERIFY_PARAM* const param = SSL_CTX_get0_param(context);
    X509_VERIFY_PARAM_set_hostflags(param, X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS);
    const int named = tls->is_address_ ? X509_VERIFY_PARAM_set1_ip_asc(param, tls->name_.c_str())
                                       : X509_VERIFY_PARAM_set1_host(param, tls->name_.c_str(), 0);
    if (named != 1) return bad_option("TLS_SERVER_NAME", "it is no name");
    if (broker.tls_ca) {
        TRY(trust(context, *broker.tls_ca));
    } else {
        SSL_CTX_set_default_verify_paths(context);
    }
    if (broker.tls_cert && broker.tls_key) {
        TRY(introduce(context, *broker.tls_cert, *broker.tls_key));
    }
    return tls;
}

MqttTls::~MqttTls() {
    SSL_CTX_free(context_);
}

std::string MqttTls::refusal() const {
    const std::lock_guard lock(mutex_);
    return refusal_;
}

}  // namespace baton::mqtt
