#include "doors/pg/server/calculations.h"

#include <algorithm>
#include <array>
#include <string_view>

namespace baton::pgserver {

using pg::Token;
using pg::TokenKind;

namespace {

const Token& token_in(std::span<const Token> tokens, std::size_t i) {
    static const Token kNothing;
    return i < tokens.size() ? tokens[i] : kNothing;
}

}  // namespace

bool calculates(std::span<const Token> tokens) {
    constexpr std::array<std::string_view, 26> kOfServer = {"version",
                                                            "current_setting",
                                                            "set_config",
                                                            "current_schema",
                                                            "current_schemas",
                                                            "current_database",
                                                            "current_catalog",
                                                            "current_user",
                                                            "session_user",
                                                            "user",
                                                            "current_role",
                                                            "inet_server_addr",
                                                            "inet_server_port",
                                                            "inet_client_addr",
                                                            "inet_client_port",
                                                            "obj_description",
                                                            "col_description",
                                                            "shobj_description",
                                                            "format_type",
                                                            "to_regclass",
                                                            "to_regtype",
                                                            "has_schema_privilege",
                                                            "has_table_privilege",
                                                            "has_database_privilege",
                                                            "quote_ident",
                                                            "txid_current"};
    constexpr std::array<std::string_view, 6> kCatalogTypes = {"regclass",     "regtype", "regproc",
                                                               "regnamespace", "regrole", "oid"};
    bool found = false;
    for (std::size_t i = 1; i < tokens.size(); ++i) {
        const Token& token = tokens[i];
        const auto is_one_of = [&](const auto& words) {
            return token.names() &&
                   std::find(words.begin(), words.end(), token.text) != words.end();
        };
        const bool of_server = token.names() && token.text.starts_with("pg_");
        if (of_server || is_one_of(kOfServer) || is_one_of(kCatalogTypes) || token.is("from")) {
            return false;
        }
        const bool function = token.names() && token_in(tokens, i + 1).is("(") && !token.is("as");
        const bool typed = token.names() && token_in(tokens, i + 1).kind == TokenKind::string &&
                           !token_in(tokens, i - 1).is("as");
        found = found || function || typed || token.kind == TokenKind::parameter ||
                token.is_any({"::", "[", "case"});
    }
    return found;
}

}  // namespace baton::pgserver
