// A check that bytes are valid UTF-8.
#pragma once

#include <string_view>

namespace baton::formats {

[[nodiscard]] bool is_utf8(std::string_view text);

}  // namespace baton::formats
