#include "front/access.h"

#include <algorithm>
#include <array>

#include <openssl/crypto.h>
#include <openssl/sha.h>

#include "base/overload.h"
#include "base/text.h"

namespace baton::front {

namespace {

constexpr std::array kRoles = {"reader", "writer", "admin"};

std::string sha256_of(std::string_view text) {
    std::array<unsigned char, SHA256_DIGEST_LENGTH> digest{};
    SHA256(reinterpret_cast<const unsigned char*>(text.data()), text.size(), digest.data());
    constexpr std::string_view kDigits = "0123456789abcdef";
    std::string hex;
    for (const unsigned char byte : digest) {
        hex += kDigits[byte >> 4U];
        hex += kDigits[byte & 15U];
    }
    return hex;
}

bool has_inline_source(const sql::Query& query);

bool has_inline_source(const sql::Relation& relation) {
    return std::visit(
        Overload{
            [](const sql::NamedRelation&) { return false; },
            [](const sql::Subquery& sub) { return has_inline_source(sub.query.front()); },
            [](const sql::InlineSource&) { return true; },
            [](const sql::Join& join) {
                return std::any_of(join.sides.begin(), join.sides.end(),
                                   [](const auto& side) { return has_inline_source(side); });
            },
        },
        relation.node);
}

bool has_inline_source(const sql::Query& query) {
    return std::visit(Overload{
                          [](const sql::Select& select) { return has_inline_source(select.from); },
                          [](const sql::Union& all) {
                              return std::any_of(
                                  all.branches.begin(), all.branches.end(),
                                  [](const auto& one) { return has_inline_source(one); });
                          },
                      },
                      query.node);
}

}  // namespace

std::string_view to_string(Role role) {
    return kRoles.at(static_cast<std::size_t>(role));
}

std::optional<Role> role_of(std::string_view name) {
    for (std::size_t i = 0; i < kRoles.size(); ++i) {
        if (kRoles.at(i) == name) return static_cast<Role>(i);
    }
    return std::nullopt;
}

Access::Access(std::vector<User> users, std::vector<Token> tokens) : tokens_(std::move(tokens)) {
    for (User& user : users) {
        std::string name = user.name;
        users_.emplace(std::move(name), std::move(user));
    }
}

const Access::User* Access::user(const std::string& name) const {
    const auto found = users_.find(name);
    return found == users_.end() ? nullptr : &found->second;
}

std::optional<Principal> Access::bearer(std::string_view token) const {
    const std::string shown = sha256_of(token);
    std::optional<Principal> who;
    for (const Token& known : tokens_) {
        const bool same = known.sha256.size() == shown.size() &&
                          CRYPTO_memcmp(known.sha256.data(), shown.data(), shown.size()) == 0;
        if (same) who = Principal{.name = known.name, .role = known.role};
    }
    return who;
}

Role needed_for(const sql::Statement& statement) {
    return std::visit(Overload{
                          [](const sql::SelectOnce& select) {
                              // Rows of what somebody declared; not of any file of a worker.
                              return has_inline_source(select.query) ? Role::writer : Role::reader;
                          },
                          [](const sql::Show&) { return Role::reader; },
                          [](const sql::Explain&) { return Role::reader; },
                          [](const sql::Watch&) { return Role::reader; },
                          [](const sql::WaitForQuery&) { return Role::reader; },
                          [](const sql::Begin&) { return Role::reader; },
                          [](const sql::Commit&) { return Role::reader; },
                          [](const sql::Rollback&) { return Role::reader; },
                          [](const sql::CreateWorker&) { return Role::admin; },
                          [](const sql::DrainWorker&) { return Role::admin; },
                          [](const sql::ResumeWorker&) { return Role::admin; },
                          [](const sql::Drop& drop) {
                              return drop.kind == sql::EntityKind::worker ? Role::admin
                                                                          : Role::writer;
                          },
                          [](const auto&) { return Role::writer; },
                      },
                      statement.node);
}

Result<Done> permit(const Principal& who, const sql::Statement& statement) {
    const Role needed = needed_for(statement);
    if (who.role >= needed) return Done{};
    return Error{.code = ErrorCode::not_permitted,
                 .message = "user " + quoted(who.name) + " may not do this: it needs the role " +
                            std::string(to_string(needed)) + ", and has " +
                            std::string(to_string(who.role)),
                 .hint = "ask somebody who has it"};
}

}  // namespace baton::front
