// Completions of a text that is being typed, for the Tab key.
//
// Pure: the names that there are come from the caller.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "sql/ast.h"

namespace baton::shell {

// The names of entities of a kind that has names; asked for only where one may stand.
using NamesOf = std::function<std::vector<std::string>(sql::EntityKind)>;

// Words that may be at the end of `text` instead of its last word, which is their beginning; in
// lower case if that is, and sorted. The last word is what follows the last space or one of
// ( ) , ; = < >.
[[nodiscard]] std::vector<std::string> completions(std::string_view text, const NamesOf& names);

// Where the last word begins.
[[nodiscard]] std::size_t last_word(std::string_view text);

}  // namespace baton::shell
