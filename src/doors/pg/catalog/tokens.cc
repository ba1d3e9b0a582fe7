#include "doors/pg/catalog/tokens.h"

#include <algorithm>
#include <utility>

namespace baton::pg {

namespace {

constexpr std::string_view kOperatorCharacters = "+-*/<>=~!@#%^&|?";

bool is_space(char c) {
    return c == ' ' || (c >= '\t' && c <= '\r');
}
bool is_digit(char c) {
    return c >= '0' && c <= '9';
}
bool begins_word(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' ||
           static_cast<unsigned char>(c) >= 0x80;
}
bool continues_word(char c) {
    return begins_word(c) || is_digit(c) || c == '$';
}

char unescaped(char c) {
    switch (c) {
        case 'n':
            return '\n';
        case 't':
            return '\t';
        case 'r':
            return '\r';
        case 'b':
            return '\b';
        case 'f':
            return '\f';
        default:
            return c;
    }
}

class Cutter {
public:
    explicit Cutter(std::string_view text) : text_(text) {}

    std::vector<Token> cut() {
        std::vector<Token> tokens;
        for (skip_space(); at_ < text_.size(); skip_space()) {
            const std::size_t from = at_;
            Token token = next();
            token.at = from;
            token.length = at_ - from;
            tokens.push_back(std::move(token));
        }
        return tokens;
    }

private:
    [[nodiscard]] char look(std::size_t ahead = 0) const {
        return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0';
    }

    void skip_space() {
        while (at_ < text_.size()) {
            if (is_space(look())) {
                at_ += 1;
            } else if (look() == '-' && look(1) == '-') {
                at_ = std::min(text_.find('\n', at_), text_.size());
            } else if (look() == '/' && look(1) == '*') {
                skip_comment();
            } else {
                return;
            }
        }
    }
    void skip_comment() {
        std::size_t depth = 0;
        do {
            if (look() == '/' && look(1) == '*') {
                depth += 1;
                at_ += 2;
            } else if (look() == '*' && look(1) == '/') {
                depth -= 1;
                at_ += 2;
            } else {
                at_ += 1;
            }
        } while (depth > 0 && at_ < text_.size());
        at_ = std::min(at_, text_.size());
    }

    Token next() {
        const char c = look();
        if (c == '\'') return string(false);
        if ((c == 'E' || c == 'e') && look(1) == '\'') {
            at_ += 1;
            return string(true);
        }
        if (c == '"' || c == '`') return in_quotes(c);
        if (begins_word(c)) return word();
        if (is_digit(c) || (c == '.' && is_digit(look(1)))) return number();
        if (c == '$') return dollar();
        return symbol();
    }

    Token string(bool knows_c) {
        Token token{.kind = TokenKind::string};
        at_ += 1;
        while (at_ < text_.size()) {
            const char c = text_[at_++];
            if (c == '\'') {
                if (look() != '\'') return token;
                at_ += 1;
                token.text += c;
            } else if (c == '\\' && (knows_c || look() == '\'' || look() == '\\')) {
                token.text += knows_c ? unescaped(look()) : look();
                at_ = std::min(at_ + 1, text_.size());
            } else {
                token.text += c;
            }
        }
        return token;
    }
    Token in_quotes(char quote) {
        Token token{.kind = TokenKind::quoted_name};
        at_ += 1;
        while (at_ < text_.size()) {
            const char c = text_[at_++];
            if (c == quote) {
                if (look() != quote) return token;
                at_ += 1;
            }
            token.text += c;
        }
        return token;
    }
    Token word() {
        const std::size_t from = at_;
        while (continues_word(look())) at_ += 1;
        return {.kind = TokenKind::word, .text = to_lower(text_.substr(from, at_ - from))};
    }
    Token number() {
        const std::size_t from = at_;
        while (is_digit(look()) || look() == '.') at_ += 1;
        const std::size_t sign = look(1) == '+' || look(1) == '-' ? 1 : 0;
        if ((look() == 'e' || look() == 'E') && is_digit(look(1 + sign))) {
            at_ += 1 + sign;
            while (is_digit(look())) at_ += 1;
        }
        return {.kind = TokenKind::number, .text = std::string(text_.substr(from, at_ - from))};
    }
    // $1, or $tag$ .. $tag$
    Token dollar() {
        const std::size_t from = at_;
        at_ += 1;
        if (is_digit(look())) {
            while (is_digit(look())) at_ += 1;
            return {.kind = TokenKind::parameter,
                    .text = std::string(text_.substr(from + 1, at_ - from - 1))};
        }
        std::size_t end = at_;
        while (end < text_.size() && continues_word(text_[end]) && text_[end] != '$') end += 1;
        if (end == text_.size() || text_[end] != '$') return {.text = "$"};
        const std::string_view tag = text_.substr(from, end + 1 - from);
        const std::size_t close = std::min(text_.find(tag, end + 1), text_.size());
        at_ = std::min(close + tag.size(), text_.size());
        return {.kind = TokenKind::string,
                .text = std::string(text_.substr(end + 1, close - end - 1))};
    }
    Token symbol() {
        const std::size_t from = at_;
        if (look() == ':' && (look(1) == ':' || look(1) == '=')) {
            at_ += 2;
        } else if (kOperatorCharacters.find(look()) != std::string_view::npos) {
            while (at_ < text_.size() &&
                   kOperatorCharacters.find(look()) != std::string_view::npos) {
                if (look() == '-' && look(1) == '-') break;
                if (look() == '/' && look(1) == '*') break;
                // As in PostgreSQL: `=-1` is two operators, `!~` is one.
                if (at_ > from && (look() == '-' || look() == '+')) break;
                at_ += 1;
            }
        } else {
            at_ += 1;
        }
        return {.text = std::string(text_.substr(from, at_ - from))};
    }

    std::string_view text_;
    std::size_t at_ = 0;
};

}  // namespace

bool Token::is_any(std::initializer_list<std::string_view> words) const {
    return std::any_of(words.begin(), words.end(), [&](std::string_view w) { return is(w); });
}

std::string to_lower(std::string_view text) {
    std::string lower(text);
    for (char& c : lower) {
        if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    }
    return lower;
}

std::vector<Token> tokens_of(std::string_view text) {
    return Cutter(text).cut();
}

}  // namespace baton::pg
