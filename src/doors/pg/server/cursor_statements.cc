#include "doors/pg/server/cursor_statements.h"

#include <charconv>
#include <utility>

namespace baton::pgserver {

using pg::Token;
using pg::TokenKind;

namespace {

using Tokens = std::span<const Token>;

const Token& token_at(Tokens tokens, std::size_t i) {
    static const Token kNothing;
    return i < tokens.size() ? tokens[i] : kNothing;
}

Refuse syntax(std::string hint) {
    return {{.sqlstate = "42601",
             .message = "this is no statement about a cursor",
             .hint = std::move(hint),
             .code = ErrorCode::syntax}};
}

Refuse forward_only() {
    return {{.sqlstate = "0A000",
             .message = "cursors go forward only",
             .hint = "there are FETCH NEXT, FETCH n, FETCH ALL and FETCH FORWARD",
             .code = ErrorCode::not_supported}};
}

}  // namespace

std::variant<DeclaredHead, Refuse> declare_head(Tokens tokens) {
    const Refuse wrong = syntax("write DECLARE name [NO SCROLL] CURSOR [WITH HOLD] FOR SELECT ..");
    if (!token_at(tokens, 1).names()) return wrong;
    DeclaredHead head{.cursor = {.name = tokens[1].text}};
    std::size_t i = 2;
    for (; !token_at(tokens, i).is("cursor"); ++i) {
        if (token_at(tokens, i).is("no") && token_at(tokens, i + 1).is("scroll")) {
            i += 1;
        } else if (token_at(tokens, i).is_any({"scroll", "binary"})) {
            return forward_only();
        } else if (!token_at(tokens, i).is_any({"asensitive", "insensitive"})) {
            return wrong;
        }
    }
    i += 1;
    if (token_at(tokens, i).is_any({"with", "without"}) && token_at(tokens, i + 1).is("hold")) {
        head.cursor.holds = token_at(tokens, i).is("with");
        i += 2;
    }
    const bool selects = token_at(tokens, i).is("for") &&
                         token_at(tokens, i + 1).is_any({"select", "values", "with", "table", "("});
    if (!selects) return wrong;
    head.inner = i + 1;
    return head;
}

Answerer cursor_statement(Tokens tokens) {
    std::size_t i = 1;
    if (token_at(tokens, 0).is("close")) {
        if (tokens.size() != 2 || !token_at(tokens, 1).names()) return syntax("write CLOSE name");
        const bool all = tokens[1].kind == TokenKind::word && tokens[1].is("all");
        return CloseCursor{.name = all ? std::nullopt : std::optional(tokens[1].text)};
    }
    FetchCursor fetch{.moves = token_at(tokens, 0).is("move")};
    if (token_at(tokens, i).is_any(
            {"prior", "first", "last", "absolute", "relative", "backward", "-"})) {
        return forward_only();
    }
    const bool forward = token_at(tokens, i).is_any({"forward", "next"}) && i + 1 < tokens.size();
    if (forward) i += 1;
    if (token_at(tokens, i).is("-")) return forward_only();
    if (token_at(tokens, i).is("all") && i + 1 < tokens.size()) {
        fetch.rows = 0;
        i += 1;
    } else if (token_at(tokens, i).kind == TokenKind::number) {
        const std::string& digits = tokens[i].text;
        const char* const end = digits.data() + digits.size();
        if (std::from_chars(digits.data(), end, fetch.rows).ptr != end) {
            return syntax("write FETCH n FROM name, with a whole number");
        }
        if (fetch.rows == 0) return forward_only();  // the present row again
        i += 1;
    }
    if (token_at(tokens, i).is_any({"from", "in"})) i += 1;
    if (!token_at(tokens, i).names() || tokens.size() != i + 1) {
        return syntax("write FETCH [n | ALL] FROM name");
    }
    fetch.name = tokens[i].text;
    return fetch;
}

}  // namespace baton::pgserver
