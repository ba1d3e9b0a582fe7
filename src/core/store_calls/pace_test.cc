#include "core/store_calls/pace.h"

#include <gtest/gtest.h>

namespace baton::store_calls {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

// So many requests, spread over the second.
void send(Pace& pace, Instant from, int count) {
    for (int i = 0; i < count; ++i) (void)pace.reserve(from + Duration(1'000'000 / count * i));
}

TEST(Pace, WithoutAnAnswerThatAsksForLessNothingWaits) {
    Pace pace;
    for (int i = 0; i < 1'000; ++i) EXPECT_EQ(pace.reserve(at(seconds(1))), at(seconds(1)));
    EXPECT_FALSE(pace.limit(at(seconds(1))));
}

TEST(Pace, AnAnswerThatAsksForLessHalvesWhatWasSent) {
    Pace pace;
    send(pace, at(seconds(1)), 200);
    pace.slow_down(at(seconds(2)));
    EXPECT_DOUBLE_EQ(*pace.limit(at(seconds(2))), 100);
    EXPECT_EQ(pace.reserve(at(seconds(2))), at(seconds(2)));
    EXPECT_EQ(pace.reserve(at(seconds(2))), at(seconds(2) + milliseconds(10)));
    EXPECT_EQ(pace.reserve(at(seconds(2))), at(seconds(2) + milliseconds(20)));
}

TEST(Pace, ABurstOfSuchAnswersHalvesOnce) {
    Pace pace;
    send(pace, at(seconds(1)), 200);
    for (int i = 0; i < 50; ++i) pace.slow_down(at(seconds(2) + milliseconds(i)));
    EXPECT_DOUBLE_EQ(*pace.limit(at(seconds(2) + milliseconds(50))), 100);
    pace.slow_down(at(seconds(3)));
    EXPECT_DOUBLE_EQ(*pace.limit(at(seconds(3))), 55);  // a second at 100 has brought a tenth
}

TEST(Pace, ItNeverFallsBelowOneASecond) {
    Pace pace;
    for (int i = 1; i < 20; ++i) pace.slow_down(at(seconds(i)));
    EXPECT_DOUBLE_EQ(*pace.limit(at(seconds(19))), Pace::kPerSecondMin);
}

TEST(Pace, ItRecoversByATenthASecondUntilThereIsNoLimit) {
    Pace pace;
    send(pace, at(seconds(1)), 200);
    pace.slow_down(at(seconds(2)));
    EXPECT_NEAR(*pace.limit(at(seconds(3))), 110, 0.001);
    EXPECT_NEAR(*pace.limit(at(seconds(9))), 194.87, 0.01);
    EXPECT_TRUE(pace.limit(at(seconds(50))));
    EXPECT_FALSE(pace.limit(at(seconds(60))));
}

}  // namespace
}  // namespace baton::store_calls
