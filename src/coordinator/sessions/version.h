// The version of this program.
#pragma once

#include <string_view>

namespace baton::coordinator {

inline constexpr std::string_view kVersion = "baton 0.1.0";

}  // namespace baton::coordinator
