#include "adapters/certificates/openssl_certificates.h"

#include <array>
#include <ctime>
#include <memory>

#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>

#include "base/check.h"

namespace baton::certificates {

namespace {

template <auto Free>
struct Freed {
    template <class T>
    void operator()(T* pointer) const {
        Free(pointer);
    }
};
template <class T, auto Free>
using Owned = std::unique_ptr<T, Freed<Free>>;
using Bio = Owned<BIO, BIO_free>;
using Key = Owned<EVP_PKEY, EVP_PKEY_free>;
using Certificate = Owned<X509, X509_free>;
using Request = Owned<X509_REQ, X509_REQ_free>;
using Extension = Owned<X509_EXTENSION, X509_EXTENSION_free>;
using Names = Owned<GENERAL_NAMES, GENERAL_NAMES_free>;

Error malformed(const std::string& what) {
    ERR_clear_error();
    return {.code = ErrorCode::malformed_message, .message = "cannot read " + what};
}

Bio bio_of(const std::string& text) {
    return Bio(BIO_new_mem_buf(text.data(), static_cast<int>(text.size())));
}

std::string text_in(const Bio& bio) {
    char* data = nullptr;
    const long size = BIO_get_mem_data(bio.get(), &data);
    return {data, static_cast<std::size_t>(size)};
}

std::string pem_of(X509& certificate) {
    const Bio bio(BIO_new(BIO_s_mem()));
    CHECK(PEM_write_bio_X509(bio.get(), &certificate) == 1);
    return text_in(bio);
}

std::string pem_of(EVP_PKEY& key) {
    const Bio bio(BIO_new(BIO_s_mem()));
    CHECK(PEM_write_bio_PrivateKey(bio.get(), &key, nullptr, nullptr, 0, nullptr, nullptr) == 1);
    return text_in(bio);
}

Result<Certificate> certificate_in(const std::string& pem) {
    Certificate certificate(PEM_read_bio_X509(bio_of(pem).get(), nullptr, nullptr, nullptr));
    if (!certificate) return malformed("a certificate");
    return certificate;
}

Key new_key() {
    Key key(EVP_EC_gen("P-256"));
    CHECK(key != nullptr);
    return key;
}

void set_time(ASN1_TIME* field, WallTime time) {
    const auto seconds =
        std::chrono::duration_cast<std::chrono::seconds>(time.time_since_epoch()).count();
    CHECK(ASN1_TIME_set(field, static_cast<std::time_t>(seconds)) != nullptr);
}

Result<WallTime> time_in(const ASN1_TIME* field) {
    std::tm parts{};
    if (ASN1_TIME_to_tm(field, &parts) != 1) return malformed("the time of a certificate");
    return WallTime(std::chrono::seconds(::timegm(&parts)));
}

void set_serial(X509& certificate) {
    std::array<unsigned char, 16> bytes{};
    CHECK(RAND_bytes(bytes.data(), bytes.size()) == 1);
    bytes[0] = static_cast<unsigned char>((bytes[0] & 0x7fU) | 0x40U);  // positive, of full length
    BIGNUM* number = BN_bin2bn(bytes.data(), bytes.size(), nullptr);
    CHECK(number != nullptr);
    CHECK(BN_to_ASN1_INTEGER(number, X509_get_serialNumber(&certificate)) != nullptr);
    BN_free(number);
}

void set_name(X509_NAME* name, const std::string& text) {
    CHECK(X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_UTF8,
                                     reinterpret_cast<const unsigned char*>(text.data()),
                                     static_cast<int>(text.size()), -1, 0) == 1);
}

void extend(X509& certificate, X509& issuer, int kind, const char* value) {
    X509V3_CTX context{};
    X509V3_set_ctx(&context, &issuer, &certificate, nullptr, nullptr, 0);
    const Extension extension(X509V3_EXT_conf_nid(nullptr, &context, kind, value));
    CHECK(extension != nullptr);
    CHECK(X509_add_ext(&certificate, extension.get(), -1) == 1);
}

void add_names(GENERAL_NAMES& names, int kind, const std::vector<std::string>& texts) {
    for (const std::string& text : texts) {
        ASN1_IA5STRING* value = ASN1_IA5STRING_new();
        CHECK(value != nullptr);
        CHECK(ASN1_STRING_set(value, text.data(), static_cast<int>(text.size())) == 1);
        GENERAL_NAME* name = GENERAL_NAME_new();
        CHECK(name != nullptr);
        GENERAL_NAME_set0_value(name, kind, value);
        CHECK(sk_GENERAL_NAME_push(&names, name) > 0);
    }
}

struct Draft {
    EVP_PKEY& key;
    const std::string& name;
    WallTime from;
    WallTime until;
};

Certificate draft_of(const Draft& draft) {
    Certificate certificate(X509_new());
    CHECK(certificate != nullptr);
    constexpr long kVersion3 = 2;
    CHECK(X509_set_version(certificate.get(), kVersion3) == 1);
    set_serial(*certificate);
    set_time(X509_getm_notBefore(certificate.get()), draft.from);
    set_time(X509_getm_notAfter(certificate.get()), draft.until);
    set_name(X509_get_subject_name(certificate.get()), draft.name);
    CHECK(X509_set_pubkey(certificate.get(), &draft.key) == 1);
    return certificate;
}

Result<std::string> signed_by(const KeyAndCertificate& authority, EVP_PKEY& key,
                              const CertificateWish& wish) {
    TRY_ASSIGN(issuer, certificate_in(authority.certificate));
    const Key issuer_key(
        PEM_read_bio_PrivateKey(bio_of(authority.key).get(), nullptr, nullptr, nullptr));
    if (!issuer_key) return malformed("the key of the cluster's certificates");
    const Certificate certificate =
        draft_of({.key = key, .name = "baton", .from = wish.from, .until = wish.until});
    CHECK(X509_set_issuer_name(certificate.get(), X509_get_subject_name(issuer.get())) == 1);
    extend(*certificate, *issuer, NID_basic_constraints, "critical,CA:FALSE");
    extend(*certificate, *issuer, NID_key_usage, "critical,digitalSignature");
    extend(*certificate, *issuer, NID_ext_key_usage, "serverAuth,clientAuth");
    const Names names(GENERAL_NAMES_new());
    CHECK(names != nullptr);
    add_names(*names, GEN_URI, wish.uris);
    add_names(*names, GEN_DNS, wish.hosts);
    CHECK(X509_add1_ext_i2d(certificate.get(), NID_subject_alt_name, names.get(), 0,
                            X509V3_ADD_DEFAULT) == 1);
    CHECK(X509_sign(certificate.get(), issuer_key.get(), EVP_sha256()) > 0);
    return pem_of(*certificate);
}

}  // namespace

