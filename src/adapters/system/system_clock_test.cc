#include "adapters/system/system_clock.h"

#include <chrono>

#include <gtest/gtest.h>

namespace baton::system {
namespace {

TEST(SystemClock, NeverGoesBack) {
    const SystemClock clock;
    Instant last = clock.now();
    for (int i = 0; i < 10'000; ++i) {
        const Instant now = clock.now();
        ASSERT_GE(now, last);
        last = now;
    }
}

TEST(SystemClock, TellsTheTimeOfDaySince1970) {
    const SystemClock clock;
    const auto now = std::chrono::system_clock::now().time_since_epoch();
    const auto told = clock.wall_now().time_since_epoch();
    EXPECT_LT(std::chrono::abs(told - now), std::chrono::minutes(1));
}

}  // namespace
}  // namespace baton::system
