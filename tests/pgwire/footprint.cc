#include "pgwire/footprint.h"

#include <filesystem>
#include <fstream>
#include <iterator>

#include <malloc.h>
#include <unistd.h>

namespace baton {

namespace {

std::size_t entries_in(const char* directory) {
    const std::filesystem::directory_iterator all(directory);
    return static_cast<std::size_t>(std::distance(begin(all), end(all)));
}

}  // namespace

Footprint Footprint::now() {
    ::malloc_trim(0);
    std::ifstream statm("/proc/self/statm");
    std::size_t size = 0;
    std::size_t resident = 0;
    statm >> size >> resident;
    return {.descriptors = entries_in("/proc/self/fd"),
            .threads = entries_in("/proc/self/task"),
            .resident_bytes = resident * static_cast<std::size_t>(::sysconf(_SC_PAGESIZE))};
}

std::string to_string(const Footprint& footprint) {
    return std::to_string(footprint.descriptors) + " descriptors, " +
           std::to_string(footprint.threads) + " threads, " +
           std::to_string(footprint.resident_bytes >> 10U) + " KB";
}

}  // namespace baton
