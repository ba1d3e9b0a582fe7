#include <array>
#include <string>

#include "base/text.h"
#include "core/questions/gate.h"
#include "core/questions/tree.h"

namespace baton::questions {

namespace {

bool is_word(char c) {
    const auto byte = static_cast<unsigned char>(c);
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           byte >= 0x80;
}

// Counts tokens and nesting as PostgreSQL's lexer sees them. Where the text is malformed the count
// does not matter: the parser will refuse it.
class Lexer {
public:
    explicit Lexer(std::string_view text) : text_(text) {}

    Result<Done> run() {
        while (at_ < text_.size()) {
            TRY(token());
        }
        return Done{};
    }

private:
    [[nodiscard]] Error too_large(const std::string& what) const {
        return {.code = ErrorCode::too_large,
                .message = "the question " + what,
                .at = position_at(text_, static_cast<std::uint32_t>(at_))};
    }

    [[nodiscard]] bool starts(std::string_view mark) const {
        return text_.substr(at_, mark.size()) == mark;
    }

    void skip_to(std::string_view mark, std::size_t from) {
        const std::size_t found = text_.find(mark, from);
        at_ = found == std::string_view::npos ? text_.size() : found + mark.size();
    }

    // Comments of this form nest.
    Result<Done> block_comment() {
        std::size_t depth = 0;
        while (at_ < text_.size()) {
            if (starts("/*")) {
                depth += 1;
                at_ += 2;
            } else if (starts("*/")) {
                depth -= 1;
                at_ += 2;
                if (depth == 0) return Done{};
            } else {
                at_ += 1;
            }
            if (depth > kTextNestingMax) return too_large("has comments that are nested too deep");
        }
        return Done{};
    }

    void quoted(char quote, bool escapes) {
        at_ += 1;
        while (at_ < text_.size()) {
            const char c = text_[at_++];
            if (escapes && c == '\\') {
                at_ += 1;
            } else if (c == quote) {
                return;  // a doubled one begins the next text
            }
        }
        at_ = text_.size();
    }

    // $tag$ .. $tag$, or a parameter.
    void dollar() {
        std::size_t end = at_ + 1;
        while (end < text_.size() && is_word(text_[end])) end += 1;
        const bool digit = at_ + 1 < text_.size() && text_[at_ + 1] >= '0' && text_[at_ + 1] <= '9';
        if (end >= text_.size() || text_[end] != '$' || digit) {
            at_ = end;
            return;
        }
        const std::string_view tag = text_.substr(at_, end + 1 - at_);
        skip_to(tag, end + 1);
    }

    Result<Done> word() {
        const std::size_t begin = at_;
        while (at_ < text_.size() && is_word(text_[at_])) at_ += 1;
        const std::string_view word = text_.substr(begin, at_ - begin);
        if (equal_ignoring_case(word, "materialized")) materialized_ += 1;
        if (materialized_ > kMaterializedMax) {
            return too_large("has more than " + std::to_string(kMaterializedMax) +
                             " materialized CTEs");
        }
        const bool introduces = word.size() == 1 && at_ < text_.size() && text_[at_] == '\'';
        if (introduces && (word == "e" || word == "E")) quoted('\'', true);
        // Words that open and close without parentheses, and operators that stand before.
        if (equal_ignoring_case(word, "case")) depth_ += 1;
        if (equal_ignoring_case(word, "end") && depth_ > 0) depth_ -= 1;
        const bool prefix = equal_ignoring_case(word, "not");
        prefixes_ = prefix ? prefixes_ + 1 : 0;
        return Done{};
    }

    Result<Done> symbol() {
        const char c = text_[at_++];
        const bool opens = c == '(' || c == '[' || c == '{';
        const bool closes = c == ')' || c == ']' || c == '}';
        if (opens) depth_ += 1;
        if (closes && depth_ > 0) depth_ -= 1;
        const bool prefix = c == '-' || c == '+' || c == '~' || c == '!' || c == '@';
        prefixes_ = prefix ? prefixes_ + 1 : 0;
        return Done{};
    }

    Result<Done> token() {
        const char c = text_[at_];
        if (c == ' ' || c == '\n' || c == '\t' || c == '\r' || c == '\f' || c == '\v') {
            at_ += 1;
            return Done{};
        }
        if (starts("--")) {
            skip_to("\n", at_);
            return Done{};
        }
        if (starts("/*")) return block_comment();
        tokens_ += 1;
        if (tokens_ > kTokensMax) {
            return too_large("has more than " + std::to_string(kTokensMax) + " words and signs");
        }
        if (c == '\'' || c == '"') {
            quoted(c, false);
            prefixes_ = 0;
            return Done{};
        }
        if (c == '$') {
            dollar();
            prefixes_ = 0;
            return Done{};
        }
        if (is_word(c)) {
            TRY(word());
        } else {
            TRY(symbol());
        }
        if (depth_ > kTextNestingMax || prefixes_ > kTextNestingMax) {
            return too_large("is nested deeper than " + std::to_string(kTextNestingMax) +
                             " levels");
        }
        return Done{};
    }

    std::string_view text_;
    std::size_t at_ = 0;
    std::size_t tokens_ = 0;
    std::size_t depth_ = 0;
    std::size_t prefixes_ = 0;  // one after the other
    std::size_t materialized_ = 0;
};

}  // namespace

Result<Done> check_text(std::string_view text) {
    if (text.size() > kTextBytesMax) {
        return Error{.code = ErrorCode::too_large,
                     .message = "the question has " + std::to_string(text.size()) +
                                " bytes, at most " + std::to_string(kTextBytesMax) + " are allowed",
                     .hint = "give large values as parameters"};
    }
    return Lexer(text).run();
}

}  // namespace baton::questions
