// Memory, as the operating system counts it.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <thread>

namespace baton::system {

// Bytes that this process has in memory now.
[[nodiscard]] std::size_t resident_bytes();

// Bytes that this process may have: those of the machine, or fewer if its control group, or one
// around that, has a limit.
[[nodiscard]] std::uint64_t available_bytes();

// Gives memory that was freed back to the system: the allocator has a pool for every few threads,
// keeps up to 64 MB at the end of each and everything before that, so a few large requests, each on
// another thread, would be held for good. It bounds the pools and their ends for the rest of the
// life of the process, and while it lives returns what is free before the ends.
//
// Threads: one of its own, which looks every second and costs some microseconds each time. It is
//          made before the other threads of the process.
class HeapKeeper {
public:
    HeapKeeper();
    ~HeapKeeper();
    HeapKeeper(const HeapKeeper&) = delete;
    HeapKeeper& operator=(const HeapKeeper&) = delete;

private:
    void run();
    void look();

    std::size_t floor_ = 0;  // unused bytes that cannot be given back
    std::mutex mutex_;
    std::condition_variable wakes_;
    bool leaves_ = false;
    std::thread thread_;
};

}  // namespace baton::system
