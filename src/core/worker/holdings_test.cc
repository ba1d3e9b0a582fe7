#include "core/worker/holdings.h"

#include <gtest/gtest.h>

#include "base/overload.h"

namespace baton::worker {
namespace {

using namespace std::chrono_literals;

constexpr Duration kLease = 20s;

// A worker that was welcomed at 0 s. Times are in seconds.
class HoldingsTest : public ::testing::Test {
protected:
    HoldingsTest() { (void)holdings_.welcomed(at(0s)); }

    static std::string told(const Holdings::Effects& effects) {
        std::string text;
        for (const holdings::Effect& effect : effects) {
            text += std::visit(Overload{
                                   [](const holdings::Take& e) {
                                       return "+" + std::to_string(e.grant.partition.number);
                                   },
                                   [](const holdings::Release& e) {
                                       return "-" + std::to_string(e.partition.number);
                                   },
                               },
                               effect) +
                    " ";
        }
        return text;
    }
    std::string assign(int second, const std::vector<std::uint32_t>& numbers, int epoch = 1) {
        control::Assign assign{.epoch = Epoch(9), .number = ++number_, .lease = kLease};
        for (const std::uint32_t number : numbers) {
            assign.owned.push_back(
                {.partition = {"L", number}, .epoch = Epoch(static_cast<std::uint64_t>(epoch))});
        }
        return told(holdings_.assign(at(std::chrono::seconds(second)), assign));
    }
    std::string beat(int second, std::uint64_t number, std::uint64_t answered) {
        return told(holdings_.beat(at(std::chrono::seconds(second)),
                                   {.number = number, .seen = 0, .answered = answered}));
    }
    std::string gone(int second, std::uint32_t number) {
        return told(holdings_.released(at(std::chrono::seconds(second)), {{"L", number}}));
    }
    std::string tick(int second) { return told(holdings_.tick(at(std::chrono::seconds(second)))); }

