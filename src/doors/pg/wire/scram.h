// SCRAM-SHA-256 (RFC 5802 and 7677): a client proves that it knows a password of which the server
// knows only a verifier, and learns that the server knows that. Both sides of it.
//
// Input:   the client's two messages; the random bytes that an exchange needs are given.
// Output:  our two messages, and whether the proof holds.
//
// Rules:
//   - A user without a verifier gets a whole exchange that looks like any other and fails at its
//     end: the salt is the same each time, as it would be, because it follows from the name and a
//     secret of the server. So a stranger cannot find out which users exist.
//   - Secrets are compared in constant time.
//   - There is no channel binding: a client that wants it ("p=") is refused. Passwords are used as
//     the bytes they are; valid UTF-8 is not normalised.
// Pure: no I/O, no dice.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "base/result.h"

namespace baton::pgwire {

inline constexpr std::string_view kScramMechanism = "SCRAM-SHA-256";
inline constexpr std::uint32_t kScramIterations = 4096;

// The stored form of a password.
struct ScramVerifier {
    std::uint32_t iterations = kScramIterations;
    std::string salt;        // bytes
    std::string stored_key;  // 32 bytes
    std::string server_key;  // 32 bytes
    friend bool operator==(const ScramVerifier&, const ScramVerifier&) = default;
};

// `salt` are random bytes, 16 of them as a rule.
[[nodiscard]] ScramVerifier make_verifier(std::string_view password, std::string_view salt,
                                          std::uint32_t iterations = kScramIterations);

// PostgreSQL's own form: "SCRAM-SHA-256$<iterations>:<salt>$<StoredKey>:<ServerKey>".
[[nodiscard]] std::string to_string(const ScramVerifier& verifier);
// Fails with invalid_configuration.
[[nodiscard]] Result<ScramVerifier> verifier_of(std::string_view text);

// Letters, digits and two signs, none of which a message treats specially.
[[nodiscard]] std::string nonce_of(std::string_view random_bytes);

class ScramServer {
public:
    struct Secrets {
        std::string nonce;  // of this exchange: unpredictable, printable, without commas
        std::string mock;   // of the server: unpredictable, the same for every exchange
        std::uint32_t mock_iterations = kScramIterations;  // as the verifiers have them
    };
    struct Accepted {
        std::string message;
    };
    struct Rejected {};

    ScramServer(std::string_view user, const std::optional<ScramVerifier>& verifier,
                const Secrets& secrets);

    // Each is called once, in this order, the second only after the first has succeeded. An Error,
    // malformed_message or not_supported, ends the exchange.
    [[nodiscard]] Result<std::string> first(std::string_view client_first);
    [[nodiscard]] Result<std::variant<Accepted, Rejected>> final(std::string_view client_final);

private:
    [[nodiscard]] bool proves(std::string_view proof, std::string_view signed_text) const;

    ScramVerifier verifier_;
    bool known_;
    std::string nonce_;  // ours; after first(), the client's and ours
    std::string gs2_header_;
    std::string first_messages_;  // the client's, without that header, and ours
};

// The other side. It sends nothing from which the password follows, to no server.
class ScramClient {
public:
    // How often the password may have to be hashed: a server that wants more only wants our time.
    static constexpr std::uint32_t kIterationsMax = 100'000;

    // `nonce` is of this exchange: unpredictable, printable, without commas.
    ScramClient(std::string password, std::string nonce);

    // Each is called once, in this order. An Error ends the exchange: malformed_message, or
    // not_authenticated if the server has not proved that it knows the verifier.
    [[nodiscard]] std::string first() const;
    [[nodiscard]] Result<std::string> final(std::string_view server_first);
    [[nodiscard]] Result<Done> check(std::string_view server_final) const;

private:
    const std::string password_;
    const std::string nonce_;
    std::string server_signature_;  // that is expected; empty before final()
};

}  // namespace baton::pgwire
