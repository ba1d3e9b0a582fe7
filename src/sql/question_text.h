// Where the text of a question ends: at the next semicolon that is not within quotes, comments or
// parentheses of PostgreSQL's kind. Questions are in another grammar, so that Lexer cannot say.
#pragma once

#include <cstddef>
#include <string_view>

namespace baton::sql {

// The place of the semicolon behind `from`, or the end of the text. Works on any bytes.
[[nodiscard]] std::size_t question_end(std::string_view text, std::size_t from);

// The text without spaces around it.
[[nodiscard]] std::string_view trimmed(std::string_view text);

}  // namespace baton::sql
