// Memory, as the operating system counts it.
#pragma once

#include <cstddef>

namespace baton {

// Bytes that this process has in memory now.
[[nodiscard]] std::size_t resident_bytes();

}  // namespace baton
