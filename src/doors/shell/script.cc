#include "doors/shell/script.h"

#include <algorithm>

#include "base/text.h"
#include "coordinator/statements/bind.h"
#include "sql/parser.h"
#include "sql/printer.h"
#include "sql/vocabulary.h"

namespace baton::shell {

namespace {

// Reads a text byte by byte and knows what it is in.
class Scanner {
public:
    // True if this byte is a `;` that ends a statement.
    bool take(char c) {
        const char before = before_;
        before_ = c;
        if (inside_ == '-') {
            if (c == '\n') inside_ = 0;
            return false;
        }
        if (inside_ == '*') return in_comment(c, before);
        if (inside_ != 0) return in_quotes(c);
        if (c == '-' && before == '-') {
            inside_ = '-';
        } else if (c == '*' && before == '/') {
            inside_ = '*';
            depth_ = 1;
            before_ = 0;
        } else if (c == '\'' || c == '"' || c == '`') {
            inside_ = c;
        }
        return c == ';';
    }
    [[nodiscard]] bool inside_something() const { return inside_ != 0 && inside_ != '-'; }

private:
    bool in_comment(char c, char before) {
        if (c == '/' && before == '*') {
            before_ = 0;
            if (--depth_ == 0) inside_ = 0;
        } else if (c == '*' && before == '/') {
            before_ = 0;
            depth_ += 1;
        }
        return false;
    }
    bool in_quotes(char c) {
        if (escaped_) {
            escaped_ = false;
        } else if (c == '\\' && inside_ == '\'') {
            escaped_ = true;
        } else if (c == inside_) {
            inside_ = 0;
        }
        return false;
    }

    char inside_ = 0;  // the quote we are in, '-' or '*' for a comment
    int depth_ = 0;    // of /* */
    char before_ = 0;
    bool escaped_ = false;
};

// How many statements from `at` on are run together.
std::size_t end_of_group(const std::vector<sql::Statement>& statements, std::size_t at) {
    if (!std::holds_alternative<sql::Begin>(statements[at].node)) return at + 1;
    for (std::size_t i = at + 1; i < statements.size(); ++i) {
        if (std::holds_alternative<sql::Commit>(statements[i].node)) return i + 1;
        if (!sql::changes_catalog(statements[i])) break;
    }
    return at + 1;
}

}  // namespace

std::vector<Part> cut_at_semicolons(std::string_view text) {
    std::vector<Part> parts;
    Scanner scanner;
    std::size_t begin = 0;
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (!scanner.take(text[i])) continue;
        parts.push_back({.begin = begin, .end = i + 1});
        begin = i + 1;
    }
    if (begin < text.size()) parts.push_back({.begin = begin, .end = text.size()});
    return parts;
}

bool is_complete(std::string_view text) {
    Scanner scanner;
    std::size_t end = 0;  // behind the last statement
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (scanner.take(text[i])) end = i + 1;
    }
    if (end == 0 || scanner.inside_something()) return false;
    const auto rest = sql::parse(text.substr(end));
    return rest && rest->empty();  // spaces and comments
}

std::vector<Part> groups_of(std::string_view text, const std::vector<sql::Statement>& statements) {
    std::vector<Part> groups;
    for (std::size_t at = 0; at < statements.size();) {
        const std::size_t end = end_of_group(statements, at);
        groups.push_back(
            {.begin = statements[at].at.offset,
             .end = end < statements.size() ? statements[end].at.offset : text.size()});
        at = end;
    }
    return groups;
}

bool may_be_kept(std::string_view text) {
    const auto statements = sql::parse(text);
    if (!statements) return sql::without_literals(text) == text;
    return std::all_of(statements->begin(), statements->end(), [](const sql::Statement& s) {
        return coordinator::without_secrets(s) == sql::print(s);
    });
}

std::string name_as_typed(std::string_view typed) {
    const bool quoted = typed.size() >= 2 && (typed.front() == '"' || typed.front() == '`') &&
                        typed.back() == typed.front();
    return quoted ? std::string(typed.substr(1, typed.size() - 2)) : to_upper(typed);
}

Position position_at(std::string_view text, std::size_t offset) {
    const std::string_view before = text.substr(0, offset);
    const std::size_t line_start = before.rfind('\n') + 1;  // npos + 1 is 0
    return {.offset = static_cast<std::uint32_t>(offset),
            .line = static_cast<std::uint32_t>(std::count(before.begin(), before.end(), '\n') + 1),
            .column = static_cast<std::uint32_t>(before.size() - line_start + 1)};
}

}  // namespace baton::shell
