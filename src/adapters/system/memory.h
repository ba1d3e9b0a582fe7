// Memory, as the operating system counts it.
#pragma once

#include <cstddef>

namespace baton {

// What was freed but kept for later goes back to the system. Takes some milliseconds for every
// hundred megabytes that are in use.
void give_back_memory();

// Bytes that this process has in memory now.
[[nodiscard]] std::size_t resident_bytes();

}  // namespace baton
