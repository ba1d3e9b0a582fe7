// Hides what may be secret in text that could not be parsed; so it must not rely on the grammar.
#include <algorithm>
#include <string>

#include "sql/parser.h"

namespace baton::sql {

namespace {

constexpr std::string_view kMask = "'***'";

class Masking {
public:
    explicit Masking(std::string_view text) : text_(text) { result_.reserve(text.size()); }

    std::string run() {
        while (offset_ < text_.size()) {
            const std::string_view rest = text_.substr(offset_);
            if (rest.starts_with("--")) {
                comment(std::min(text_.size(), text_.find('\n', offset_)));
            } else if (rest.starts_with("/*")) {
                comment(end_of_block());
            } else if (rest.front() == '\'') {
                string(text_.size());
            } else if (rest.front() == '"' || rest.front() == '`') {
                quoted_name(rest.front());
            } else {
                result_ += text_[offset_++];
            }
        }
        return std::move(result_);
    }

private:
    // A string of the dialect, or its beginning if it does not end before `end`.
    void string(std::size_t end) {
        offset_ += 1;
        while (offset_ < end) {
            const char c = text_[offset_];
            const char after = offset_ + 1 < end ? text_[offset_ + 1] : '\0';
            const bool escape =
                (c == '\\' && (after == '\'' || after == '\\')) || (c == '\'' && after == '\'');
            offset_ += escape ? 2 : 1;
            if (c == '\'' && !escape) break;
        }
        result_ += kMask;
    }

    // Comments may hold statements that were commented out.
    void comment(std::size_t end) {
        while (offset_ < end) {
            if (text_[offset_] == '\'') {
                string(end);
            } else {
                result_ += text_[offset_++];
            }
        }
    }

    std::size_t end_of_block() const {
        std::size_t open = 0;
        for (std::size_t i = offset_; i + 1 < text_.size(); ++i) {
            if (text_[i] == '/' && text_[i + 1] == '*') {
                open += 1;
                i += 1;
            } else if (text_[i] == '*' && text_[i + 1] == '/') {
                open -= 1;
                i += 1;
                if (open == 0) return i + 1;
            }
        }
        return text_.size();
    }

    // Without an end, nobody knows what the rest is: it is hidden.
    void quoted_name(char quote) {
        const std::size_t end = text_.find(quote, offset_ + 1);
        if (end == std::string_view::npos) {
            result_ += kMask;
            offset_ = text_.size();
            return;
        }
        result_ += text_.substr(offset_, end + 1 - offset_);
        offset_ = end + 1;
    }

    std::string_view text_;
    std::size_t offset_ = 0;
    std::string result_;
};

}  // namespace

std::string without_strings(std::string_view text) {
    return Masking(text).run();
}

}  // namespace baton::sql
