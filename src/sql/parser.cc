#include "sql/parser.h"

#include <algorithm>
#include <cstdint>
#include <limits>

#include "sql/grammar.h"

namespace baton::sql {

namespace {

Result<Done> within_size(std::string_view text, const Limits& limits) {
    const std::size_t countable = std::numeric_limits<std::uint32_t>::max();  // see Position
    const std::size_t bytes_max = std::min(limits.bytes_max, countable);
    if (text.size() <= bytes_max) return Done{};
    return Error{.code = ErrorCode::too_large,
                 .message = "the text has " + std::to_string(text.size()) + " bytes; at most " +
                            std::to_string(bytes_max) + " are read",
                 .hint = "send the statements in several requests"};
}

}  // namespace

Result<std::vector<Statement>> parse(std::string_view text, const Limits& limits,
                                     std::span<const Literal> parameters, Questions questions) {
    TRY(within_size(text, limits));
    return Grammar(text, limits, parameters, questions).statements();
}

std::size_t parameter_count(std::string_view text) {
    Lexer lexer(text);
    std::size_t count = 0;
    while (true) {
        const Token token = lexer.next();
        if (token.kind == TokenKind::end || token.kind == TokenKind::invalid) return count;
        if (token.kind == TokenKind::parameter) count = std::max(count, token.integer);
    }
}

std::vector<Literal> used_parameters(std::string_view text, std::span<const Literal> parameters) {
    std::vector<Literal> used;
    if (parameters.empty()) return used;
    Lexer lexer(text);
    while (true) {
        const Token token = lexer.next();
        if (token.kind == TokenKind::end || token.kind == TokenKind::invalid) return used;
        if (token.kind != TokenKind::parameter || token.integer > parameters.size()) continue;
        if (used.size() < token.integer) used.resize(token.integer, Null{});
        used[token.integer - 1] = parameters[token.integer - 1];
    }
}

Result<Statement> parse_one(std::string_view text, const Limits& limits, Questions questions) {
    TRY(within_size(text, limits));
    return Grammar(text, limits, {}, questions).only_statement();
}

}  // namespace baton::sql
