#include "adapters/system/system_clock.h"

#include <chrono>

#include <time.h>

#include "base/check.h"

namespace baton::system {

Instant SystemClock::now() const {
    timespec time{};
    CHECK(clock_gettime(CLOCK_BOOTTIME, &time) == 0);
    const auto since_boot =
        std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec);
    return Instant(std::chrono::duration_cast<Duration>(since_boot));
}

WallTime SystemClock::wall_now() const {
    const auto since_1970 = std::chrono::system_clock::now().time_since_epoch();
    return WallTime(std::chrono::duration_cast<Duration>(since_1970));
}

}  // namespace baton::system
