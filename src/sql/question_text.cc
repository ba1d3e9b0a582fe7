#include "sql/question_text.h"

#include <algorithm>

namespace baton::sql {

namespace {

bool is_word_letter(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' ||
           static_cast<unsigned char>(c) >= 0x80;
}

bool is_decimal_digit(char c) {
    return c >= '0' && c <= '9';
}

// Steps over what may hold a semicolon that ends nothing.
class Scanner {
public:
    Scanner(std::string_view text, std::size_t from) : text_(text), at_(from) {}

    std::size_t end() {
        while (at_ < text_.size() && text_[at_] != ';') step();
        return std::min(at_, text_.size());
    }

private:
    [[nodiscard]] bool sees(std::string_view words) const {
        return text_.substr(std::min(at_, text_.size())).starts_with(words);
    }

    void step() {
        const char c = text_[at_];
        if (c == '\'') return quoted('\'', is_escape_string());
        if (c == '"') return quoted('"', false);
        if (sees("--")) return skip_to("\n");
        if (sees("/*")) return block_comment();
        if (c == '$' && !follows_word() && dollar_quoted()) return;
        at_ += 1;
    }

    [[nodiscard]] bool follows_word() const {
        return at_ > 0 && (is_word_letter(text_[at_ - 1]) || is_decimal_digit(text_[at_ - 1]));
    }

    // E'it\'s'
    [[nodiscard]] bool is_escape_string() const {
        if (at_ == 0 || (text_[at_ - 1] != 'e' && text_[at_ - 1] != 'E')) return false;
        return at_ == 1 || (!is_word_letter(text_[at_ - 2]) && !is_decimal_digit(text_[at_ - 2]));
    }

    // A doubled quote is two texts side by side, for this purpose.
    void quoted(char quote, bool escapes) {
        for (at_ += 1; at_ < text_.size(); at_ += 1) {
            if (text_[at_] == quote) break;
            if (escapes && text_[at_] == '\\') at_ += 1;
        }
        at_ += 1;
    }

    void skip_to(std::string_view words) {
        const std::size_t found = text_.find(words, at_);
        at_ = found == std::string_view::npos ? text_.size() : found + words.size();
    }

    void block_comment() {
        std::size_t depth = 0;
        do {
            if (sees("/*")) {
                depth += 1;
                at_ += 2;
            } else if (sees("*/")) {
                depth -= 1;
                at_ += 2;
            } else {
                at_ += 1;
            }
        } while (depth > 0 && at_ < text_.size());
    }

    // $$ .. $$ or $tag$ .. $tag$
    bool dollar_quoted() {
        std::size_t end = at_ + 1;
        while (end < text_.size() && (is_word_letter(text_[end]) || is_decimal_digit(text_[end])))
            end += 1;
        if (end >= text_.size() || text_[end] != '$') return false;
        if (is_decimal_digit(text_[at_ + 1])) return false;
        const std::string_view tag = text_.substr(at_, end + 1 - at_);
        at_ = end + 1;
        skip_to(tag);
        return true;
    }

    std::string_view text_;
    std::size_t at_;
};

}  // namespace

std::size_t question_end(std::string_view text, std::size_t from) {
    return Scanner(text, from).end();
}

std::string_view trimmed(std::string_view text) {
    constexpr std::string_view kSpace = " \t\r\n\f\v";
    const std::size_t first = text.find_first_not_of(kSpace);
    if (first == std::string_view::npos) return {};
    return text.substr(first, text.find_last_not_of(kSpace) + 1 - first);
}

}  // namespace baton::sql
