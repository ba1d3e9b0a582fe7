#include "core/queries/roster.h"

#include <gtest/gtest.h>

namespace baton::queries {
namespace {

using namespace std::chrono_literals;
using control::FragmentStatus;
using Queries = Roster::Queries;

constexpr FragmentKey kKey{.query = QueryId(3), .run = 1, .fragment = FragmentId(7)};

FragmentStatus status(std::uint64_t event, std::optional<FragmentState> state,
                      const FragmentKey& key = kKey) {
    return {.key = key, .state = state, .event = event};
}

Worker worker(WorkerState state, std::optional<Incarnation> incarnation) {
    Worker w;
    w.name = "W";
    w.state = state;
    w.incarnation = incarnation;
    return w;
}

// A roster with one worker W, ready on its stream 1 in incarnation 5.
class RosterTest : public ::testing::Test {
protected:
    RosterTest() {
        roster_.record(at(0s), worker(WorkerState::active, Incarnation(5)));
        roster_.connected(at(0s), "W", 1, {.incarnation = Incarnation(5)});
    }

    void ask(Duration now, const FragmentStep& step, std::uint64_t request) {
        roster_.asked(at(now), {.worker = "W", .step = step}, request);
    }
    std::optional<QueryId> answer(Duration now, std::uint64_t request, const FragmentStatus& how) {
        return roster_.heard(at(now), "W", 1, {.request = request, .outcome = how}, 0);
    }
    Queries pulse(std::uint64_t from, std::uint64_t through, std::vector<FragmentStatus> changed) {
        return roster_.heard(
            at(1s), "W", 1,
            control::Pulse{.from = from, .through = through, .changed = std::move(changed)}, 0);
    }
    std::optional<FragmentState> held() const {
        const FragmentStatus* found = roster_.held("W", kKey);
        return found == nullptr ? std::nullopt : found->state;
    }

