// Small operations on words that messages need everywhere.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace baton {

[[nodiscard]] std::string to_upper(std::string_view text);  // ASCII only; other bytes are kept
[[nodiscard]] std::string to_lower(std::string_view text);
[[nodiscard]] bool equal_ignoring_case(std::string_view a, std::string_view b);
[[nodiscard]] std::string join(std::span<const std::string> words, std::string_view separator);

// `"name"` for a message; a quote inside is doubled.
[[nodiscard]] std::string in_quotes(std::string_view name);

// The text as a JSON string, with its quotes. Bytes beyond ASCII are kept.
void append_json_string(std::string& to, std::string_view text);

// The known word nearest to `word`, ignoring case, if it is near enough to be a slip of the
// keyboard: at most a third of its letters differ. Empty if none is.
[[nodiscard]] std::string nearest(std::string_view word, std::span<const std::string> known);

// `did you mean "X"?`, or nothing.
[[nodiscard]] std::string did_you_mean(std::string_view word, std::span<const std::string> known);

// "Q1, Q7 and 3 more": names at most `shown` of the words.
[[nodiscard]] std::string enumerate(std::span<const std::string> words, std::size_t shown = 10);

}  // namespace baton
