#include "base/time.h"

#include <chrono>

#include <gtest/gtest.h>

namespace baton {
namespace {

using namespace std::chrono_literals;

TEST(WallTime, IsPrintedInUtcToTheMicrosecond) {
    EXPECT_EQ(to_string(WallTime{}), "1970-01-01T00:00:00.000000Z");
    EXPECT_EQ(to_string(WallTime(1'794'735'976s + 123'456us)), "2026-11-15T09:46:16.123456Z");
    EXPECT_EQ(to_string(WallTime(7us)), "1970-01-01T00:00:00.000007Z");
}

TEST(WallTime, IsPrintedBeforeTheEpoch) {
    EXPECT_EQ(to_string(WallTime(-1us)), "1969-12-31T23:59:59.999999Z");
    EXPECT_EQ(to_string(WallTime(-1s)), "1969-12-31T23:59:59.000000Z");
}

TEST(WallTime, KnowsLeapDays) {
    EXPECT_EQ(to_string(WallTime(1'709'164'800s)), "2024-02-29T00:00:00.000000Z");
}

TEST(Instant, IsAPointOnTheProcessClock) {
    EXPECT_EQ(at(8s) - at(2s), 6s);
    EXPECT_LT(at(2s), at(8s));
    EXPECT_EQ(Instant{}, at(0s));
}

}  // namespace
}  // namespace baton
