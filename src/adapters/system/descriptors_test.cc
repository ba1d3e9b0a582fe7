#include "adapters/system/descriptors.h"

#include <gtest/gtest.h>
#include <sys/resource.h>

namespace baton::system {
namespace {

TEST(Descriptors, EachDoorHasWhatItWantsWhereThereIsEnough) {
    const DoorShares shares = door_shares(65'536, 1'256, 4'096);
    EXPECT_EQ(shares.first, 1'256U);
    EXPECT_EQ(shares.second, 4'096U);
}

TEST(Descriptors, AQuarterIsKeptAndTheRestIsShared) {
    const DoorShares both = door_shares(1'024, 1'256, 4'096);
    EXPECT_EQ(both.first, 384U);
    EXPECT_EQ(both.second, 384U);
    const DoorShares one = door_shares(1'024, 100, 4'096);
    EXPECT_EQ(one.first, 100U);
    EXPECT_EQ(one.second, 668U);
    const DoorShares closed = door_shares(1'024, 0, 4'096);
    EXPECT_EQ(closed.first, 0U);
    EXPECT_EQ(closed.second, 768U);
}

TEST(Descriptors, SomebodyCanComeInHoweverFewThereAre) {
    for (const std::size_t limit : {0U, 1U, 64U, 128U, 160U}) {
        const DoorShares shares = door_shares(limit, 1'000, 1'000);
        EXPECT_GE(shares.first, 16U) << limit;
        EXPECT_GE(shares.second, 16U) << limit;
    }
}

TEST(Descriptors, TheLimitIsRaisedToTheMost) {
    rlimit limit{};
    ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &limit), 0);
    rlimit low = limit;
    low.rlim_cur = std::min<rlim_t>(limit.rlim_max, 256);
    ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &low), 0);
    EXPECT_EQ(raise_descriptor_limit(), std::min<std::size_t>(limit.rlim_max, 1'000'000));
    rlimit after{};
    ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &after), 0);
    EXPECT_EQ(after.rlim_cur, limit.rlim_max);
}

}  // namespace
}  // namespace baton::system
