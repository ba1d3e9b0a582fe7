#include "doors/desk/log_limit.h"

#include <gtest/gtest.h>

namespace baton::desk {
namespace {

using namespace std::chrono_literals;

TEST(LogLimit, LinesBeyondTheLimitAreCountedAndTheNextPeriodTells) {
    LogLimit limit;
    const Instant begun = Instant() + 1h;
    for (std::uint64_t i = 0; i < LogLimit::kLines; ++i) EXPECT_EQ(limit.take(begun), 0U);
    EXPECT_EQ(limit.take(begun), std::nullopt);
    EXPECT_EQ(limit.take(begun + LogLimit::kPeriod - 1ms), std::nullopt);
    EXPECT_EQ(limit.take(begun + LogLimit::kPeriod), 2U);
    EXPECT_EQ(limit.take(begun + LogLimit::kPeriod), 0U);
}

TEST(Shown, LongTextsAreCutBetweenCharacters) {
    EXPECT_EQ(shown("/v1/workers"), "/v1/workers");
    EXPECT_EQ(shown(std::string(200, 'x')), std::string(200, 'x'));
    EXPECT_EQ(shown(std::string(12'000, 'x')), std::string(200, 'x') + "..");
    EXPECT_EQ(shown(std::string(199, 'x') + "\xc3\xa4"), std::string(199, 'x') + "..");
}

TEST(Shown, ControlCharactersAndBrokenOnesAreEscaped) {
    EXPECT_EQ(shown("a\nb\x1b[2J\xff\xc3\xa4\x7f"), "a%0Ab%1B[2J%FF\xc3\xa4%7F");
}

}  // namespace
}  // namespace baton::desk
