#include "doors/desk/access.h"

#include <algorithm>

#include "base/overload.h"
#include "base/text.h"
#include "core/descriptors/descriptors.h"
#include "sql/vocabulary.h"

namespace baton::desk {

namespace {

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

using IsIt = bool (*)(const sql::InlineSource& source);

bool has_inline_source(const sql::Query& query, IsIt is_it);

bool has_inline_source(const sql::Relation& relation, IsIt is_it) {
    return std::visit(
        Overload{
            [](const sql::NamedRelation&) { return false; },
            [&](const sql::Subquery& sub) { return has_inline_source(sub.query.front(), is_it); },
            [&](const sql::InlineSource& source) { return is_it(source); },
            [&](const sql::Join& join) {
                return std::any_of(join.sides.begin(), join.sides.end(), [&](const auto& side) {
                    return has_inline_source(side, is_it);
                });
            },
        },
        relation.node);
}

bool has_inline_source(const sql::Query& query, IsIt is_it) {
    return std::visit(
        Overload{
            [&](const sql::Select& select) { return has_inline_source(select.from, is_it); },
            [&](const sql::Union& all) {
                return std::any_of(all.branches.begin(), all.branches.end(),
                                   [&](const auto& one) { return has_inline_source(one, is_it); });
            },
        },
        query.node);
}

bool is_any(const sql::InlineSource&) {
    return true;
}

bool reads_files(const sql::InlineSource& source) {
    return descriptors::opens_files(descriptors::DescriptorKind::source, source.type);
}

bool writes_files(const sql::SinkTarget& sink) {
    const auto* there = std::get_if<sql::InlineSink>(&sink.node);
    return there != nullptr &&
           descriptors::opens_files(descriptors::DescriptorKind::sink, there->type);
}

}  // namespace

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

bool Access::has_token(const std::string& name) const {
    return std::any_of(tokens_.begin(), tokens_.end(),
                       [&](const Token& token) { return token.name == name; });
}

std::optional<Principal> Access::bearer(std::string_view token) const {
    if (tokens_.empty()) return std::nullopt;
    const std::string shown = digest_(token);
    std::optional<Principal> who;
    for (const Token& known : tokens_) {
        if (same(known.sha256, shown)) {
            who = Principal{.name = known.name, .role = known.role, .files = known.files};
        }
    }
    return who;
}

Role needed_for(const sql::Statement& statement) {
    const Role least = sql::form_of(statement).role;
    // A reader reads rows of what somebody declared; not of any file of a worker.
    const auto* select = std::get_if<sql::SelectOnce>(&statement.node);
    const bool declares = select != nullptr && has_inline_source(select->query, is_any);
    return declares ? std::max(least, Role::writer) : least;
}

bool names_files(const sql::Statement& statement) {
    return std::visit(
        Overload{
            [](const sql::CreatePhysicalSource& create) {
                return descriptors::opens_files(descriptors::DescriptorKind::source, create.type);
            },
            [](const sql::CreateSink& create) {
                return descriptors::opens_files(descriptors::DescriptorKind::sink, create.type);
            },
            [](const sql::CreateQuery& create) {
                return has_inline_source(create.query, reads_files) || writes_files(create.sink);
            },
            [](const sql::CreateTable& create) {
                const auto& settings = create.settings;
                return std::any_of(settings.begin(), settings.end(), [](const auto& setting) {
                    return setting.key.back() == "LOCATION";
                });
            },
            [](const sql::SelectOnce& select) {
                return has_inline_source(select.query, reads_files);
            },
            [](const sql::OpensNoFiles auto&) { return false; },
        },
        statement.node);
}

Result<Done> permit(const Principal& who, const sql::Statement& statement) {
    const Role needed = needed_for(statement);
    if (who.role >= needed) {
        if (who.role == Role::admin || who.files || !names_files(statement)) return Done{};
        return Error{.code = ErrorCode::not_permitted,
                     .message = "user " + in_quotes(who.name) +
                                " may not do this: it needs the right to files of workers",
                     .hint =
                         "an admin declares the source, sink or table, or sets files: true for the "
                         "user in the settings"};
    }
    return Error{.code = ErrorCode::not_permitted,
                 .message = "user " + in_quotes(who.name) + " may not do this: it needs the role " +
                            std::string(to_string(needed)) + ", and has " +
                            std::string(to_string(who.role)),
                 .hint = "ask a user that has this role"};
}

}  // namespace baton::desk
