#include "adapters/system/descriptors.h"

#include <algorithm>

#include <sys/resource.h>

namespace baton::system {

namespace {

constexpr std::size_t kKeptMin = 128;
constexpr std::size_t kKeptShare = 4;
constexpr std::size_t kDoorMin = 16;           // or nobody could come in at all
constexpr std::size_t kUnlimited = 1'000'000;  // what a process could use

}  // namespace

std::size_t raise_descriptor_limit() {
    rlimit limit{};
    if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return 1'024;
    rlimit raised{.rlim_cur = limit.rlim_max, .rlim_max = limit.rlim_max};
    if (::setrlimit(RLIMIT_NOFILE, &raised) != 0) raised = limit;
    return std::min<std::size_t>(raised.rlim_cur, kUnlimited);
}

DoorShares door_shares(std::size_t limit, std::size_t first, std::size_t second) {
    const std::size_t kept = std::max(kKeptMin, limit / kKeptShare);
    const std::size_t free = std::max(limit - std::min(limit, kept), 2 * kDoorMin);
    const auto share = [&](std::size_t wanted, std::size_t other) {
        const std::size_t left = free - std::min(other, free / 2);
        return std::min(wanted, left);
    };
    return {.first = share(first, second), .second = share(second, first)};
}

}  // namespace baton::system
