#include "sql/lexer.h"

#include <array>
#include <charconv>
#include <utility>

#include "base/text.h"
#include "sql/utf8.h"

namespace baton::sql {

namespace {

struct Spelling {
    std::string_view text;
    Symbol symbol;
};

// Longer spellings before their beginnings.
constexpr std::array kSymbols = {
    Spelling{"==", Symbol::eq},     Spelling{"!=", Symbol::ne},  Spelling{"<>", Symbol::ne},
    Spelling{"<=", Symbol::le},     Spelling{">=", Symbol::ge},  Spelling{"=", Symbol::eq},
    Spelling{"<", Symbol::lt},      Spelling{">", Symbol::gt},   Spelling{"+", Symbol::plus},
    Spelling{"-", Symbol::minus},   Spelling{"*", Symbol::star}, Spelling{"/", Symbol::slash},
    Spelling{"%", Symbol::percent}, Spelling{"(", Symbol::open}, Spelling{")", Symbol::close},
    Spelling{",", Symbol::comma},   Spelling{".", Symbol::dot},  Spelling{";", Symbol::semicolon},
};

struct Foreign {
    std::string_view text;
    std::string_view instead;
};

// What other dialects have and this one has not.
constexpr std::array kForeign = {
    Foreign{"||", "write CONCAT(a, b)"},
    Foreign{"<=>", "write a = b, and IS NULL where both may be NULL"},
    Foreign{"::", "write CAST(e AS T)"},
    Foreign{"&&", "write AND"},
};

bool is_space(char c) {
    return c == ' ' || (c >= '\t' && c <= '\r');
}
bool is_digit(char c) {
    return c >= '0' && c <= '9';
}
bool begins_word(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}
bool continues_word(char c) {
    return begins_word(c) || is_digit(c);
}

// E'..', by which a client of PostgreSQL says that it doubled backslashes. Here they are doubled
// always. With other escapes it is no string of the dialect.
bool marks_escapes(std::string_view text) {
    if (!text.starts_with("E'") && !text.starts_with("e'")) return false;
    for (std::size_t i = 2; i < text.size(); ++i) {
        if (text[i] == '\'' && !text.substr(i + 1).starts_with('\'')) return true;
        if (text[i] != '\'' && text[i] != '\\') continue;
        i += 1;
        const bool plain = i < text.size() && (text[i] == '\\' || text[i] == '\'');
        if (!plain) return false;
    }
    return false;
}

}  // namespace

std::string_view to_string(Symbol symbol) {
    if (symbol == Symbol::eq) return "=";
    if (symbol == Symbol::ne) return "!=";
    for (const Spelling& known : kSymbols) {
        if (known.symbol == symbol) return known.text;
    }
    return "";
}

void Lexer::restart(Position known, std::size_t offset) {
    failed_ = false;
    offset_ = known.offset;
    line_ = known.line;
    line_start_ = known.offset + 1 - known.column;
    for (; offset_ < offset; offset_ += 1) {
        if (text_[offset_] != '\n') continue;
        line_ += 1;
        line_start_ = offset_ + 1;
    }
}

char Lexer::look(std::size_t ahead) const {
    return offset_ + ahead < text_.size() ? text_[offset_ + ahead] : '\0';
}

Position Lexer::here() const {
    return {.offset = static_cast<std::uint32_t>(offset_),
            .line = line_,
            .column = static_cast<std::uint32_t>(offset_ - line_start_ + 1)};
}

// Over bytes that hold no line end.
void Lexer::step(std::size_t bytes) {
    offset_ += bytes;
}

bool Lexer::step_character() {
    const std::size_t length = character_length(text_, offset_);
    if (length == 0) {
        fail(here(), "invalid UTF-8", "strings, quoted names and comments are UTF-8 text");
        return false;
    }
    if (look() == '\0') {
        fail(here(), "unexpected zero byte");
        return false;
    }
    const bool ends_line = look() == '\n';
    offset_ += length;
    if (ends_line) {
        line_ += 1;
        line_start_ = offset_;
    }
    return true;
}

bool Lexer::skip_space() {
    while (offset_ < text_.size()) {
        if (is_space(look())) {
            if (!step_character()) return false;
        } else if (look() == '-' && look(1) == '-') {
            if (!skip_line_comment()) return false;
        } else if (look() == '/' && look(1) == '*') {
            if (!skip_block_comment()) return false;
        } else {
            break;
        }
    }
    return true;
}

bool Lexer::skip_line_comment() {
    while (offset_ < text_.size() && look() != '\n') {
        if (!step_character()) return false;
    }
    return true;
}

bool Lexer::skip_block_comment() {
    const Position from = here();
    std::size_t open = 0;
    while (offset_ < text_.size()) {
        if (look() == '/' && look(1) == '*') {
            step(2);
            open += 1;
        } else if (look() == '*' && look(1) == '/') {
            step(2);
            open -= 1;
            if (open == 0) return true;
        } else if (!step_character()) {
            return false;
        }
    }
    fail(from, "the comment has no end", "comments nest: each /* needs its own */");
    return false;
}

Token Lexer::made(TokenKind kind, Position from) const {
    Token token;
    token.kind = kind;
    token.at = from;
    token.length = offset_ - from.offset;
    return token;
}

Token Lexer::fail(Position at, std::string message, std::string hint) {
    failed_ = true;
    error_ = {.code = ErrorCode::syntax,
              .message = std::move(message),
              .at = at,
              .hint = std::move(hint)};
    Token token;
    token.kind = TokenKind::invalid;
    token.at = at;
    return token;
}

Token Lexer::too_long(Position at, std::size_t bytes) {
    Token token = fail(at,
                       "the name has " + std::to_string(bytes) + " bytes; at most " +
                           std::to_string(kNameBytesMax) + " are allowed",
                       "choose a shorter name");
    error_.code = ErrorCode::too_large;
    return token;
}

Token Lexer::next() {
    if (failed_ || !skip_space()) return made(TokenKind::invalid, *error_.at);
    if (offset_ >= text_.size()) return made(TokenKind::end, here());
    const char c = look();
    if (marks_escapes(text_.substr(offset_))) {
        step(1);
        return string();
    }
    if (begins_word(c)) return word();
    if (c == '"' || c == '`') return quoted_name(c);
    if (c == '\'') return string();
    if (is_digit(c) || (c == '.' && is_digit(look(1)))) return number();
    if (c == '$' && is_digit(look(1))) return parameter();
    return symbol();
}

Token Lexer::parameter() {
    const Position from = here();
    step(1);
    const std::size_t begin = offset_;
    while (is_digit(look())) step(1);
    Token token = made(TokenKind::parameter, from);
    const std::string_view digits = text_.substr(begin, offset_ - begin);
    const auto result =
        std::from_chars(digits.data(), digits.data() + digits.size(), token.integer);
    if (result.ec != std::errc() || token.integer == 0 || token.integer > kParametersMax) {
        return fail(from, "there is no parameter $" + std::string(digits.substr(0, 20)),
                    "parameters are numbered from $1 to $" + std::to_string(kParametersMax));
    }
    return token;
}

Token Lexer::word() {
    const Position from = here();
    while (continues_word(look())) step(1);
    Token token = made(TokenKind::word, from);
    if (token.length > kNameBytesMax) return too_long(from, token.length);
    token.text = to_upper(text_.substr(from.offset, token.length));
    return token;
}

Token Lexer::quoted_name(char quote) {
    const Position from = here();
    step(1);
    std::string name;
    while (offset_ < text_.size()) {
        if (look() == quote) {
            step(1);
            if (look() != quote) {
                if (name.empty()) return fail(from, "a name cannot be empty");
                if (name.size() > kNameBytesMax) return too_long(from, name.size());
                Token token = made(TokenKind::quoted_name, from);
                token.text = std::move(name);
                return token;
            }
            step(1);
            name += quote;
            continue;
        }
        const std::size_t begin = offset_;
        if (!step_character()) return made(TokenKind::invalid, from);
        name += text_.substr(begin, offset_ - begin);
    }
    return fail(from, "the quoted name has no end");
}

Token Lexer::string() {
    const Position from = here();
    step(1);
    std::string value;
    bool escaped_quote = false;
    while (offset_ < text_.size()) {
        const char c = look();
        if (c == '\'' && look(1) != '\'') {
            step(1);
            Token token = made(TokenKind::string, from);
            token.text = std::move(value);
            return token;
        }
        if (c == '\'' || (c == '\\' && (look(1) == '\'' || look(1) == '\\'))) {
            escaped_quote = escaped_quote || (c == '\\' && look(1) == '\'');
            value += look(1);
            step(2);
            continue;
        }
        const std::size_t begin = offset_;
        if (!step_character()) return made(TokenKind::invalid, from);
        value += text_.substr(begin, offset_ - begin);
    }
    return fail(
        from, "the string has no end",
        escaped_quote ? R"(\' is a quote within the string; write \\ for a backslash)" : "");
}

Token Lexer::number() {
    const Position from = here();
    bool decimal = false;
    while (is_digit(look())) step(1);
    if (look() == '.') {
        decimal = true;
        step(1);
        while (is_digit(look())) step(1);
    }
    const std::size_t sign = look(1) == '+' || look(1) == '-' ? 1 : 0;
    if ((look() == 'e' || look() == 'E') && is_digit(look(1 + sign))) {
        decimal = true;
        step(1 + sign);
        while (is_digit(look())) step(1);
    }
    if (begins_word(look())) {
        while (continues_word(look())) step(1);
        const std::string text(text_.substr(from.offset, offset_ - from.offset));
        return fail(from, in_quotes(text.substr(0, 40)) + " is neither a number nor a name",
                    "a name that begins with a digit is written in double quotes");
    }
    const std::string_view digits = text_.substr(from.offset, offset_ - from.offset);
    return decimal ? decimal_of(digits, from) : integer_of(digits, from);
}

Token Lexer::integer_of(std::string_view digits, Position from) {
    Token token = made(TokenKind::integer, from);
    const auto result =
        std::from_chars(digits.data(), digits.data() + digits.size(), token.integer);
    if (result.ec != std::errc()) {
        return fail(from, "the number is too large", "the largest is 18446744073709551615");
    }
    return token;
}

Token Lexer::decimal_of(std::string_view digits, Position from) {
    Token token = made(TokenKind::decimal, from);
    const auto result =
        std::from_chars(digits.data(), digits.data() + digits.size(), token.decimal);
    if (result.ec != std::errc()) {
        return fail(from, "the number is out of range", "decimals are of type FLOAT64");
    }
    return token;
}

Token Lexer::symbol() {
    const Position from = here();
    const std::string_view rest = text_.substr(offset_);
    for (const Foreign& foreign : kForeign) {
        if (!rest.starts_with(foreign.text)) continue;
        Token token = fail(from, "the operator " + std::string(foreign.text) + " is not supported",
                           std::string(foreign.instead));
        error_.code = ErrorCode::not_supported;
        return token;
    }
    for (const Spelling& known : kSymbols) {
        if (!rest.starts_with(known.text)) continue;
        step(known.text.size());
        Token token = made(TokenKind::symbol, from);
        token.symbol = known.symbol;
        return token;
    }
    return unknown();
}

Token Lexer::unknown() {
    const Position from = here();
    const std::size_t length = character_length(text_, offset_);
    if (length == 0) return fail(from, "invalid UTF-8");
    const auto byte = static_cast<unsigned char>(look());
    if (byte < 0x20U || byte == 0x7fU) {
        return fail(from, "unexpected control character " + std::to_string(byte));
    }
    const std::string character(text_.substr(offset_, length));
    std::string hint;
    if (character == "!") hint = "write NOT";
    if (character == ":") hint = "write an address as a string, 'host:port'";
    if (length > 1) hint = "names with other letters than A to Z are written in double quotes";
    return fail(from, "unexpected character " + in_quotes(character), hint);
}

}  // namespace baton::sql
