// SleepClock is a clock whose time passes only while something sleeps by it, for calls to stores
// that wait. Any thread.
#pragma once

#include <atomic>
#include <cstdint>

#include "base/time.h"
#include "ports/clock.h"

namespace baton::testing {

class SleepClock : public Clock {
public:
    [[nodiscard]] Instant now() const override { return at(Duration(now_us_.load())); }
    [[nodiscard]] WallTime wall_now() const override { return WallTime(Duration(now_us_.load())); }
    void sleep(Duration time) { now_us_ += time.count(); }

private:
    std::atomic<std::int64_t> now_us_ = 1'000'000;
};

}  // namespace baton::testing
