#include "base/text.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdio>

namespace baton {

namespace {

char upper(char c) {
    return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
}

// The number of letters to insert, delete, replace or swap with a neighbour.
std::size_t distance(std::string_view a, std::string_view b) {
    std::vector<std::vector<std::size_t>> d(a.size() + 1, std::vector<std::size_t>(b.size() + 1));
    for (std::size_t i = 0; i <= a.size(); ++i) d[i][0] = i;
    for (std::size_t j = 0; j <= b.size(); ++j) d[0][j] = j;
    for (std::size_t i = 1; i <= a.size(); ++i) {
        for (std::size_t j = 1; j <= b.size(); ++j) {
            const bool same = upper(a[i - 1]) == upper(b[j - 1]);
            d[i][j] =
                std::min({d[i - 1][j] + 1, d[i][j - 1] + 1, d[i - 1][j - 1] + (same ? 0 : 1)});
            const bool swapped = i > 1 && j > 1 && upper(a[i - 1]) == upper(b[j - 2]) &&
                                 upper(a[i - 2]) == upper(b[j - 1]);
            if (swapped) d[i][j] = std::min(d[i][j], d[i - 2][j - 2] + 1);
        }
    }
    return d[a.size()][b.size()];
}

}  // namespace

std::string to_upper(std::string_view text) {
    std::string result(text);
    std::transform(result.begin(), result.end(), result.begin(), upper);
    return result;
}

std::string to_lower(std::string_view text) {
    std::string result(text);
    for (char& c : result) {
        if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    }
    return result;
}

bool equal_ignoring_case(std::string_view a, std::string_view b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                      [](char x, char y) { return upper(x) == upper(y); });
}

std::string join(std::span<const std::string> words, std::string_view separator) {
    std::string text;
    for (const std::string& word : words) {
        if (&word != words.data()) text += separator;
        text += word;
    }
    return text;
}

std::string in_quotes(std::string_view name) {
    std::string text = "\"";
    for (const char c : name) {
        if (c == '"') text += '"';
        text += c;
    }
    return text + "\"";
}

std::string nearest(std::string_view word, std::span<const std::string> known) {
    constexpr std::size_t kLengthMax = 64;  // longer words are not typed by hand
    if (word.empty() || word.size() > kLengthMax) return {};
    std::string best;
    std::size_t best_distance = std::max<std::size_t>(1, word.size() / 3) + 1;
    for (const std::string& candidate : known) {
        if (candidate.size() > word.size() + best_distance) continue;
        if (candidate.size() + best_distance < word.size()) continue;
        const std::size_t d = distance(word, candidate);
        if (d >= best_distance) continue;
        best_distance = d;
        best = candidate;
    }
    return best;
}

std::string did_you_mean(std::string_view word, std::span<const std::string> known) {
    const std::string near = nearest(word, known);
    return near.empty() ? std::string() : "did you mean " + in_quotes(near) + "?";
}

std::string enumerate(std::span<const std::string> words, std::size_t shown) {
    if (words.size() <= shown) return join(words, ", ");
    return join(words.first(shown), ", ") + " and " + std::to_string(words.size() - shown) +
           " more";
}

namespace {

void append_escaped(std::string& to, char c) {
    switch (c) {
        case '"':
            to += "\\\"";
            return;
        case '\\':
            to += "\\\\";
            return;
        case '\n':
            to += "\\n";
            return;
        case '\r':
            to += "\\r";
            return;
        case '\t':
            to += "\\t";
            return;
        default:
            break;
    }
    std::array<char, 8> escape{};
    (void)std::snprintf(escape.data(), escape.size(), "\\u%04x", static_cast<unsigned>(c));
    to += escape.data();
}

}  // namespace

void append_json_string(std::string& to, std::string_view text) {
    constexpr auto special = [](char c) {
        return static_cast<unsigned char>(c) < 0x20 || c == '"' || c == '\\';
    };
    to += '"';
    while (!text.empty()) {
        const auto plain = static_cast<std::size_t>(
            std::find_if(text.begin(), text.end(), special) - text.begin());
        to.append(text.substr(0, plain));
        if (plain == text.size()) break;
        append_escaped(to, text[plain]);
        text.remove_prefix(plain + 1);
    }
    to += '"';
}

}  // namespace baton
