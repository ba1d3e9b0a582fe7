// Hides what may be secret in text that could not be parsed; so it must not rely on the grammar.
#include <algorithm>
#include <cctype>
#include <string>
#include <vector>

#include "base/text.h"
#include "sql/parser.h"

namespace baton::sql {

namespace {

constexpr std::string_view kHidden = "***";

bool is_word(char c) {
    const auto byte = static_cast<unsigned char>(c);
    return std::isalnum(byte) != 0 || c == '_' || byte >= 0x80;
}
bool is_blank(char c) {
    return std::isspace(static_cast<unsigned char>(c)) != 0;
}
bool is_number_start(char c) {
    return c >= '0' && c <= '9';
}

// What a text in these quotes says: a quote that is doubled or escaped stands for itself.
std::string said(std::string_view quoted, char quote) {
    std::string text;
    for (std::size_t i = 0; i < quoted.size(); ++i) {
        const bool more = i + 1 < quoted.size();
        const bool doubled = more && quoted[i] == quote && quoted[i + 1] == quote;
        const bool escaped =
            more && quoted[i] == '\\' && (quoted[i + 1] == quote || quoted[i + 1] == '\\');
        if (doubled || escaped) i += 1;
        text += quoted[i];
    }
    return text;
}

class Masking {
public:
    enum class What : std::uint8_t {
        strings,     // in single quotes
        everything,  // that is quoted, a number, a comment, or the user of a URI
    };
    Masking(std::string_view text, What what) : text_(text), what_(what) {
        result_.reserve(text.size());
    }

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
            } else if (what_ == What::strings || !hide_more(rest)) {
                result_ += text_[offset_++];
            }
        }
        return std::move(result_);
    }

    // What was replaced, as it was written and as it was meant.
    [[nodiscard]] std::vector<std::string> take_hidden() { return std::move(hidden_); }

private:
    void note(std::string_view written, char quote = '\0') {
        hidden_.emplace_back(written);
        if (quote == '\0') return;
        if (std::string meant = said(written, quote); meant != written) {
            hidden_.push_back(std::move(meant));
        }
    }
    void hide(std::string_view open, std::string_view close) {
        result_ += open;
        result_ += kHidden;
        result_ += close;
    }

    // A string of the dialect, or its beginning if it does not end before `end`.
    void string(std::size_t end) {
        const std::size_t from = ++offset_;
        std::size_t to = end;
        while (offset_ < end) {
            const char c = text_[offset_];
            const char after = offset_ + 1 < end ? text_[offset_ + 1] : '\0';
            const bool escape =
                (c == '\\' && (after == '\'' || after == '\\')) || (c == '\'' && after == '\'');
            if (c == '\'' && !escape) to = offset_;
            offset_ += escape ? 2 : 1;
            if (c == '\'' && !escape) break;
        }
        note(text_.substr(from, to - from), '\'');
        hide("'", "'");
    }

    // Comments may hold statements that were commented out.
    void comment(std::size_t end) {
        if (what_ == What::everything) {
            const bool line = text_[offset_] == '-';
            note(text_.substr(offset_, end - offset_));
            hide(line ? "-- " : "/* ", line ? "" : " */");
            offset_ = end;
            return;
        }
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
            note(text_.substr(offset_ + 1), quote);
            hide("'", "'");
            offset_ = text_.size();
            return;
        }
        if (what_ == What::everything) {
            note(text_.substr(offset_ + 1, end - offset_ - 1), quote);
            hide(std::string_view(&quote, 1), std::string_view(&quote, 1));
        } else {
            result_ += text_.substr(offset_, end + 1 - offset_);
        }
        offset_ = end + 1;
    }

    // ---- everything -------------------------------------------------------------------------

    // True: what `rest` begins with was hidden, or taken over whole.
    bool hide_more(std::string_view rest) {
        if (rest.starts_with("://")) return user_of_uri();
        if (rest.front() == '$') return dollar_quoted();
        if (rest.starts_with("\xe2\x80")) return typographic_quote();
        if (is_word(rest.front())) return word();
        return false;
    }

    // What stands before the last @ of a URI.
    bool user_of_uri() {
        constexpr std::string_view kEnds = " \t\r\n\f\v'\"`,;()";
        const std::size_t from = offset_ + 3;
        const std::size_t end = std::min(text_.find_first_of(kEnds, from), text_.size());
        const std::size_t at = text_.substr(0, end).rfind('@');
        if (at == std::string_view::npos || at < from) return false;
        note(text_.substr(from, at - from));
        hide("://", "");
        offset_ = at;
        return true;
    }

    // $$..$$ and $tag$..$tag$; not $1.
    bool dollar_quoted() {
        std::size_t end = offset_ + 1;
        while (end < text_.size() && is_word(text_[end])) end += 1;
        const bool tag = end < text_.size() && text_[end] == '$';
        if (!tag) {  // a parameter, or nothing that is known: taken over, so that it is no number
            result_ += text_.substr(offset_, end - offset_);
            offset_ = end;
            return true;
        }
        const std::string_view quote = text_.substr(offset_, end + 1 - offset_);
        const std::size_t from = end + 1;
        const std::size_t close = std::min(text_.find(quote, from), text_.size());
        note(text_.substr(from, close - from));
        hide("'", "'");
        offset_ = std::min(close + quote.size(), text_.size());
        return true;
    }

    // U+2018 to U+201F: what a word processor makes of quotes.
    bool typographic_quote() {
        const auto is_quote = [&](std::size_t at) {
            if (at + 2 >= text_.size() || text_.substr(at, 2) != "\xe2\x80") return false;
            const auto last = static_cast<unsigned char>(text_[at + 2]);
            return last >= 0x98 && last <= 0x9f;
        };
        if (!is_quote(offset_)) return false;
        const std::size_t from = offset_ + 3;
        std::size_t close = from;
        while (close < text_.size() && !is_quote(close)) close += 1;
        note(text_.substr(from, close - from));
        hide("'", "'");
        offset_ = std::min(close + 3, text_.size());
        return true;
    }

    // A number is hidden; so is a word that stands where a value of a setting does, without quotes.
    bool word() {
        std::size_t end = offset_;
        const bool number = is_number_start(text_[offset_]);
        while (end < text_.size() && (is_word(text_[end]) || (number && text_[end] == '.')) &&
               (end == offset_ || text_.substr(end, 2) != "\xe2\x80")) {
            end += 1;
        }
        const std::string_view word = text_.substr(offset_, end - offset_);
        offset_ = end;
        if (number || is_value(end)) {
            constexpr std::size_t kTellsMuch = 4;  // less is found in any message
            if (word.size() >= kTellsMuch) {
                note(word);
                note(to_upper(word));
            }
            hide("", "");
        } else {
            result_ += word;
        }
        return true;
    }

    // Whether `AS a.b` follows.
    [[nodiscard]] bool is_value(std::size_t at) const {
        const auto skip = [&](auto is) {
            while (at < text_.size() && is(text_[at])) at += 1;
        };
        skip(is_blank);
        if (!equal_ignoring_case(text_.substr(at, 2), "AS")) return false;
        at += 2;
        if (at >= text_.size() || !is_blank(text_[at])) return false;
        skip(is_blank);
        const std::size_t name = at;
        skip(is_word);
        return at > name && at < text_.size() && text_[at] == '.';
    }

    std::string_view text_;
    const What what_;
    std::size_t offset_ = 0;
    std::string result_;
    std::vector<std::string> hidden_;
};

}  // namespace