    Holdings holdings_;
    std::uint64_t number_ = 0;
};

TEST_F(HoldingsTest, WhatIsAssignedIsTakenAndWhatIsNotIsLetGoOf) {
    EXPECT_EQ(assign(1, {0, 1}), "+0 +1 ");
    EXPECT_EQ(assign(2, {1, 2}), "-0 +2 ");
    EXPECT_EQ(holdings_.held().size(), 3U) << "one is held until nobody uses it";
    EXPECT_EQ(gone(3, 0), "");
    EXPECT_EQ(holdings_.held().size(), 2U);
}

TEST_F(HoldingsTest, APartitionThatIsAssignedAnewIsTakenAgainWhenItWasReleased) {
    (void)assign(1, {0});
    EXPECT_EQ(assign(2, {}), "-0 ");
    EXPECT_EQ(assign(3, {0}), "");
    EXPECT_EQ(gone(4, 0), "+0 ");
}

TEST_F(HoldingsTest, AnotherEpochIsAnotherTerm) {
    (void)assign(1, {0}, 1);
    EXPECT_EQ(assign(2, {0}, 2), "-0 ");
    EXPECT_EQ(gone(3, 0), "+0 ");
    EXPECT_EQ(holdings_.held()[0].epoch, Epoch(2));
}

TEST_F(HoldingsTest, AnOlderAssignmentChangesNothing) {
    (void)assign(1, {0});
    (void)assign(2, {0, 1});
    number_ = 0;
    EXPECT_EQ(assign(3, {}), "");
    EXPECT_EQ(holdings_.told().number, 2U);
}

TEST_F(HoldingsTest, TimeIsCountedFromTheLastAnswerThatHasArrived) {
    (void)assign(1, {0});
    EXPECT_EQ(holdings_.wake_at(), at(20s));
    EXPECT_EQ(beat(10, 7, 0), "");
    EXPECT_EQ(beat(15, 8, 7), "");  // the answer given at 10 has arrived
    EXPECT_EQ(holdings_.wake_at(), at(30s));
    EXPECT_EQ(tick(29), "");
    EXPECT_EQ(tick(30), "-0 ");
}

TEST_F(HoldingsTest, ABeatThatWasLongOnItsWayProvesNothing) {
    (void)assign(1, {0});
    (void)beat(2, 7, 0);
    (void)beat(3, 8, 7);
    EXPECT_EQ(beat(40, 9, 8), "-0 ") << "it says that we were heard at 3";
    EXPECT_EQ(gone(40, 0), "");
    EXPECT_EQ(beat(41, 10, 9), "+0 ") << "we were heard at 40";
}

TEST_F(HoldingsTest, NothingIsTakenWithoutProofThatWeAreHeard) {
    EXPECT_EQ(assign(20, {0}), "");
    EXPECT_EQ(beat(21, 7, 0), "");
    EXPECT_EQ(beat(22, 8, 7), "+0 ");
}

TEST_F(HoldingsTest, WhatIsHeldIsKeptOverSessions) {
    (void)assign(1, {0, 1});
    EXPECT_EQ(told(holdings_.welcomed(at(5s))), "");
    EXPECT_EQ(holdings_.held().size(), 2U);
    EXPECT_EQ(holdings_.told().number, 0U);
    number_ = 0;
    EXPECT_EQ(assign(6, {0}), "-1 ");
    EXPECT_EQ(holdings_.wake_at(), at(25s)) << "who assigns has the welcome";
}

TEST_F(HoldingsTest, WhatRanOutIsNotTakenAgainForAnOlderAssignment) {
    (void)assign(1, {0});
    EXPECT_EQ(told(holdings_.welcomed(at(50s))), "-0 ")
        << "before the welcome says that it is held";
    EXPECT_EQ(gone(51, 0), "");
    EXPECT_EQ(beat(52, 7, 0), "") << "valid, but it may be another's by now";
    number_ = 0;
    EXPECT_EQ(assign(53, {0}), "+0 ");
}

TEST_F(HoldingsTest, AnswersOfAnOlderSessionProveNothing) {
    (void)assign(1, {0});
    (void)beat(10, 7, 0);
    (void)holdings_.welcomed(at(12s));
    (void)beat(13, 8, 7);
    EXPECT_EQ(holdings_.wake_at(), at(20s));
}

// Who is slow to let go has to begin in time.
TEST_F(HoldingsTest, LettingGoEndsWithTheLease) {
    Holdings slow(5s);
    (void)slow.welcomed(at(0s));
    const control::Assign assign{.epoch = Epoch(9),
                                 .number = 1,
                                 .lease = kLease,
                                 .owned = {{.partition = {"L", 0}, .epoch = Epoch(1)}}};
    EXPECT_EQ(told(slow.assign(at(1s), assign)), "+0 ");
    EXPECT_EQ(slow.wake_at(), at(15s));
    EXPECT_EQ(told(slow.tick(at(15s))), "-0 ");
    // One that could never let go in time is never given anything.
    Holdings slower(kLease);
    (void)slower.welcomed(at(0s));
    EXPECT_EQ(told(slower.assign(at(1s), assign)), "");
}

TEST_F(HoldingsTest, AWorkerMayLeaveWhenItsReleasesWereHeard) {
    EXPECT_TRUE(holdings_.may_leave());
    (void)assign(1, {0});
    (void)beat(2, 1, 0);
    EXPECT_FALSE(holdings_.may_leave());
    (void)assign(3, {});
    (void)gone(4, 0);
    (void)beat(5, 2, 1);  // the answer to 1 was given before
    EXPECT_FALSE(holdings_.may_leave());
    (void)beat(6, 3, 2);
    EXPECT_TRUE(holdings_.may_leave());
}

TEST_F(HoldingsTest, WhatWasReleasedIsSaidByTheNextWelcome) {
    (void)assign(1, {0});
    (void)beat(2, 7, 0);
    (void)assign(3, {});
    (void)gone(4, 0);
    (void)holdings_.welcomed(at(5s));
    EXPECT_FALSE(holdings_.may_leave());
    (void)beat(6, 1, 0);
    EXPECT_FALSE(holdings_.may_leave());
    (void)beat(7, 2, 1);
    EXPECT_TRUE(holdings_.may_leave());
}

}  // namespace
}  // namespace baton::worker
