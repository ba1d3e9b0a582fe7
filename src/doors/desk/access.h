// Access decides which clients may come in, and permit() which statements they may run.
//
// Users prove that they know a password (SCRAM, over pgwire); over HTTP clients show a token.
// Neither is kept, only the SCRAM verifier of a password and the SHA-256 of a token. Without users
// and tokens every client is trusted; a door that then listens beyond this machine needs a setting
// that says that this is meant.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "model/role.h"
#include "sql/ast.h"

namespace baton::desk {

using baton::Role;

// The name of the user under which coordinators of the same catalog, and only they, log in.
inline constexpr std::string_view kCoordinatorUser = "baton coordinator";

struct Principal {
    std::string name;
    Role role = Role::reader;
    bool files = false;  // may name files of workers, though it is no admin
    bool coordinator =
        false;  // one that brings orders of its clients (coordinator/routing/forwarded_bundle.h)

    friend bool operator==(const Principal&, const Principal&) = default;
};

class Access {
public:
    struct User {
        std::string name;
        Role role = Role::reader;
        bool files = false;
        std::string verifier;  // "SCRAM-SHA-256$4096:..."
    };
    struct Token {
        std::string name;
        Role role = Role::reader;
        bool files = false;
        std::string sha256;  // of the token, 64 hexadecimal digits
    };

    // The SHA-256 of a text, in hexadecimal digits.
    using Digest = std::function<std::string(std::string_view)>;

    Access() = default;
    Access(std::vector<User> users, std::vector<Token> tokens, Digest digest);

    // Lets in coordinators that prove that they know the secret of this verifier. The proof is also
    // needed where every client is trusted.
    void let_coordinators_in(std::string verifier) { coordinators_ = std::move(verifier); }
    [[nodiscard]] bool lets_coordinators_in() const { return !coordinators_.empty(); }
    [[nodiscard]] const std::string& verifier_of_coordinators() const { return coordinators_; }

    // There are no users and no tokens: every client is trusted, as an admin.
    [[nodiscard]] bool trusts_everybody() const { return users_.empty() && tokens_.empty(); }
    [[nodiscard]] const User* user(const std::string& name) const;
    [[nodiscard]] bool has_token(const std::string& name) const;
    // Takes the same time for every wrong token.
    [[nodiscard]] std::optional<Principal> bearer(std::string_view token) const;

private:
    std::map<std::string, User> users_;
    std::vector<Token> tokens_;
    Digest digest_;
    std::string coordinators_;  // empty: none is let in
};

[[nodiscard]] Role needed_for(const sql::Statement& statement);
// Whether the statement declares a source or sink, also an inline one, that opens files of a
// worker. This needs a right of its own, beside the role: an admin has it, other users have to be
// given it. Reading from a source that is declared does not need it.
[[nodiscard]] bool names_files(const sql::Statement& statement);
// Fails with not_permitted, naming the role or the right that is needed.
[[nodiscard]] Result<Done> permit(const Principal& who, const sql::Statement& statement);

}  // namespace baton::desk
