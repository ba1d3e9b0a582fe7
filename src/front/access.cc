#include "front/access.h"

#include <algorithm>
#include <array>

#include "base/overload.h"
#include "base/text.h"

namespace baton::front {

namespace {

constexpr std::array kRoles = {"reader", "writer", "admin"};

// Looks at every character, whatever it found before.
bool same(std::string_view a, std::string_view b) {
    if (a.size() != b.size()) return false;
    unsigned differences = 0;
    for (std::size_t i = 0; i < a.size(); ++i) {
        differences |= static_cast<unsigned>(static_cast<unsigned char>(a[i])) ^
                       static_cast<unsigned>(static_cast<unsigned char>(b[i]));
    }
    return differences == 0;
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

Access::Access(std::vector<User> users, std::vector<Token> tokens, Digest digest)
    : tokens_(std::move(tokens)), digest_(std::move(digest)) {
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
    if (tokens_.empty()) return std::nullopt;
    const std::string shown = digest_(token);
    std::optional<Principal> who;
    for (const Token& known : tokens_) {
        if (same(known.sha256, shown)) who = Principal{.name = known.name, .role = known.role};
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
                 .message = "user " + in_quotes(who.name) + " may not do this: it needs the role " +
                            std::string(to_string(needed)) + ", and has " +
                            std::string(to_string(who.role)),
                 .hint = "ask somebody who has it"};
}

}  // namespace baton::front
