#include "doors/pg/wire/scram.h"

#include <algorithm>
#include <array>
#include <charconv>

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/sha.h>

#include "base/check.h"

namespace baton::pgwire {

namespace {

constexpr std::string_view kAlphabet =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
constexpr std::size_t kSaltBytes = 16;

const unsigned char* bytes_of(std::string_view text) {
    return reinterpret_cast<const unsigned char*>(text.data());
}

std::string hmac(std::string_view key, std::string_view text) {
    std::string digest(SHA256_DIGEST_LENGTH, '\0');
    unsigned size = SHA256_DIGEST_LENGTH;
    CHECK(HMAC(EVP_sha256(), key.data(), static_cast<int>(key.size()), bytes_of(text), text.size(),
               reinterpret_cast<unsigned char*>(digest.data()), &size) != nullptr);
    return digest;
}

std::string sha256(std::string_view text) {
    std::string digest(SHA256_DIGEST_LENGTH, '\0');
    SHA256(bytes_of(text), text.size(), reinterpret_cast<unsigned char*>(digest.data()));
    return digest;
}

std::string base64(std::string_view raw) {
    std::string text;
    for (std::size_t i = 0; i < raw.size(); i += 3) {
        const std::string_view part = raw.substr(i, 3);
        std::uint32_t bits = 0;
        for (std::size_t j = 0; j < 3; ++j) {
            bits = bits << 8U | (j < part.size() ? static_cast<unsigned char>(part[j]) : 0U);
        }
        for (std::size_t j = 0; j < 4; ++j) {
            text += j <= part.size() ? kAlphabet[bits >> (18 - 6 * j) & 63U] : '=';
        }
    }
    return text;
}

// Only what base64() writes: padded, and no bits left over that are not zero.
std::optional<std::string> from_base64(std::string_view text) {
    if (text.size() % 4 != 0) return std::nullopt;
    std::string raw;
    std::uint32_t bits = 0;
    unsigned count = 0;
    const std::string_view digits = text.substr(0, text.find('='));
    for (const char c : digits) {
        const std::size_t value = kAlphabet.find(c);
        if (value == std::string_view::npos) return std::nullopt;
        bits = (bits << 6U | static_cast<std::uint32_t>(value)) & 0xffffU;
        count += 6;
        if (count < 8) continue;
        count -= 8;
        raw += static_cast<char>(bits >> count & 0xffU);
    }
    return base64(raw) == text ? std::optional(raw) : std::nullopt;
}

Error malformed_scram(std::string message) {
    return {.code = ErrorCode::malformed_message, .message = "SCRAM: " + std::move(message)};
}

// Takes "x=value" up to the next comma or the end off the front of `rest`.
Result<std::string_view> attribute(char name, std::string_view& rest) {
    if (rest.size() < 2 || rest[0] != name || rest[1] != '=') {
        return malformed_scram(std::string("attribute \"") + name + "\" is missing");
    }
    const std::size_t end = std::min(rest.find(','), rest.size());
    const std::string_view value = rest.substr(2, end - 2);
    rest.remove_prefix(std::min(end + 1, rest.size()));
    return value;
}

bool is_nonce(std::string_view text) {
    return !text.empty() &&
           std::all_of(text.begin(), text.end(), [](char c) { return c >= '!' && c <= '~'; });
}

ScramVerifier mock_verifier(std::string_view user, const ScramServer::Secrets& secrets) {
    const auto derived = [&](std::string_view what) {
        return hmac(secrets.mock, std::string(what) + std::string(user));
    };
    return {.iterations = secrets.mock_iterations,
            .salt = derived("salt ").substr(0, kSaltBytes),
            .stored_key = derived("stored key "),
            .server_key = derived("server key ")};
}

std::optional<std::uint32_t> number_of(std::string_view text) {
    std::uint32_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    const bool whole = error == std::errc() && end == text.data() + text.size();
    return whole && value > 0 && value <= INT32_MAX ? std::optional(value) : std::nullopt;
}

// The part of `rest` before the separator, which is taken off with it; none if it is not there.
std::optional<std::string_view> until(char separator, std::string_view& rest) {
    const std::size_t end = rest.find(separator);
    if (end == std::string_view::npos) return std::nullopt;
    const std::string_view part = rest.substr(0, end);
    rest.remove_prefix(end + 1);
    return part;
}

std::optional<ScramVerifier> parsed_verifier(std::string_view text) {
    if (until('$', text) != kScramMechanism) return std::nullopt;
    const auto iterations = number_of(until(':', text).value_or(""));
    const auto salt = from_base64(until('$', text).value_or(""));
    const auto stored_key = from_base64(until(':', text).value_or(""));
    const auto server_key = from_base64(text);
    if (!iterations || !salt || salt->empty() || !stored_key || !server_key) return std::nullopt;
    if (stored_key->size() != SHA256_DIGEST_LENGTH) return std::nullopt;
    if (server_key->size() != SHA256_DIGEST_LENGTH) return std::nullopt;
    return ScramVerifier{.iterations = *iterations,
                         .salt = *salt,
                         .stored_key = *stored_key,
                         .server_key = *server_key};
}

std::string salted_password(std::string_view password, std::string_view salt,
                            std::uint32_t iterations) {
    std::string salted(SHA256_DIGEST_LENGTH, '\0');
    CHECK(PKCS5_PBKDF2_HMAC(password.data(), static_cast<int>(password.size()), bytes_of(salt),
                            static_cast<int>(salt.size()), static_cast<int>(iterations),
                            EVP_sha256(), SHA256_DIGEST_LENGTH,
                            reinterpret_cast<unsigned char*>(salted.data())) == 1);
    return salted;
}

}  // namespace

ScramVerifier make_verifier(std::string_view password, std::string_view salt,
                            std::uint32_t iterations) {
    const std::string salted = salted_password(password, salt, iterations);
    return {.iterations = iterations,
            .salt = std::string(salt),
            .stored_key = sha256(hmac(salted, "Client Key")),
            .server_key = hmac(salted, "Server Key")};
}

std::string to_string(const ScramVerifier& verifier) {
    return std::string(kScramMechanism) + "$" + std::to_string(verifier.iterations) + ":" +
           base64(verifier.salt) + "$" + base64(verifier.stored_key) + ":" +
           base64(verifier.server_key);
}

Result<ScramVerifier> verifier_of(std::string_view text) {
    if (auto verifier = parsed_verifier(text)) return *std::move(verifier);
    // Not the text itself: it may be a password that somebody put there.
    return Error{.code = ErrorCode::invalid_configuration,
                 .message = "this is not a verifier of a password",
                 .hint = "it looks like SCRAM-SHA-256$<iterations>:<salt>$<StoredKey>:<ServerKey>"};
}

std::string nonce_of(std::string_view random_bytes) {
    return base64(random_bytes);
}

ScramServer::ScramServer(std::string_view user, const std::optional<ScramVerifier>& verifier,
                         const Secrets& secrets)
    : verifier_(mock_verifier(user, secrets)), known_(verifier), nonce_(secrets.nonce) {
    CHECK(is_nonce(nonce_) && nonce_.find(',') == std::string::npos);
    if (verifier) verifier_ = *verifier;
}

Result<std::string> ScramServer::first(std::string_view client_first) {
    const std::string_view whole = client_first;
    const std::string_view binding = until(',', client_first).value_or("");
    if (binding.starts_with("p=")) {
        return malformed_scram("there is no channel binding here, but the client wants it");
    }
    if (binding != "n" && binding != "y") return malformed_scram("the first message has no header");
    const auto identity = until(',', client_first);
    if (!identity) return malformed_scram("the first message has no header");
    if (!identity->empty()) {
        return Error{.code = ErrorCode::not_supported,
                     .message = "SCRAM: acting as another user is not supported"};
    }
    gs2_header_ = whole.substr(0, whole.size() - client_first.size());
    const std::string_view bare = client_first;
    if (bare.starts_with("m=")) {
        return Error{.code = ErrorCode::not_supported,
                     .message = "SCRAM: the client requires an extension that is not supported"};
    }
    TRY(attribute('n', client_first));  // the start-up message has named the user
    TRY_ASSIGN(client_nonce, attribute('r', client_first));
    if (!is_nonce(client_nonce)) return malformed_scram("the client's nonce is not printable");

    nonce_ = std::string(client_nonce) + nonce_;
    const std::string reply = "r=" + nonce_ + ",s=" + base64(verifier_.salt) +
                              ",i=" + std::to_string(verifier_.iterations);
    first_messages_ = std::string(bare) + "," + reply;
    return reply;
}

Result<std::variant<ScramServer::Accepted, ScramServer::Rejected>> ScramServer::final(
    std::string_view client_final) {
    CHECK(!first_messages_.empty());
    const std::size_t proof_at = client_final.rfind(",p=");
    if (proof_at == std::string_view::npos) return malformed_scram("attribute \"p\" is missing");
    const auto proof = from_base64(client_final.substr(proof_at + 3));
    if (!proof || proof->size() != SHA256_DIGEST_LENGTH)
        return malformed_scram("this is not a proof");

    const std::string_view without_proof = client_final.substr(0, proof_at);
    std::string_view rest = without_proof;
    TRY_ASSIGN(binding, attribute('c', rest));
    if (from_base64(binding) != gs2_header_) {
        return malformed_scram("the channel binding is not what was said first");
    }
    TRY_ASSIGN(nonce, attribute('r', rest));
    if (nonce != nonce_) return malformed_scram("the nonce is not that of this exchange");

    const std::string signed_text = first_messages_ + "," + std::string(without_proof);
    const bool proven = proves(*proof, signed_text);
    if (!proven || !known_) return std::variant<Accepted, Rejected>(Rejected{});
    return std::variant<Accepted, Rejected>(
        Accepted{.message = "v=" + base64(hmac(verifier_.server_key, signed_text))});
}

bool ScramServer::proves(std::string_view proof, std::string_view signed_text) const {
    std::string client_key = hmac(verifier_.stored_key, signed_text);
    for (std::size_t i = 0; i < client_key.size(); ++i) {
        client_key[i] = static_cast<char>(client_key[i] ^ proof[i]);
    }
    return CRYPTO_memcmp(sha256(client_key).data(), verifier_.stored_key.data(),
                         SHA256_DIGEST_LENGTH) == 0;
}

// ---- the client's side --------------------------------------------------------------------------

ScramClient::ScramClient(std::string password, std::string nonce)
    : password_(std::move(password)), nonce_(std::move(nonce)) {
    CHECK(is_nonce(nonce_) && nonce_.find(',') == std::string::npos);
}

// The start-up message has named the user.
std::string ScramClient::first() const {
    return "n,,n=,r=" + nonce_;
}

Result<std::string> ScramClient::final(std::string_view server_first) {
    std::string_view rest = server_first;
    TRY_ASSIGN(nonce, attribute('r', rest));
    TRY_ASSIGN(salt_text, attribute('s', rest));
    TRY_ASSIGN(iterations_text, attribute('i', rest));
    if (!is_nonce(nonce) || !nonce.starts_with(nonce_) || nonce.size() == nonce_.size()) {
        return malformed_scram("the nonce is not that of this exchange");
    }
    const auto salt = from_base64(salt_text);
    const auto iterations = number_of(iterations_text);
    if (!salt || salt->empty()) return malformed_scram("the salt cannot be read");
    if (!iterations || *iterations < kScramIterations || *iterations > kIterationsMax) {
        return malformed_scram("a password is hashed 4096 to 100000 times, not as often as this");
    }
    const std::string without_proof = "c=" + base64("n,,") + ",r=" + std::string(nonce);
    const std::string signed_text =
        first().substr(3) + "," + std::string(server_first) + "," + without_proof;
    const std::string salted = salted_password(password_, *salt, *iterations);
    std::string proof = hmac(salted, "Client Key");
    const std::string signature = hmac(sha256(proof), signed_text);
    for (std::size_t i = 0; i < proof.size(); ++i) {
        proof[i] = static_cast<char>(proof[i] ^ signature[i]);
    }
    server_signature_ = hmac(hmac(salted, "Server Key"), signed_text);
    return without_proof + ",p=" + base64(proof);
}

Result<Done> ScramClient::check(std::string_view server_final) const {
    const Error stranger{.code = ErrorCode::not_authenticated,
                         .message = "the other end does not prove that it knows the same secret"};
    TRY_ASSIGN(signature_text, attribute('v', server_final));
    const auto signature = from_base64(signature_text);
    if (!signature || server_signature_.empty() || signature->size() != server_signature_.size()) {
        return stranger;
    }
    if (CRYPTO_memcmp(signature->data(), server_signature_.data(), signature->size()) != 0) {
        return stranger;
    }
    return Done{};
}

}  // namespace baton::pgwire
