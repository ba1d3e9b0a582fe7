// The text that a shell is given: where its statements end, which of them belong together, and
// whether it may be kept.
//
// Pure: nothing is run.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "sql/ast.h"

namespace baton::shell {

// A part of a text: [begin, end).
struct Part {
    std::size_t begin = 0;
    std::size_t end = 0;
};

// The text cut behind each `;` that stands outside of strings, names and comments. Works on any
// bytes.
[[nodiscard]] std::vector<Part> cut_at_semicolons(std::string_view text);

// Whether the text ends outside of strings, names and comments with a `;`: ready to be run.
[[nodiscard]] bool is_complete(std::string_view text);

// Statements of a text that run together: BEGIN to COMMIT, or one statement.
[[nodiscard]] std::vector<Part> groups_of(std::string_view text,
                                          const std::vector<sql::Statement>& statements);

// Whether the text may be written to the history file: no secret is in it, as far as can be known.
[[nodiscard]] bool may_be_kept(std::string_view text);

// A name as the catalog has it: in upper case, unless it was typed in quotes.
[[nodiscard]] std::string name_as_typed(std::string_view typed);

// The place with this offset.
[[nodiscard]] Position position_at(std::string_view text, std::size_t offset);

}  // namespace baton::shell
