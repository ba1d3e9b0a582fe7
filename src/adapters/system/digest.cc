#include "adapters/system/digest.h"

#include <array>

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/rand.h>
#include <openssl/sha.h>

#include "base/check.h"

namespace baton::system {

std::string hex_of(std::string_view bytes) {
    constexpr std::string_view kDigits = "0123456789abcdef";
    std::string text;
    for (const char c : bytes) {
        const auto byte = static_cast<unsigned char>(c);
        text += kDigits[byte >> 4U];
        text += kDigits[byte & 15U];
    }
    return text;
}

std::string sha256_hex(std::string_view bytes) {
    std::array<unsigned char, SHA256_DIGEST_LENGTH> digest{};
    SHA256(reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size(), digest.data());
    return hex_of({reinterpret_cast<const char*>(digest.data()), digest.size()});
}

std::string hmac_sha256(std::string_view key, std::string_view text) {
    std::array<unsigned char, SHA256_DIGEST_LENGTH> digest{};
    unsigned size = digest.size();
    CHECK(HMAC(EVP_sha256(), key.data(), static_cast<int>(key.size()),
               reinterpret_cast<const unsigned char*>(text.data()), text.size(), digest.data(),
               &size) != nullptr);
    return {reinterpret_cast<const char*>(digest.data()), size};
}

std::string hmac_sha256_hex(std::string_view key, std::string_view text) {
    return hex_of(hmac_sha256(key, text));
}

Sha256Stream::Sha256Stream() : context_(EVP_MD_CTX_new()) {
    CHECK(context_ != nullptr);
    CHECK(EVP_DigestInit_ex(static_cast<EVP_MD_CTX*>(context_), EVP_sha256(), nullptr) == 1);
}

Sha256Stream::~Sha256Stream() {
    EVP_MD_CTX_free(static_cast<EVP_MD_CTX*>(context_));
}

void Sha256Stream::add(std::string_view bytes) {
    auto* const context = static_cast<EVP_MD_CTX*>(context_);
    CHECK(EVP_DigestUpdate(context, bytes.data(), bytes.size()) == 1);
}

std::string Sha256Stream::hex() {
    std::array<unsigned char, SHA256_DIGEST_LENGTH> digest{};
    CHECK(EVP_DigestFinal_ex(static_cast<EVP_MD_CTX*>(context_), digest.data(), nullptr) == 1);
    return hex_of({reinterpret_cast<const char*>(digest.data()), digest.size()});
}

std::string md5_base64(std::string_view bytes) {
    std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
    unsigned size = 0;
    if (EVP_Digest(bytes.data(), bytes.size(), digest.data(), &size, EVP_md5(), nullptr) != 1) {
        return "";
    }
    std::array<unsigned char, 2 * EVP_MAX_MD_SIZE> text{};
    const int length = EVP_EncodeBlock(text.data(), digest.data(), static_cast<int>(size));
    return {reinterpret_cast<const char*>(text.data()), static_cast<std::size_t>(length)};
}

bool equal_in_constant_time(std::string_view a, std::string_view b) {
    return a.size() == b.size() && CRYPTO_memcmp(a.data(), b.data(), a.size()) == 0;
}

std::string random_bytes(std::size_t count) {
    std::string bytes(count, '\0');
    CHECK(RAND_bytes(reinterpret_cast<unsigned char*>(bytes.data()), static_cast<int>(count)) == 1);
    return bytes;
}

}  // namespace baton::system
