#include "core/s3/renewal.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace baton::s3 {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;
using Turn = Renewal::Turn;

TEST(RenewalTest, TheFirstCallerFetchesAndTheOthersWait) {
    Renewal renewal;
    EXPECT_EQ(renewal.turn(at(seconds(0))), Turn::renew);
    EXPECT_EQ(renewal.turn(at(seconds(0))), Turn::wait);
    renewal.renewed(at(seconds(1)), at(minutes(60)));
    EXPECT_EQ(renewal.turn(at(seconds(1))), Turn::use);
}

TEST(RenewalTest, OneCallerRenewsFiveMinutesEarlyWhileOthersUseTheOld) {
    Renewal renewal;
    ASSERT_EQ(renewal.turn(at(seconds(0))), Turn::renew);
    renewal.renewed(at(seconds(0)), at(minutes(60)));
    EXPECT_EQ(renewal.turn(at(minutes(55) - seconds(1))), Turn::use);
    EXPECT_EQ(renewal.turn(at(minutes(55))), Turn::renew);
    EXPECT_EQ(renewal.turn(at(minutes(55))), Turn::use);
    EXPECT_EQ(renewal.turn(at(minutes(60))), Turn::wait);  // the old ones have ended
    renewal.renewed(at(minutes(60)), at(minutes(120)));
    EXPECT_EQ(renewal.turn(at(minutes(60))), Turn::use);
}

TEST(RenewalTest, AFailureKeepsTheOldUntilTheirEnd) {
    Renewal renewal;
    ASSERT_EQ(renewal.turn(at(seconds(0))), Turn::renew);
    renewal.renewed(at(seconds(0)), at(minutes(60)));
    ASSERT_EQ(renewal.turn(at(minutes(55))), Turn::renew);
    renewal.failed(at(minutes(55)));
    EXPECT_EQ(renewal.turn(at(minutes(55))), Turn::use);
    EXPECT_EQ(renewal.turn(at(minutes(55) + seconds(1))), Turn::renew);
    renewal.failed(at(minutes(59) + seconds(59)));
    EXPECT_EQ(renewal.turn(at(minutes(60))), Turn::fail);
    EXPECT_EQ(renewal.turn(at(minutes(60) + seconds(1))), Turn::renew);
}

TEST(RenewalTest, PausesGrowUpToHalfAMinute) {
    Renewal renewal;
    Instant now = at(seconds(0));
    for (const int pause : {1, 2, 4, 8, 16, 30, 30}) {
        ASSERT_EQ(renewal.turn(now), Turn::renew);
        renewal.failed(now);
        EXPECT_EQ(renewal.turn(now + seconds(pause) - Duration(1)), Turn::fail);
        now += seconds(pause);
    }
}

TEST(RenewalTest, ShortLivesAreRenewedInTheirLastQuarter) {
    Renewal renewal;
    ASSERT_EQ(renewal.turn(at(seconds(0))), Turn::renew);
    renewal.renewed(at(seconds(0)), at(seconds(40)));
    EXPECT_EQ(renewal.turn(at(seconds(29))), Turn::use);
    EXPECT_EQ(renewal.turn(at(seconds(30))), Turn::renew);
}

TEST(RenewalTest, WithoutAnEndNothingIsRenewedUnlessItIsRejected) {
    Renewal renewal;
    ASSERT_EQ(renewal.turn(at(seconds(0))), Turn::renew);
    renewal.renewed(at(seconds(0)), std::nullopt);
    EXPECT_EQ(renewal.turn(at(minutes(1'000'000))), Turn::use);
    renewal.rejected();
    EXPECT_EQ(renewal.turn(at(minutes(1'000'000))), Turn::renew);
}

// Whatever happens: one renews at a time, and none uses what has ended.
RC_GTEST_PROP(RenewalProperty, OneRenewsAndNoneUsesWhatHasEnded, (const std::vector<int>& steps)) {
    Renewal renewal;
    Instant now = at(seconds(0));
    std::optional<Instant> ends;
    bool renewing = false;
    for (const int step : steps) {
        now += seconds(std::abs(step % 97));
        const Turn turn = renewal.turn(now);
        if (turn == Turn::renew) {
            RC_ASSERT(!renewing);
            renewing = true;
        }
        if (turn == Turn::use) RC_ASSERT(ends && now < *ends);
        if (turn == Turn::wait) RC_ASSERT(renewing);
        if (!renewing) continue;
        if (step % 3 == 0) {
            ends = now + seconds(60 + std::abs(step % 1'000));
            renewal.renewed(now, ends);
            renewing = false;
        } else if (step % 3 == 1) {
            renewal.failed(now);
            renewing = false;
        }
    }
}

}  // namespace
}  // namespace baton::s3
