#include "adapters/system/memory.h"

#include <algorithm>
#include <chrono>
#include <fstream>
#include <string>

#include <malloc.h>
#include <unistd.h>

namespace baton::system {

namespace {

constexpr auto kBetweenLooks = std::chrono::seconds(1);
constexpr std::size_t kWorthwhile = std::size_t{16} << 20U;
constexpr int kPoolsMax = 8;
constexpr int kEndMax =
    4 << 20;  // bytes that are free at the end of a pool, and of one block in it

// In memory, and not in use by what was allocated.
std::size_t unused_bytes() {
    const auto heap = ::mallinfo2();
    const std::size_t resident = resident_bytes();
    return resident - std::min(resident, heap.uordblks + heap.hblkhd);
}

}  // namespace

std::size_t resident_bytes() {
    std::ifstream file("/proc/self/statm");
    std::size_t pages = 0;
    std::size_t resident = 0;
    file >> pages >> resident;
    return resident * static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
}

std::uint64_t available_bytes() {
    auto least = static_cast<std::uint64_t>(::sysconf(_SC_PHYS_PAGES)) *
                 static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
    std::ifstream groups("/proc/self/cgroup");
    std::string group;  // "0::/system.slice/baton.service"
    while (std::getline(groups, group) && group.rfind("0::", 0) != 0) group.clear();
    for (group.erase(0, 3);; group.erase(group.rfind('/'))) {
        std::uint64_t most = 0;  // "max" is no number
        std::ifstream file("/sys/fs/cgroup" + group + "/memory.max");
        if (file >> most) least = std::min(least, most);
        if (group.rfind('/') == std::string::npos) return least;
    }
}

HeapKeeper::HeapKeeper() {
    ::mallopt(M_ARENA_MAX, kPoolsMax);
    ::mallopt(M_TRIM_THRESHOLD, kEndMax);
    ::mallopt(M_MMAP_THRESHOLD, kEndMax);
    floor_ = unused_bytes();
    thread_ = std::thread([this] { run(); });
}

HeapKeeper::~HeapKeeper() {
    {
        const std::lock_guard lock(mutex_);
        leaves_ = true;
    }
    wakes_.notify_all();
    thread_.join();
}

void HeapKeeper::run() {
    std::unique_lock lock(mutex_);
    while (!wakes_.wait_for(lock, kBetweenLooks, [&] { return leaves_; })) look();
}

void HeapKeeper::look() {
    const std::size_t unused = unused_bytes();
    floor_ = std::min(floor_, unused);
    if (unused < floor_ + kWorthwhile) return;
    (void)::malloc_trim(0);
    floor_ = unused_bytes();
}

}  // namespace baton::system