std::string without_strings(std::string_view text) {
    return Masking(text, Masking::What::strings).run();
}

std::string without_literals(std::string_view text) {
    return Masking(text, Masking::What::everything).run();
}

namespace {

// Whether `at` is where a word ends or begins, or the text between is none.
bool is_edge(std::string_view text, std::size_t at) {
    return at == 0 || at >= text.size() || !is_word(text[at - 1]) || !is_word(text[at]);
}

std::string replaced_whole(std::string message, std::string_view secret) {
    for (std::size_t at = message.find(secret); at != std::string::npos;
         at = message.find(secret, at)) {
        if (is_edge(message, at) && is_edge(message, at + secret.size())) {
            message.replace(at, secret.size(), kHidden);
            at += kHidden.size();
        } else {
            at += 1;
        }
    }
    return message;
}

// Of what stands in quotes in the message, whatever is a part of a secret: messages cut what is too
// long, and quote the part that they are about.
std::string without_parts(const std::string& message, const std::vector<std::string>& secrets) {
    std::string result;
    for (std::size_t at = 0; at < message.size();) {
        const char quote = message[at];
        const std::size_t end =
            quote == '"' || quote == '\'' ? message.find(quote, at + 1) : std::string::npos;
        if (end == std::string::npos) {
            result += message[at++];
            continue;
        }
        std::string_view quoted = std::string_view(message).substr(at + 1, end - at - 1);
        result += quote;
        if (quoted.ends_with("...")) quoted.remove_suffix(3);
        const bool secret =
            !quoted.empty() && std::any_of(secrets.begin(), secrets.end(), [&](const auto& one) {
                return one.find(quoted) != std::string::npos;
            });
        result += secret ? kHidden : std::string_view(message).substr(at + 1, end - at - 1);
        result += quote;
        at = end + 1;
    }
    return result;
}

}  // namespace

std::string without_literals_of(std::string_view text, std::string message) {
    constexpr std::size_t kLookedThrough = 65'536;  // more would cost too much
    if (text.size() > kLookedThrough) return without_literals(message);
    Masking masking(text, Masking::What::everything);
    (void)masking.run();
    std::vector<std::string> secrets = masking.take_hidden();
    std::erase_if(secrets, [](const std::string& one) { return one.empty(); });
    std::sort(secrets.begin(), secrets.end(),
              [](const auto& a, const auto& b) { return a.size() > b.size(); });
    for (const std::string& secret : secrets) {
        message = replaced_whole(std::move(message), secret);
    }
    return without_parts(message, secrets);
}

}  // namespace baton::sql