    Roster roster_{Pace{}};
};

TEST_F(RosterTest, AWorkerIsReadyInTheIncarnationThatTheCatalogHas) {
    EXPECT_TRUE(roster_.ready("W"));
    roster_.connected(at(1s), "W", 2, {.incarnation = Incarnation(6)});
    EXPECT_FALSE(roster_.ready("W"));
    EXPECT_TRUE(roster_.record(at(2s), worker(WorkerState::active, Incarnation(6))));
    EXPECT_TRUE(roster_.ready("W"));
    EXPECT_EQ(roster_.ready_since("W"), at(2s));
    EXPECT_TRUE(roster_.record(at(3s), worker(WorkerState::unreachable, Incarnation(6))));
    EXPECT_FALSE(roster_.ready("W"));
    EXPECT_FALSE(roster_.ready("unheard of"));
}

TEST_F(RosterTest, AWelcomeReplacesAllThatWasKnown) {
    (void)pulse(0, 1, {status(1, FragmentState::running)});
    const FragmentKey other{.query = QueryId(4), .run = 1, .fragment = FragmentId(8)};
    EXPECT_EQ(roster_.connected(at(1s), "W", 2,
                                {.incarnation = Incarnation(5),
                                 .last_event = 9,
                                 .fragments = {status(9, FragmentState::running, other)}}),
              (Queries{QueryId(3), QueryId(4)}));
    EXPECT_EQ(held(), std::nullopt);
    EXPECT_EQ(roster_.seen("W"), 9U);
    EXPECT_TRUE(roster_.held_of(QueryId(3)).empty());
    EXPECT_EQ(roster_.held_of(QueryId(4)).at("W").size(), 1U);
}

TEST_F(RosterTest, TheLaterStatusHolds) {
    EXPECT_EQ(pulse(0, 2, {status(2, FragmentState::running)}), Queries{QueryId(3)});
    (void)pulse(0, 1, {status(1, FragmentState::started)});
    EXPECT_EQ(held(), FragmentState::running);
    EXPECT_EQ(roster_.seen("W"), 2U);
}

TEST_F(RosterTest, WhatIsMissingInBetweenIsAskedForAgain) {
    (void)pulse(4, 5, {status(5, FragmentState::running)});
    EXPECT_EQ(held(), FragmentState::running);
    EXPECT_EQ(roster_.seen("W"), 0U);
    (void)pulse(0, 5, {status(5, FragmentState::running)});
    EXPECT_EQ(roster_.seen("W"), 5U);
}

TEST_F(RosterTest, WhatIsHeardOnAnOldStreamMeansNothing) {
    roster_.connected(at(1s), "W", 2, {.incarnation = Incarnation(5)});
    EXPECT_TRUE(pulse(0, 1, {status(1, FragmentState::running)}).empty());
    EXPECT_EQ(held(), std::nullopt);
}

TEST_F(RosterTest, WhatWasAskedIsKnownUntilItIsAnsweredOrTheStreamBreaks) {
    ask(1s, RegisterFragment{kKey}, 11);
    EXPECT_EQ(roster_.last_step("W", kKey),
              LastStep(StepAsked{.step = RegisterFragment{kKey}, .at = at(1s)}));
    EXPECT_EQ(answer(2s, 99, status(1, FragmentState::pending)), std::nullopt);
    EXPECT_EQ(answer(2s, 11, status(1, FragmentState::pending)), QueryId(3));
    EXPECT_EQ(roster_.last_step("W", kKey), LastStep());
    ask(3s, StopFragment{kKey}, 12);
    EXPECT_EQ(roster_.disconnected(at(4s), "W"), Queries{QueryId(3)});
    EXPECT_EQ(roster_.last_step("W", kKey), LastStep());
}

TEST_F(RosterTest, TheAnswerToAnEarlierAskingDoesNotEndTheLaterOne) {
    ask(1s, RegisterFragment{kKey}, 11);
    ask(2s, StopFragment{kKey}, 12);
    EXPECT_EQ(answer(3s, 11, status(1, FragmentState::pending)), std::nullopt);
    EXPECT_EQ(roster_.last_step("W", kKey),
              LastStep(StepAsked{.step = StopFragment{kKey}, .at = at(2s)}));
}

TEST_F(RosterTest, ARefusalIsTriedAgainLaterAndLater) {
    ask(1s, StartFragment{kKey}, 11);
    const control::Refusal refusal{.highest = Epoch(9), .why = "not you"};
    (void)roster_.heard(at(2s), "W", 1, {.request = 11, .outcome = refusal}, 0);
    EXPECT_EQ(roster_.last_step("W", kKey), LastStep(StepRefused{.step = StartFragment{kKey},
                                                                 .retry_at = at(2100ms),
                                                                 .trouble = {.why = "not you"}}));
    ask(3s, StartFragment{kKey}, 12);
    (void)roster_.heard(at(3s), "W", 1, {.request = 12, .outcome = refusal}, 0);
    EXPECT_EQ(roster_.last_step("W", kKey), LastStep(StepRefused{.step = StartFragment{kKey},
                                                                 .retry_at = at(3200ms),
                                                                 .trouble = {.why = "not you"}}));
}

TEST_F(RosterTest, AFragmentThatCouldNotBePreparedIsGoneAndItsReasonKept) {
    ask(0s, RegisterFragment{kKey}, 11);
    (void)answer(0s, 11, status(1, FragmentState::pending));
    FragmentStatus gone = status(2, std::nullopt);
    gone.reason = "no memory";
    (void)pulse(1, 2, {gone});
    EXPECT_EQ(held(), std::nullopt);
    EXPECT_EQ(roster_.last_step("W", kKey), LastStep(StepRefused{.step = RegisterFragment{kKey},
                                                                 .retry_at = at(1100ms),
                                                                 .trouble = {.why = "no memory"}}));
}

TEST_F(RosterTest, WhatWasAskedForAgainIsNotTakenForGoneByOldNews) {
    ask(0s, RegisterFragment{kKey}, 11);
    (void)answer(0s, 11, status(1, FragmentState::pending));
    ask(1s, RegisterFragment{kKey}, 12);
    FragmentStatus gone = status(2, std::nullopt);
    gone.reason = "no memory";
    (void)pulse(1, 2, {gone});
    EXPECT_EQ(roster_.last_step("W", kKey),
              LastStep(StepAsked{.step = RegisterFragment{kKey}, .at = at(1s)}));
    (void)answer(2s, 12, status(3, FragmentState::pending));
    EXPECT_EQ(held(), FragmentState::pending);
}

TEST_F(RosterTest, AnAnswerThatAFragmentIsNotThereIsTaken) {
    (void)pulse(0, 1, {status(1, FragmentState::stopped)});
    ask(1s, ForgetFragment{kKey}, 11);
    (void)answer(1s, 11, status(0, std::nullopt));
    EXPECT_EQ(held(), std::nullopt);
    EXPECT_TRUE(roster_.held_of(QueryId(3)).empty());
    EXPECT_EQ(roster_.last_step("W", kKey), LastStep());
}

TEST_F(RosterTest, AWorkerThatIsRemovedIsForgotten) {
    (void)pulse(0, 1, {status(1, FragmentState::running)});
    roster_.remove("W");
    EXPECT_EQ(roster_.recorded("W"), nullptr);
    EXPECT_TRUE(roster_.held_of(QueryId(3)).empty());
    EXPECT_TRUE(roster_.names().empty());
}

}  // namespace
}  // namespace baton::queries
