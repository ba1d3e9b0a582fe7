// Lexer cuts the text of the dialect into tokens, one at a time.
//
// Input:  any bytes. Output: tokens, the last of kind `end`; or, at the first place that is no
//         token, one of kind `invalid`, and error() says why. After either, next() repeats itself.
// Names:  an unquoted word is folded to upper case; "double quotes" and `backticks` keep it
// exactly. Memory: holds only the token being made; the text must outlive the Lexer.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/error.h"

namespace baton::sql {

enum class TokenKind : std::uint8_t {
    end,
    word,  // unquoted: a word of the grammar or a name
    quoted_name,
    string,
    integer,
    decimal,
    parameter,  // $1
    symbol,
    invalid,
};

enum class Symbol : std::uint8_t {
    none,
    eq,
    ne,
    lt,
    le,
    gt,
    ge,
    plus,
    minus,
    star,
    slash,
    percent,
    open,
    close,
    comma,
    dot,
    semicolon,
};

constexpr std::uint64_t kParametersMax = 65'535;
constexpr std::size_t kNameBytesMax = 255;

struct Token {
    TokenKind kind = TokenKind::end;
    Symbol symbol = Symbol::none;
    Position at;
    std::size_t length = 0;     // bytes of the text it was made of
    std::string text;           // of a word, folded; of a quoted name or a string, decoded
    std::uint64_t integer = 0;  // of an integer; the number of a parameter, from 1
    double decimal = 0;         // of a decimal
};

// One spelling of the symbol: "(", "<=".
[[nodiscard]] std::string_view to_string(Symbol symbol);

class Lexer {
public:
    explicit Lexer(std::string_view text) : text_(text) {}

    Token next();
    // The next token is the one at or behind `offset`; `known` is a place before it.
    void restart(Position known, std::size_t offset);
    // Why the last token was `invalid`.
    [[nodiscard]] const Error& error() const { return error_; }

private:
    [[nodiscard]] char look(std::size_t ahead = 0) const;  // 0 beyond the end
    [[nodiscard]] Position here() const;
    void step(std::size_t bytes);
    bool step_character();  // false if it is not UTF-8; error_ is set
    bool skip_space();      // and comments; false if one is wrong; error_ is set
    bool skip_line_comment();
    bool skip_block_comment();
    Token made(TokenKind kind, Position from) const;
    Token fail(Position at, std::string message, std::string hint = {});
    Token too_long(Position at, std::size_t bytes);  // a name
    Token word();
    Token quoted_name(char quote);
    Token string();
    Token number();
    Token integer_of(std::string_view digits, Position from);
    Token decimal_of(std::string_view digits, Position from);
    Token parameter();
    Token symbol();
    Token unknown();

    std::string_view text_;
    std::size_t offset_ = 0;
    std::size_t line_start_ = 0;
    std::uint32_t line_ = 1;
    bool failed_ = false;
    Error error_;
};

}  // namespace baton::sql
