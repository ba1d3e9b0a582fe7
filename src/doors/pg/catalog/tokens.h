// The text of a PostgreSQL client cut into tokens: enough to tell statements apart and to rewrite
// them, not to understand them.
//
// Input:   any bytes. Output: tokens without space and comments; a string that has no end reaches
// to
//          the end of the text.
// A backslash escapes in every string, as it does in our dialect: only itself and the quote, and
// whatever C knows in E'..'.
// Pure: no I/O.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

namespace baton::pg {

enum class TokenKind : std::uint8_t { word, quoted_name, string, number, parameter, symbol };

struct Token {
    TokenKind kind = TokenKind::symbol;
    std::size_t at = 0;      // where it begins in the text
    std::size_t length = 0;  // in bytes
    std::string text;        // words in lower case; names and strings decoded; a parameter's number

    [[nodiscard]] std::size_t end() const { return at + length; }
    [[nodiscard]] bool is(std::string_view word_or_symbol) const {
        return (kind == TokenKind::word || kind == TokenKind::symbol) && text == word_or_symbol;
    }
    [[nodiscard]] bool is_any(std::initializer_list<std::string_view> words) const;
    [[nodiscard]] bool names() const {
        return kind == TokenKind::word || kind == TokenKind::quoted_name;
    }
};

[[nodiscard]] std::vector<Token> tokens_of(std::string_view text);

[[nodiscard]] std::string to_lower(std::string_view text);  // ASCII only

}  // namespace baton::pg
