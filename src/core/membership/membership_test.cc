#include "core/membership/membership.h"

#include <gtest/gtest.h>

namespace baton::membership {
namespace {

using namespace std::chrono_literals;
using namespace membership;  // NOLINT
using transport::Broken;
using transport::DialFailed;
using transport::Dialled;

// A machine with one worker W, connected since 0 s; the grace after the start is over at 2.5 s.
class MembershipTest : public ::testing::Test {
protected:
    std::string step(Duration now, const Event& event) {
        std::string text;
        for (const Effect& effect : machine_.step(at(now), event)) {
            text += to_string(effect) + "; ";
            if (const auto* dial = std::get_if<Dial>(&effect)) attempt_ = dial->attempt;
            if (const auto* beat = std::get_if<Beat>(&effect)) beat_ = beat->beat;
        }
        return text;
    }
    std::string tick(Duration now) { return step(now, Tick{}); }
    // Ticks whenever the machine asks for it, until `until`; answers beats if `answering`.
    std::string run(Duration until, bool answering) {
        std::string judgements;
        while (machine_.wake_at() && *machine_.wake_at() <= at(until)) {
            const Duration now = machine_.wake_at()->time_since_epoch();
            const std::string text = tick(now);
            if (text.find(" is ") != std::string::npos) judgements += text;
            if (answering) (void)step(now, Answered{"W", attempt_, beat_});
        }
        return judgements;
    }
    void connect() {
        (void)step(0s, Joined{"W"});
        (void)step(0s, Dialled{"W", attempt_, {.incarnation = Incarnation(1)}});
        (void)step(1ms, Answered{"W", attempt_, beat_});
    }

