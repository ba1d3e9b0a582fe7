// File descriptors: how many this process may have, and how many of them the doors may give away.
#pragma once

#include <cstddef>

namespace baton::system {

// Raises the limit of this process to the most that it may set for itself, and returns it.
std::size_t raise_descriptor_limit();

// How many connections two doors may hold, each as many as it wants if there are enough.
struct DoorShares {
    std::size_t first = 0;
    std::size_t second = 0;
};

// Of `limit` descriptors a quarter, and never fewer than 128, are kept for the catalog, workers and
// files. A door that wants less than half of the rest leaves what it does not want to the other.
[[nodiscard]] DoorShares door_shares(std::size_t limit, std::size_t first, std::size_t second);

}  // namespace baton::system
