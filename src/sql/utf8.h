// One step through text that ought to be UTF-8.
#pragma once

#include <cstddef>
#include <string_view>

namespace baton::sql {

// The length in bytes of the character that begins at `from`, or 0 if none does: a stray or missing
// continuation, an overlong form, a surrogate, or a value over U+10FFFF. `from` is within the text.
[[nodiscard]] std::size_t character_length(std::string_view text, std::size_t from);

}  // namespace baton::sql
