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

[[nodiscard]] std::string to_string(const Footprint& footprint);

}  // namespace baton
