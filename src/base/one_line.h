// Text of others, such as messages of a library, on one line.
#pragma once

#include <string>
#include <string_view>

namespace baton {

// White space, however much of it, is one space between words.
[[nodiscard]] inline std::string one_line(std::string_view text) {
    std::string line;
    for (const char c : text) {
        const bool space = c == '\n' || c == '\t' || c == '\r' || c == ' ';
        if (!space) line += c;
        if (space && !line.empty() && line.back() != ' ') line += ' ';
    }
    while (line.ends_with(' ')) line.pop_back();
    return line;
}

}  // namespace baton
