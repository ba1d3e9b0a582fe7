// Who may come in, and what they may do.
//
// Users prove a password (SCRAM, over pgwire), tokens are shown (HTTP). Neither is kept: of a
// password its SCRAM verifier, of a token its SHA-256. With no users and no tokens everybody is
// trusted, and a door that listens beyond this machine has to be told explicitly that this is
// meant.
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

namespace baton::front {

using baton::Role;

// The user that only coordinators of the same catalog are.
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

    // Coordinators are let in who prove what this verifier is made of, also where everybody is
    // trusted.
    void let_coordinators_in(std::string verifier) { coordinators_ = std::move(verifier); }
    [[nodiscard]] bool lets_coordinators_in() const { return !coordinators_.empty(); }
    [[nodiscard]] const std::string& verifier_of_coordinators() const { return coordinators_; }

    // Nobody is known: everybody is trusted, as an admin.
    [[nodiscard]] bool trusts_everybody() const { return users_.empty() && tokens_.empty(); }
    [[nodiscard]] const User* user(const std::string& name) const;
    [[nodiscard]] bool has_token(const std::string& name) const;
    // Takes the same time whichever token it is not.
    [[nodiscard]] std::optional<Principal> bearer(std::string_view token) const;

private:
    std::map<std::string, User> users_;
    std::vector<Token> tokens_;
    Digest digest_;
    std::string coordinators_;  // empty: none is let in
};

[[nodiscard]] Role needed_for(const sql::Statement& statement);
// Whether it declares a source or sink, also on the spot, that opens files of a worker. That is a
// right of its own, beside the role: an admin has it, another has to be given it. A reader of
// a source that is declared does not need it.
[[nodiscard]] bool names_files(const sql::Statement& statement);
// Fails with not_permitted, naming the role or the right that is needed.
[[nodiscard]] Result<Done> permit(const Principal& who, const sql::Statement& statement);

}  // namespace baton::front
