// Placeholders are the positions of a statement's parameters in its text.
#pragma once

#include <string_view>

namespace baton::server_sql {

// Calls text(part) and parameter() in turn, for each `?` outside of strings, names and comments.
template <class OnText, class OnParameter>
void at_placeholders(std::string_view sql, const OnText& text, const OnParameter& parameter) {
    char inside = 0;  // a quote, or '-' for a comment
    std::size_t start = 0;
    for (std::size_t i = 0; i < sql.size(); ++i) {
        const char c = sql[i];
        if (inside == 0 && c == '?') {
            text(sql.substr(start, i - start));
            parameter();
            start = i + 1;
        } else if (inside == '-') {
            if (c == '\n') inside = 0;
        } else if (inside != 0) {
            if (c == inside) inside = 0;
        } else if (c == '\'' || c == '"') {
            inside = c;
        } else if (c == '-' && i + 1 < sql.size() && sql[i + 1] == '-') {
            inside = '-';
        }
    }
    text(sql.substr(start));
}

}  // namespace baton::server_sql