    Membership machine_{MembershipConfig{}, at(0s)};
    Attempt attempt_ = 0;
    std::uint64_t beat_ = 0;
};

TEST_F(MembershipTest, AWorkerThatJoinsIsDialledAndThenBeatEverySecond) {
    EXPECT_EQ(step(0s, Joined{"W"}), "dial W; ");
    EXPECT_EQ(step(0s, Dialled{"W", attempt_, {.incarnation = Incarnation(7)}}),
              "W is ACTIVE as 7; beat W 1; ");
    (void)step(1ms, Answered{"W", attempt_, beat_});
    EXPECT_EQ(machine_.wake_at(), at(1s));
    EXPECT_EQ(tick(1s), "beat W 2; ");
}

TEST_F(MembershipTest, WhoAnswersIsNeverJudged) {
    connect();
    EXPECT_EQ(run(1h, true), "");
    EXPECT_EQ(machine_.state_of("W"), WorkerState::active);
}

TEST_F(MembershipTest, ThreeMissesInARowMakeUnreachable) {
    connect();
    (void)run(3s, true);
    EXPECT_EQ(tick(4s), "beat W 5; ");
    EXPECT_EQ(tick(4500ms), "beat W 6; ");
    EXPECT_EQ(tick(5s), "beat W 7; ");
    EXPECT_EQ(tick(5500ms),
              "W is UNREACHABLE: no answer to 3 beats within 500 ms each; hang up W; ");
    EXPECT_EQ(machine_.state_of("W"), WorkerState::unreachable);
}

TEST_F(MembershipTest, AnAnswerEndsTheRowOfMisses) {
    connect();
    (void)run(3s, true);
    (void)tick(4s);
    (void)tick(4500ms);
    (void)tick(5s);
    (void)step(5400ms, Answered{"W", attempt_, beat_});
    EXPECT_EQ(run(6s, false), "");
}

TEST_F(MembershipTest, ASlowNetworkGetsMoreTime) {
    connect();
    (void)run(3s, true);
    (void)tick(4s);
    (void)step(4400ms, Answered{"W", attempt_, beat_});  // took 400 ms: 1850 ms from now on
    (void)tick(5s);
    EXPECT_EQ(machine_.wake_at(), at(6850ms));
}

TEST_F(MembershipTest, ABrokenStreamIsDialledAgainAtOnceAndJudgedOnlyIfThatFails) {
    connect();
    (void)run(3s, true);
    EXPECT_EQ(step(3500ms, Broken{"W", attempt_, "reset"}), "dial W; ");
    EXPECT_EQ(step(3501ms, Dialled{"W", attempt_, {.incarnation = Incarnation(1)}}), "beat W 5; ");
    EXPECT_EQ(step(3600ms, Broken{"W", attempt_, "reset"}), "dial W; ");
    EXPECT_EQ(step(3601ms, DialFailed{"W", attempt_, "refused"}),
              "W is UNREACHABLE: cannot be dialled: refused; ");
}

// Two coordinators that dial one worker in turn: each dial ends the stream of the other.
TEST_F(MembershipTest, StreamsThatBreakAgainAndAgainAreDialledMoreAndMoreSeldom) {
    connect();
    (void)run(3s, true);
    Duration now = 3s;
    int dials = 0;
    std::string judgements;
    while (now < 63s) {
        const std::string said = step(now, Broken{"W", attempt_, "hung up"});
        if (said.find("UNREACHABLE") != std::string::npos) judgements += said;
        if (said != "dial W; ") {
            now = machine_.wake_at()->time_since_epoch();
            EXPECT_EQ(tick(now), "dial W; ");
        }
        dials += 1;
        now += 1ms;
        (void)step(now, Dialled{"W", attempt_, {.incarnation = Incarnation(1)}});
    }
    EXPECT_LE(dials, 14);
    EXPECT_EQ(judgements.substr(0, 64),
              "W is UNREACHABLE: its streams break again and again, as if anoth");
    // One that lasts is dialled at once again when it breaks.
    (void)step(now, Answered{"W", attempt_, beat_});
    (void)run(now + 31s, true);
    EXPECT_EQ(step(now + 31s, Broken{"W", attempt_, "reset"}), "dial W; ");
}

TEST_F(MembershipTest, AWorkerThatRefusesIsUnreachableForTheReasonThatItGives) {
    connect();
    (void)run(3s, true);
    (void)step(4s, Broken{"W", attempt_, ""});
    EXPECT_EQ(step(4s, DialFailed{"W", attempt_, "no route"}),
              "W is UNREACHABLE: cannot be dialled: no route; ");
    EXPECT_EQ(tick(4500ms), "dial W; ");
    EXPECT_EQ(step(4501ms, DialFailed{"W", attempt_, "it is another's", Epoch(), true}),
              "W is UNREACHABLE: it refuses: it is another's; ");
    EXPECT_EQ(tick(5501ms), "dial W; ");
    EXPECT_EQ(step(5502ms, DialFailed{"W", attempt_, "it is another's", Epoch(), true}), "");
    EXPECT_EQ(tick(7502ms), "dial W; ");
    EXPECT_EQ(step(7503ms, DialFailed{"W", attempt_, "no route"}),
              "W is UNREACHABLE: cannot be dialled: no route; ");  // as it is now
}

TEST_F(MembershipTest, AnUnreachableWorkerIsProbedMoreAndMoreSeldom) {
    connect();
    (void)run(3s, true);
    (void)step(4s, Broken{"W", attempt_, ""});
    (void)step(4s, DialFailed{"W", attempt_, "refused"});
    Instant now = at(4s);
    for (const Duration pause : {500ms, 1000ms, 2000ms, 4000ms, 8000ms, 10000ms, 10000ms}) {
        EXPECT_EQ(machine_.wake_at(), now + pause);
        now += pause;
        EXPECT_EQ(tick(now.time_since_epoch()), "dial W; ");
        EXPECT_EQ(step(now.time_since_epoch(), DialFailed{"W", attempt_, "refused"}), "");
    }
    (void)tick(now.time_since_epoch() + 10s);
    EXPECT_EQ(
        step(now.time_since_epoch() + 10s, Dialled{"W", attempt_, {.incarnation = Incarnation(2)}}),
        "W is ACTIVE as 2; beat W 5; ");
}

TEST_F(MembershipTest, ARestartedWorkerIsToldByItsIncarnation) {
    connect();
    (void)step(3s, Broken{"W", attempt_, ""});
    EXPECT_EQ(step(3s, Dialled{"W", attempt_, {.incarnation = Incarnation(2)}}),
              "W is ACTIVE as 2; beat W 2; ");
}

TEST_F(MembershipTest, NobodyIsJudgedRightAfterTheStart) {
    (void)step(0s, Joined{"W"});
    EXPECT_EQ(step(10ms, DialFailed{"W", attempt_, "refused"}), "");
    EXPECT_EQ(machine_.state_of("W"), WorkerState::active);
    (void)tick(510ms);
    (void)step(510ms, DialFailed{"W", attempt_, "refused"});
    (void)tick(1510ms);
    (void)step(1510ms, DialFailed{"W", attempt_, "refused"});
    (void)tick(3510ms);
    EXPECT_EQ(step(3510ms, DialFailed{"W", attempt_, "refused"}),
              "W is UNREACHABLE: cannot be dialled: refused; ");
}

TEST_F(MembershipTest, NobodyIsJudgedForAPauseOfOurOwn) {
    connect();
    (void)run(10s, true);
    (void)tick(11s);
    // We slept for a minute with a beat in flight; its answer waits in our own queue.
    const std::uint64_t in_flight = beat_;
    EXPECT_EQ(tick(71s), "");
    (void)step(71s + 1ms, Answered{"W", attempt_, in_flight});
    EXPECT_EQ(run(80s, true), "");
    EXPECT_EQ(machine_.state_of("W"), WorkerState::active);
}

TEST_F(MembershipTest, WhatIsHeardOfAnOlderStreamIsIgnored) {
    connect();
    const Attempt old = attempt_;
    (void)step(3s, Broken{"W", attempt_, ""});
    EXPECT_EQ(step(3s, Broken{"W", old, ""}), "");
    EXPECT_EQ(step(3s, Answered{"W", old, beat_}), "");
    EXPECT_EQ(step(3s, Dialled{"W", old, {.incarnation = Incarnation(9)}}), "");
}

TEST_F(MembershipTest, AWorkerThatLeavesIsForgotten) {
    connect();
    EXPECT_EQ(step(1s, Left{"W"}), "hang up W; ");
    EXPECT_EQ(machine_.wake_at(), std::nullopt);
    EXPECT_EQ(step(2s, Broken{"W", attempt_, ""}), "");
}

TEST_F(MembershipTest, EarlyAndRepeatedTicksAreHarmless) {
    connect();
    EXPECT_EQ(tick(500ms), "");
    EXPECT_EQ(tick(1s), "beat W 2; ");
    EXPECT_EQ(tick(1s), "");
}

}  // namespace
}  // namespace baton::membership