Result<KeyAndCertificate> OpensslCertificates::make_authority(const std::string& name,
                                                              WallTime from, WallTime until) {
    const Key key = new_key();
    const Certificate certificate =
        draft_of({.key = *key, .name = name, .from = from, .until = until});
    CHECK(X509_set_issuer_name(certificate.get(), X509_get_subject_name(certificate.get())) == 1);
    extend(*certificate, *certificate, NID_basic_constraints, "critical,CA:TRUE,pathlen:0");
    extend(*certificate, *certificate, NID_key_usage, "critical,keyCertSign");
    CHECK(X509_sign(certificate.get(), key.get(), EVP_sha256()) > 0);
    return KeyAndCertificate{.key = pem_of(*key), .certificate = pem_of(*certificate)};
}

Result<KeyAndCertificate> OpensslCertificates::make(const KeyAndCertificate& authority,
                                                    const CertificateWish& wish) {
    const Key key = new_key();
    TRY_ASSIGN(certificate, signed_by(authority, *key, wish));
    return KeyAndCertificate{.key = pem_of(*key), .certificate = std::move(certificate)};
}

Result<KeyAndRequest> OpensslCertificates::ask(const std::string& given) {
    const Key key =
        given.empty()
            ? new_key()
            : Key(PEM_read_bio_PrivateKey(bio_of(given).get(), nullptr, nullptr, nullptr));
    if (!key) return malformed("the key of a certificate");
    const Request request(X509_REQ_new());
    CHECK(request != nullptr);
    CHECK(X509_REQ_set_pubkey(request.get(), key.get()) == 1);
    CHECK(X509_REQ_sign(request.get(), key.get(), EVP_sha256()) > 0);
    const Bio bio(BIO_new(BIO_s_mem()));
    CHECK(PEM_write_bio_X509_REQ(bio.get(), request.get()) == 1);
    return KeyAndRequest{.key = pem_of(*key), .request = text_in(bio)};
}

Result<std::string> OpensslCertificates::sign(const KeyAndCertificate& authority,
                                              const std::string& request,
                                              const CertificateWish& wish) {
    const Request asked(PEM_read_bio_X509_REQ(bio_of(request).get(), nullptr, nullptr, nullptr));
    if (!asked) return malformed("a request for a certificate");
    const Key key(X509_REQ_get_pubkey(asked.get()));
    if (!key || X509_REQ_verify(asked.get(), key.get()) != 1) {
        return malformed("a request for a certificate: it is not signed with its key");
    }
    constexpr int kBits = 256;
    if (EVP_PKEY_base_id(key.get()) != EVP_PKEY_EC || EVP_PKEY_bits(key.get()) != kBits) {
        return malformed("a request for a certificate: its key is not of the curve P-256");
    }
    return signed_by(authority, *key, wish);
}

Result<CertificateFacts> OpensslCertificates::look_at(const std::string& pem) {
    TRY_ASSIGN(certificate, certificate_in(pem));
    CertificateFacts facts;
    BIGNUM* number = ASN1_INTEGER_to_BN(X509_get0_serialNumber(certificate.get()), nullptr);
    char* digits = number != nullptr ? BN_bn2hex(number) : nullptr;
    if (digits != nullptr) facts.serial = digits;
    OPENSSL_free(digits);
    BN_free(number);
    const Names names(static_cast<GENERAL_NAMES*>(
        X509_get_ext_d2i(certificate.get(), NID_subject_alt_name, nullptr, nullptr)));
    for (int i = 0; names && i < sk_GENERAL_NAME_num(names.get()); ++i) {
        const GENERAL_NAME* name = sk_GENERAL_NAME_value(names.get(), i);
        if (name->type != GEN_URI) continue;
        const ASN1_STRING* text = name->d.uniformResourceIdentifier;
        facts.uris.emplace_back(reinterpret_cast<const char*>(ASN1_STRING_get0_data(text)),
                                static_cast<std::size_t>(ASN1_STRING_length(text)));
    }
    TRY_ASSIGN(from, time_in(X509_get0_notBefore(certificate.get())));
    TRY_ASSIGN(until, time_in(X509_get0_notAfter(certificate.get())));
    facts.from = from;
    facts.until = until;
    return facts;
}

}  // namespace baton::certificates
