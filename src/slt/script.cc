#include "slt/script.h"

#include <algorithm>
#include <cctype>

#include "base/text.h"

namespace baton::slt {

namespace {

std::string trimmed(std::string_view text) {
    const auto from = text.find_first_not_of(" \t\r");
    if (from == std::string_view::npos) return {};
    return std::string(text.substr(from, text.find_last_not_of(" \t\r") - from + 1));
}

bool begins_with_word(std::string_view line, std::string_view word) {
    if (line.size() < word.size()) return false;
    for (std::size_t i = 0; i < word.size(); ++i) {
        if (std::toupper(static_cast<unsigned char>(line[i])) != word[i]) return false;
    }
    return line.size() == word.size() ||
           std::isalnum(static_cast<unsigned char>(line[word.size()])) == 0;
}

// Follows a statement over its lines, to find the semicolon that ends it.
class StatementEnd {
public:
    // Where in this line the statement ends, if it does: behind its semicolon.
    std::optional<std::size_t> takes(std::string_view line) {
        for (std::size_t i = 0; i < line.size(); ++i) {
            const char c = line[i];
            const bool pair = i + 1 < line.size();
            if (comment_) {
                if (c == '*' && pair && line[i + 1] == '/') comment_ = false;
                continue;
            }
            if (quote_ != 0) {
                if (c == quote_) quote_ = 0;
                continue;
            }
            if (c == '-' && pair && line[i + 1] == '-') break;
            if (c == '/' && pair && line[i + 1] == '*') comment_ = true;
            if (c == '\'' || c == '"') quote_ = c;
            if (c == ';') return i + 1;
        }
        return std::nullopt;
    }

private:
    char quote_ = 0;
    bool comment_ = false;
};

class ScriptReader {
public:
    explicit ScriptReader(std::string_view text) {
        for (std::size_t from = 0; from <= text.size();) {
            const std::size_t end = std::min(text.find('\n', from), text.size());
            lines_.emplace_back(text.substr(from, end - from));
            if (!lines_.back().empty() && lines_.back().back() == '\r') lines_.back().pop_back();
            from = end + 1;
        }
    }

    Result<Script> read() {
        while (at_ < lines_.size()) {
            const std::string line = trimmed(lines_[at_]);
            const bool comment =
                line.starts_with('#') || (line.starts_with("--") && line != "----");
            const bool nothing = line.find_first_not_of("; ") == std::string::npos;
            if (nothing || comment) {
                at_ += 1;
                continue;
            }
            TRY(read_line(line));
        }
        return std::move(script_);
    }

private:
    [[nodiscard]] Error wrong(const std::string& what) const {
        const auto line = static_cast<std::uint32_t>(at_ + 1);
        return Error{.code = ErrorCode::syntax,
                     .message = what,
                     .at = Position{.offset = 0, .line = line, .column = 1}};
    }

    Result<Done> read_line(const std::string& line) {
        if (begins_with_word(line, "GLOBALCONFIGURATION") ||
            begins_with_word(line, "CONFIGURATION") || line == "SEQUENTIAL_EXECUTION") {
            script_.notes.push_back(line);
            at_ += 1;
            return Done{};
        }
        if (begins_with_word(line, "ATTACH")) return read_attach(line);
        if (line == "----") return read_expectation();
        if (line == "====") return read_same();
        Item item{.line = at_ + 1, .statement = {}, .attached = {}, .expected = {}};
        TRY_ASSIGN(statement, read_statement());
        item.statement = std::move(statement);
        script_.items.push_back(std::move(item));
        return Done{};
    }

    Result<std::string> read_statement() {
        std::string statement;
        StatementEnd end;
        for (const std::size_t first = at_; at_ < lines_.size(); ++at_) {
            std::string& line = lines_[at_];
            const std::string content = trimmed(line);
            if (content == "----" || content == "====") break;
            if (content.starts_with('#')) continue;
            const auto ended = end.takes(line);
            statement += (at_ == first ? "" : "\n") + line.substr(0, ended.value_or(line.size()));
            if (!ended) continue;
            line.erase(0, *ended);  // another one may follow
            if (trimmed(line).empty()) at_ += 1;
            return statement;
        }
        return wrong("a statement does not end with a semicolon");
    }

