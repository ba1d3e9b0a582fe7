// What this process holds, to see that clients leave nothing behind.
#pragma once

#include <cstddef>
#include <string>

namespace baton {

struct Footprint {
    std::size_t descriptors = 0;
    std::size_t threads = 0;
    std::size_t resident_bytes = 0;  // after what is free was given back to the system

    [[nodiscard]] static Footprint now();
};

// Descriptors that the catalog may open meanwhile to read with, and keeps.
inline constexpr std::size_t kReaderDescriptors = 12;

// Sanitizers keep what was freed for a while: memory then says nothing.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr bool kMemoryIsWatched = true;
#else
inline constexpr bool kMemoryIsWatched = false;
#endif

[[nodiscard]] std::string to_string(const Footprint& footprint);

}  // namespace baton
