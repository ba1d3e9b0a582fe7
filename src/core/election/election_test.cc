#include "core/election/election.h"

#include <gtest/gtest.h>

#include "base/epoch.h"

namespace baton::election {
namespace {

using namespace std::chrono_literals;
using namespace election;  // NOLINT: its events and effects

// With a TTL of 10 s: renew every 3.3 s, attempts of 1.5 s, give up after 6.7 s, valid for 9.5 s.
class ElectionTest : public ::testing::Test {
protected:
    std::vector<Effect> step(Duration when, const Event& event) {
        return election_.step(at(when), event, dice_);
    }
    std::string said(Duration when, const Event& event) {
        std::string text;
        for (const Effect& effect : step(when, event)) {
            text += (text.empty() ? "" : "; ") + to_string(effect);
        }
        return text;
    }
    // Asks at 0 s and is answered at `answered`.
    void lead(Duration answered = 100ms) {
        ASSERT_EQ(said(0s, Tick{}), "watch");
        ASSERT_EQ(said(0s, Watched{.call = 1, .held = {}}), "acquire at least 1");
        ASSERT_EQ(said(answered, Acquired{.call = 2, .epoch = Epoch(1)}), "lead 1");
    }

    std::uint64_t dice_ = 0;
    Election election_{*ElectionTimers::of(10s), "me", at(0s)};
};

TEST_F(ElectionTest, AFreeLeaseIsTaken) {
    lead();
    EXPECT_TRUE(election_.may_act(at(1s)));
    EXPECT_EQ(election_.epoch(), Epoch(1));
}

TEST_F(ElectionTest, ATermIsCountedFromWhenItWasAskedFor) {
    lead(3s);
    EXPECT_TRUE(election_.may_act(at(9499ms)));
    EXPECT_FALSE(election_.may_act(at(9500ms)));
    EXPECT_EQ(election_.valid_until(), at(9500ms));
}

TEST_F(ElectionTest, AHeldLeaseIsLookedAtAgainWithinASecond) {
    ASSERT_EQ(said(0s, Tick{}), "watch");
    EXPECT_EQ(said(0s, Watched{.call = 1, .held = {"other", Epoch(4), 9s}}), "");
    EXPECT_EQ(election_.wake_at(), at(750ms));
    EXPECT_EQ(said(750ms, Tick{}), "watch");
}

TEST_F(ElectionTest, ALeaseThatEndsSoonIsLookedAtWhenItHasEnded) {
    ASSERT_EQ(said(0s, Tick{}), "watch");
    dice_ = 1'000;
    EXPECT_EQ(said(0s, Watched{.call = 1, .held = {"other", Epoch(4), 400ms}}), "");
    EXPECT_EQ(election_.wake_at(), at(650ms));
    ASSERT_EQ(said(650ms, Tick{}), "watch");
    EXPECT_EQ(said(660ms, Watched{.call = 2, .held = {"other", Epoch(4), -260ms}}),
              "acquire at least 5");
}

TEST_F(ElectionTest, ARenewalIsAskedForAfterAThirdOfTheLeaseAndExtendsIt) {
    lead();
    EXPECT_EQ(said(3333ms, Tick{}), "");
    EXPECT_EQ(said(3334ms, Tick{}), "renew 1");
    EXPECT_EQ(said(4s, Renewed{3}), "");
    EXPECT_EQ(election_.valid_until(), at(12'834ms));
}

TEST_F(ElectionTest, ARenewalComesUpToATenthEarlier) {
    dice_ = 1'000;
    lead();
    EXPECT_EQ(election_.wake_at(), at(3333333us - 333333us));
}

TEST_F(ElectionTest, ARenewalThatHangsIsAbandonedAndAskedForAgain) {
    lead();
    ASSERT_EQ(said(3334ms, Tick{}), "renew 1");
    EXPECT_EQ(said(4834ms, Tick{}), "abandon 3; renew 1");
    EXPECT_EQ(said(4900ms, Renewed{3}), "");  // of the abandoned one: it does not count
    EXPECT_EQ(election_.valid_until(), at(9500ms));
}

TEST_F(ElectionTest, ALeaderGivesUpAfterTwoThirdsOfTheLease) {
    lead();
    ASSERT_EQ(said(3334ms, Tick{}), "renew 1");
    ASSERT_EQ(said(3400ms, Failed{3, "connection refused"}), "");
    ASSERT_EQ(said(3900ms, Tick{}), "renew 1");
    ASSERT_EQ(said(4s, Failed{4, "connection refused"}), "");
    EXPECT_EQ(said(6667ms, Tick{}), "step down from 1, gave up: connection refused");
    EXPECT_FALSE(election_.may_act(at(6667ms)));
}

TEST_F(ElectionTest, ATermThatHasRunOutIsOverWhateverTheEventSays) {
    lead();
    ASSERT_EQ(said(3334ms, Tick{}), "renew 1");
    EXPECT_EQ(said(9500ms, Renewed{3}),
              "abandon 3; step down from 1, expired: no renewal was heard of in time; watch");
    EXPECT_FALSE(election_.may_act(at(9500ms)));
}

TEST_F(ElectionTest, AnAnswerThatComesAfterTheTermWasOverRevivesNothing) {
    lead();
    ASSERT_EQ(said(3334ms, Tick{}), "renew 1");
    (void)step(9500ms, Tick{});
    (void)step(9600ms, Renewed{3});
    EXPECT_FALSE(election_.may_act(at(9600ms)));
}

TEST_F(ElectionTest, ALostLeaseEndsTheTermAtOnce) {
    lead();
    ASSERT_EQ(said(3334ms, Tick{}), "renew 1");
    const auto effects = step(3400ms, Lost{Epoch(1)});
    ASSERT_GE(effects.size(), 2U);
    EXPECT_EQ(std::get<StepDown>(effects[1]).reason, Reason::lost);
}

TEST_F(ElectionTest, ALossOfAnEarlierTermIsNoNews) {
    lead();
    EXPECT_EQ(said(1s, Lost{Epoch(0)}), "");
    EXPECT_TRUE(election_.may_act(at(1s)));
}

TEST_F(ElectionTest, AnAcquisitionOfUnknownOutcomeIsReleasedAndItsEpochLeftOut) {
    ASSERT_EQ(said(0s, Tick{}), "watch");
    ASSERT_EQ(said(0s, Watched{.call = 1, .held = {"other", Epoch(4), 0s}}), "acquire at least 5");
    EXPECT_EQ(said(100ms, Uncertain{2, Epoch(5), "no answer"}), "release 5");
    EXPECT_FALSE(election_.may_act(at(100ms)));
    EXPECT_EQ(said(200ms, Released{3}), "watch");
    EXPECT_EQ(said(300ms, Watched{.call = 4, .held = {"me", Epoch(5), -1s}}), "acquire at least 6");
}

TEST_F(ElectionTest, AnAcquisitionThatWasAnsweredTooLateIsReleased) {
    ASSERT_EQ(said(0s, Tick{}), "watch");
    ASSERT_EQ(said(0s, Watched{.call = 1, .held = {}}), "acquire at least 1");
    EXPECT_EQ(said(7s, Acquired{2, Epoch(1)}), "release 1");
    EXPECT_FALSE(election_.may_act(at(7s)));
}

TEST_F(ElectionTest, ALeaseLeftBehindByAnAbandonedAcquisitionIsReleased) {
    ASSERT_EQ(said(0s, Tick{}), "watch");
    ASSERT_EQ(said(0s, Watched{.call = 1, .held = {}}), "acquire at least 1");
    ASSERT_EQ(said(1500ms, Tick{}), "abandon 2");
    ASSERT_EQ(said(2s, Tick{}), "watch");
    EXPECT_EQ(said(2s, Watched{.call = 3, .held = {"me", Epoch(1), 8s}}), "release 1");
}

TEST_F(ElectionTest, AnotherThatWasFasterIsWaitedFor) {
    ASSERT_EQ(said(0s, Tick{}), "watch");
    ASSERT_EQ(said(0s, Watched{.call = 1, .held = {}}), "acquire at least 1");
    EXPECT_EQ(said(10ms, Refused{2, {"other", Epoch(1), 10s}}), "");
    EXPECT_EQ(election_.wake_at(), at(760ms));
}

TEST_F(ElectionTest, WhoIsToldToLeaveDrainsThenReleasesThenIsGone) {
    lead();
    EXPECT_EQ(said(1s, LeaveAsked{}), "step down from 1, leaving: this process was asked to leave");
    EXPECT_FALSE(election_.may_act(at(1s)));
    EXPECT_EQ(said(2s, Tick{}), "");
    EXPECT_EQ(said(3s, Drained{Epoch(1)}), "release 1");
    EXPECT_EQ(said(3100ms, Released{3}), "left");
    EXPECT_EQ(election_.wake_at(), std::nullopt);
}

TEST_F(ElectionTest, WhoCannotDrainIsGoneWhenTheLeaseHasEnded) {
    lead();
    (void)step(1s, LeaveAsked{});
    EXPECT_EQ(said(9500ms, Tick{}), "left");
}

TEST_F(ElectionTest, AStandbyLeavesAtOnce) {
    EXPECT_EQ(said(0s, LeaveAsked{}), "left");
}

TEST_F(ElectionTest, WhoIsAcquiringWhenToldToLeaveReleasesWhatItGets) {
    ASSERT_EQ(said(0s, Tick{}), "watch");
    ASSERT_EQ(said(0s, Watched{.call = 1, .held = {}}), "acquire at least 1");
    EXPECT_EQ(said(10ms, LeaveAsked{}), "");
    EXPECT_EQ(said(20ms, Acquired{2, Epoch(1)}), "release 1");
    EXPECT_EQ(said(30ms, Released{3}), "left");
}

TEST_F(ElectionTest, AHigherEpochHeardOfEndsTheTermAndIsTheFloorOfTheNext) {
    lead();
    EXPECT_EQ(said(1s, EpochHeard{Epoch(7)}),
              "step down from 1, superseded: a worker has obeyed epoch 7");
    EXPECT_EQ(said(1s, Drained{Epoch(1)}), "release 1");
    EXPECT_EQ(said(1s, Released{3}), "watch");
    EXPECT_EQ(said(1s, Watched{.call = 4, .held = {"me", Epoch(1), -1s}}), "acquire at least 8");
}

// One message to one worker was enough to end all elections.
TEST_F(ElectionTest, AnEpochThatCannotBeIsNotHeardOf) {
    lead();
    for (const Epoch absurd :
         {Epoch(2 + kEpochJumpMax), kEpochMax, Epoch((1ULL << 63U) - 2), Epoch(~0ULL)}) {
        EXPECT_EQ(said(1s, EpochHeard{absurd}), "");
    }
    EXPECT_TRUE(election_.may_act(at(1s)));
    EXPECT_EQ(said(1s, EpochHeard{Epoch(1 + kEpochJumpMax)}),
              "step down from 1, superseded: a worker has obeyed epoch 1000001");
    EXPECT_EQ(said(1s, Drained{Epoch(1)}), "release 1");
    EXPECT_EQ(said(1s, Released{3}), "watch");
    EXPECT_EQ(said(1s, Watched{.call = 4, .held = {"me", Epoch(1), -1s}}),
              "acquire at least 1000002");
}

// Another catalog of the same origin takes one epoch above ours each time.
TEST_F(ElectionTest, WhoIsSupersededAgainAndAgainWaitsLongerEachTime) {
    lead();
    Duration now = 1s;
    std::uint64_t epoch = 1;
    Call call = 2;  // that of the acquisition
    std::vector<std::chrono::milliseconds> pauses;
    for (int i = 0; i < 9; ++i) {
        (void)said(now, EpochHeard{Epoch(epoch + 1)});
        EXPECT_EQ(said(now, Drained{Epoch(epoch)}), "release " + std::to_string(epoch));
        EXPECT_EQ(said(now, Released{++call}), "watch");
        const Duration from = now;
        for (;;) {
            const std::string next =
                said(now, Watched{.call = ++call, .held = {"me", Epoch(epoch), -1s}});
            if (next == "acquire at least " + std::to_string(epoch + 2)) break;
            EXPECT_EQ(next, "");
            now = election_.wake_at()->time_since_epoch();
            EXPECT_EQ(said(now, Tick{}), "watch");
        }
        pauses.push_back(std::chrono::duration_cast<std::chrono::milliseconds>(now - from));
        epoch += 2;
        (void)said(now, Acquired{++call, Epoch(epoch)});
        now += 10ms;
    }
    EXPECT_EQ(pauses, (std::vector<std::chrono::milliseconds>{0ms, 250ms, 500ms, 1s, 2s, 4s, 8s,
                                                              10s, 10s}));
}

TEST_F(ElectionTest, ItsOwnEpochHeardOfIsNoNews) {
    lead();
    EXPECT_EQ(said(1s, EpochHeard{Epoch(1)}), "");
    EXPECT_TRUE(election_.may_act(at(1s)));
}

TEST_F(ElectionTest, ALeaderThatIsUnableGivesUpTheLeaseAndLetsOthersGoFirst) {
    lead();
    EXPECT_EQ(said(1s, Unable{"the disk is gone"}), "step down from 1, unable: the disk is gone");
    EXPECT_EQ(said(1s, Drained{Epoch(1)}), "release 1");
    EXPECT_EQ(said(2s, Released{3}), "watch");
    // Although the lease is free.
    EXPECT_EQ(said(20s, Watched{.call = 4, .held = {"me", Epoch(1), -1s}}), "");
    EXPECT_EQ(said(21s, Tick{}), "watch");
    EXPECT_EQ(said(21s, Watched{.call = 5, .held = {"me", Epoch(1), -1s}}), "acquire at least 2");
}

TEST_F(ElectionTest, WhoDoesNotLeadCannotBeUnable) {
    ASSERT_EQ(said(0s, Tick{}), "watch");
    EXPECT_EQ(said(0s, Unable{"late news"}), "");
    EXPECT_EQ(said(0s, Watched{.call = 1, .held = {}}), "acquire at least 1");
}

TEST_F(ElectionTest, AHintMakesAStandbyLookAtOnce) {
    ASSERT_EQ(said(0s, Tick{}), "watch");
    ASSERT_EQ(said(0s, Watched{.call = 1, .held = {"other", Epoch(4), 9s}}), "");
    EXPECT_EQ(said(500ms, Hinted{}), "watch");
}

TEST_F(ElectionTest, TheStatusTellsWhoLeadsSinceWhenAndForHowLong) {
    EXPECT_FALSE(election_.status(at(0s)).leader);
    (void)step(0s, Tick{});
    (void)step(0s, Watched{.call = 1, .held = {"other", Epoch(4), 9s}});
    (void)step(2s, Tick{});
    (void)step(2s, Watched{.call = 2, .held = {"other", Epoch(4), 10s}});
    const ElectionStatus standby = election_.status(at(3s));
    EXPECT_EQ(standby.role, ElectionStatus::Role::standby);
    EXPECT_EQ(standby.leader->owner, "other");
    EXPECT_EQ(standby.leader->since, at(0s));
    EXPECT_EQ(standby.leader->left, 9s);
    EXPECT_FALSE(election_.status(at(12s)).leader);
}

TEST_F(ElectionTest, TheStatusOfALeaderIsItsOwnTerm) {
    lead();
    const ElectionStatus status = election_.status(at(500ms));
    EXPECT_EQ(status.role, ElectionStatus::Role::leading);
    EXPECT_EQ(status.leader->owner, "me");
    EXPECT_EQ(status.leader->since, at(100ms));
    EXPECT_EQ(status.leader->left, 9s);
}

TEST(ElectionTimersTest, EveryTtlFromASecondToMinutesHasTimersThatFit) {
    for (Duration ttl = 1s; ttl <= 10min; ttl += 10ms) ASSERT_TRUE(ElectionTimers::of(ttl));
    EXPECT_EQ(ElectionTimers::of(10s)->margin, 500ms);
    EXPECT_EQ(ElectionTimers::of(10s)->attempt, 1500ms);
    EXPECT_EQ(ElectionTimers::of(1s)->margin, 200ms);
    EXPECT_EQ(ElectionTimers::of(1s)->attempt, 150ms);
    EXPECT_EQ(ElectionTimers::of(60s)->margin, 3s);
}

TEST(ElectionTimersTest, TtlsOutOfBoundsAreRefused) {
    for (const Duration ttl : {Duration(0s), Duration(999ms), Duration(601s)}) {
        const auto refused = ElectionTimers::of(ttl);
        ASSERT_FALSE(refused);
        EXPECT_EQ(refused.error().code, ErrorCode::invalid_configuration);
    }
}

TEST(ElectionTimersTest, BadRatiosAreRefused) {
    ElectionTimers slow = *ElectionTimers::of(10s);
    slow.attempt = 2s;
    EXPECT_NE(to_string(validate(slow).error()).find("give an attempt less time"),
              std::string::npos);
    ElectionTimers stubborn = *ElectionTimers::of(10s);
    stubborn.give_up = 9500ms;
    EXPECT_FALSE(validate(stubborn));
    ElectionTimers careless = *ElectionTimers::of(10s);
    careless.margin = 0s;
    EXPECT_FALSE(validate(careless));
}

}  // namespace
}  // namespace baton::election