    [[nodiscard]] Result<Item*> last(const char* what, bool expected) {
        if (script_.items.empty()) return wrong(std::string(what) + " without a statement");
        Item& item = script_.items.back();
        if (expected ? item.expected.has_value() : item.attached.has_value()) {
            return wrong(std::string("a second ") + what + " for the same statement");
        }
        return &item;
    }

    std::vector<std::string> block() {
        std::vector<std::string> rows;
        for (; at_ < lines_.size() && !trimmed(lines_[at_]).empty(); ++at_) {
            rows.push_back(lines_[at_]);
        }
        return rows;
    }

    Result<Done> read_attach(const std::string& line) {
        TRY_ASSIGN(item, last("ATTACH", false));
        std::string what = trimmed(std::string_view(line).substr(6));
        while (!what.empty() && (what.back() == ';' || what.back() == ' ')) what.pop_back();
        if (begins_with_word(what, "INLINE")) {
            at_ += 1;
            item->attached = Attach{.file = {}, .rows = block()};
            return Done{};
        }
        if (!begins_with_word(what, "FILE")) return wrong("ATTACH takes INLINE or FILE");
        const std::string path = trimmed(std::string_view(what).substr(4));
        if (path.empty()) return wrong("ATTACH FILE without a path");
        item->attached = Attach{.file = path, .rows = {}};
        at_ += 1;
        return Done{};
    }

    Result<Done> read_same() {
        TRY_ASSIGN(item, last("expectation", true));
        at_ += 1;
        while (at_ < lines_.size() && trimmed(lines_[at_]).empty()) at_ += 1;
        ExpectSame same{.query = {}, .line = at_ + 1};
        TRY_ASSIGN(query, read_statement());
        same.query = std::move(query);
        item->expected = std::move(same);
        return Done{};
    }

    Result<Done> read_expectation() {
        TRY_ASSIGN(item, last("expectation", true));
        at_ += 1;
        const std::string first = at_ < lines_.size() ? trimmed(lines_[at_]) : "";
        if (begins_with_word(first, "ERROR")) {
            const std::string rest = trimmed(std::string_view(first).substr(5));
            const std::size_t digits = std::min(rest.find_first_not_of("0123456789"), rest.size());
            if (digits == 0 || digits > 5) return wrong("ERROR without a number");
            item->expected =
                ExpectError{.code = static_cast<unsigned>(std::stoul(rest.substr(0, digits)))};
            (void)block();
            return Done{};
        }
        if (begins_with_word(trimmed(item->statement), "EXPLAIN")) return read_explained(*item);
        item->expected = ExpectRows{.rows = block()};
        return Done{};
    }

    Result<Done> read_explained(Item& item) {
        std::string text;
        for (; at_ < lines_.size(); ++at_) {
            if (trimmed(lines_[at_]) == "==END==") {
                at_ += 1;
                break;
            }
            const bool patterns = text.find("REGEX>") != std::string::npos;
            if (patterns && trimmed(lines_[at_]).empty()) break;
            text += lines_[at_] + "\n";
        }
        if (text.find("REGEX>") == std::string::npos) {
            item.expected = ExpectText{.text = text};
            return Done{};
        }
        return read_patterns(item, text);
    }

    Result<Done> read_patterns(Item& item, const std::string& text) {
        ExpectPattern expected;
        for (std::size_t from = 0;;) {
            const std::size_t open = text.find('<', from);
            if (open == std::string::npos) break;
            const bool matches = text.compare(open, 7, "<REGEX>") == 0;
            const bool differs = text.compare(open, 8, "<!REGEX>") == 0;
            if (!matches && !differs) {
                from = open + 1;
                continue;
            }
            const std::string close = matches ? "</REGEX>" : "</!REGEX>";
            const std::size_t begin = open + (matches ? 7 : 8);
            const std::size_t end = text.find(close, begin);
            if (end == std::string::npos) return wrong("a pattern does not end with " + close);
            expected.patterns.push_back(
                {.regex = text.substr(begin, end - begin), .matches = matches});
            from = end + close.size();
        }
        item.expected = std::move(expected);
        return Done{};
    }

    std::vector<std::string> lines_;
    std::size_t at_ = 0;
    Script script_;
};

}  // namespace

Result<Script> read_script(std::string_view text) {
    return ScriptReader(text).read();
}

}  // namespace baton::slt
