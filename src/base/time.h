// Instant is a point on this process's monotonic clock, WallTime one on the calendar. The core
// takes the time as an argument; it never reads a clock.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace baton {

using Duration = std::chrono::microseconds;

// Clocks without now(): a clock that can be read is a clock that can be read from the wrong place.
template <class Tag>
struct ToldClock {
    using duration = Duration;
    using rep = duration::rep;
    using period = duration::period;
    using time_point = std::chrono::time_point<ToldClock>;
};

using Instant = ToldClock<struct MonotonicTag>::time_point;
using WallTime = ToldClock<struct CalendarTag>::time_point;  // since 1970-01-01 UTC

constexpr Instant at(Duration since_start) {
    return Instant(since_start);
}

// "2026-11-15T09:46:16.123456Z"
[[nodiscard]] std::string to_string(WallTime time);
// The reverse; none if the text is not of exactly that form.
[[nodiscard]] std::optional<WallTime> wall_time_of(std::string_view text);

}  // namespace baton
