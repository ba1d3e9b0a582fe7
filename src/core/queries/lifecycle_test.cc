#include "core/queries/lifecycle.h"

#include <map>
#include <set>

#include <gtest/gtest.h>

#include "core/queries/lifecycle_steps.h"
#include "testing/script.h"

namespace baton::queries::lifecycle {
namespace {

const std::vector<Step>& steps() {
    static const std::vector<Step> kSteps = all_steps();
    return kSteps;
}

std::string text_of(const Step& step) {
    std::string text = step.event + " -> ";
    switch (step.ending) {
        case Ending::refused:
            return text + "refused: " + step.refusal + "\n";
        case Ending::unchanged:
            return text + "unchanged\n";
        case Ending::gone:
            return text + "gone\n";
        case Ending::moved:
            break;
    }
    text += to_string(step.to);
    if (step.stop_mode_after != step.stop_mode) {
        text += " " + std::string(to_string(step.stop_mode_after));
    }
    if (step.next_run) text += ", next run";
    if (step.part_after != step.part) {
        text += ", fragment " + std::string(to_string(step.part_after));
    }
    return text + "\n";
}

// "RUNNING; fragment RUNNING": every step from there, of a query that is stopped GRACEFUL.
std::string steps_from(const std::string& command) {
    std::string text;
    for (const Step& step : steps()) {
        const std::string from =
            to_string(step.from) + "; fragment " + std::string(to_string(step.part));
        const bool meant = from == command && (step.stop_mode == StopMode::graceful ||
                                               step.from.desired == QueryDesire::failed);
        if (meant) text += text_of(step);
    }
    return text.empty() ? "no query comes into this life\n" : text;
}

TEST(Lifecycle, Transcript) {
    baton::testing::run_script(BATON_TESTDATA "/lifecycle.txt", steps_from);
}

// ---- rules for every step -----------------------------------------------------------------------

TEST(Lifecycle, NoStepLeadsOutOfAnEndedState) {
    for (const Step& step : steps()) {
        if (!has_ended(step.from.state) || step.ending == Ending::gone) continue;
        EXPECT_EQ(step.to, step.from) << text_of(step);
        EXPECT_FALSE(step.next_run) << text_of(step);
    }
}

TEST(Lifecycle, NoFragmentLivesInAQueryThatHasEndedOrIsGone) {
    for (const Step& step : steps()) {
        EXPECT_TRUE(!has_ended(step.to.state) || has_ended(step.part_after)) << text_of(step);
        if (step.ending != Ending::gone) continue;
        const bool unknown = step.from.state == QueryState::pending;
        EXPECT_TRUE(unknown || has_ended(step.part)) << text_of(step);
    }
}

TEST(Lifecycle, NothingIsPendingAgain) {
    for (const Step& step : steps()) {
        if (step.from.state == QueryState::pending) continue;
        EXPECT_NE(step.to.state, QueryState::pending) << text_of(step);
    }
}

TEST(Lifecycle, AQueryRunsOnlyWhileItsFragmentDoesItsPart) {
    for (const Step& step : steps()) {
        if (step.to.state != QueryState::running) continue;
        EXPECT_TRUE(does_its_part(step.part_after)) << text_of(step);
        EXPECT_EQ(step.to.desired, QueryDesire::running) << text_of(step);
    }
}

TEST(Lifecycle, DesiresGoOneWay) {
    const std::map<QueryDesire, int> progress = {{QueryDesire::running, 0},
                                                 {QueryDesire::stopped, 1},
                                                 {QueryDesire::failed, 1},
                                                 {QueryDesire::dropped, 2}};
    for (const Step& step : steps()) {
        if (step.to.desired == step.from.desired) continue;
        EXPECT_LT(progress.at(step.from.desired), progress.at(step.to.desired)) << text_of(step);
    }
}

TEST(Lifecycle, AForcefulEndNeverBecomesGracefulAgain) {
    for (const Step& step : steps()) {
        if (step.from.desired != step.to.desired || step.stop_mode == step.stop_mode_after)
            continue;
        EXPECT_EQ(step.stop_mode_after, StopMode::forceful) << text_of(step);
    }
}

TEST(Lifecycle, OnlyClientsStopAndDrop) {
    for (const Step& step : steps()) {
        const bool client = step.asker == Asker::client;
        const bool ends =
            step.to.desired == QueryDesire::stopped || step.to.desired == QueryDesire::dropped;
        if (step.to.desired == step.from.desired) continue;
        EXPECT_EQ(client, ends) << text_of(step);
    }
}

TEST(Lifecycle, TheNextRunBeginsWithPendingFragmentsAfterTheLastOneHasEnded) {
    for (const Step& step : steps()) {
        if (!step.next_run) continue;
        EXPECT_TRUE(has_ended(step.part)) << text_of(step);
        EXPECT_EQ(step.part_after, FragmentState::pending) << text_of(step);
        EXPECT_EQ(step.to, Life{.state = QueryState::deploying}) << text_of(step);
    }
}

TEST(Lifecycle, EveryLifeCanEnd) {
    std::map<std::pair<Life, FragmentState>, bool> ends;
    for (const Step& step : steps()) ends[{step.from, step.part}] |= step.ending == Ending::gone;
    for (bool again = true; again;) {
        again = false;
        for (const Step& step : steps()) {
            if (step.ending != Ending::moved || !ends[{step.to, step.part_after}]) continue;
            bool& known = ends[{step.from, step.part}];
            again = again || !known;
            known = true;
        }
    }
    for (const auto& [from, can] : ends) EXPECT_TRUE(can) << to_string(from.first);
}

TEST(Lifecycle, OneThatIsToEndCannotBecomeAnythingElse) {
    using enum QueryState;
    Query query;
    query.state = stopping;
    const std::map<QueryDesire, std::optional<QueryState>> ends = {
        {QueryDesire::stopped, stopped},
        {QueryDesire::failed, failed},
        {QueryDesire::dropped, std::nullopt}};
    for (const auto& [desired, end] : ends) {
        query.desired = desired;
        for (const QueryState state : {pending, deploying, running, stopped, terminated, failed}) {
            EXPECT_EQ(can_become(query, state), state == end) << to_string(state);
        }
    }
    query.state = stopped;
    query.desired = QueryDesire::running;
    EXPECT_FALSE(can_become(query, running));
    query.state = deploying;
    EXPECT_TRUE(can_become(query, running));
    EXPECT_FALSE(can_become(query, pending));
}

TEST(Lifecycle, WhatFailsFailsForItsReadersBeforeItHasEnded) {
    Query query;
    query.state = QueryState::stopping;
    EXPECT_EQ(outlook(query), Outlook::taken_away);
    query.desired = QueryDesire::failed;
    EXPECT_EQ(outlook(query), Outlook::fails);
}

// ---- workers ------------------------------------------------------------------------------------

TEST(Lifecycle, AWorkerInterruptsItsQueriesWhenItIsLostOrBackInAnotherIncarnation) {
    Worker before;
    before.name = "W";
    Worker after = before;
    after.incarnation = Incarnation(1);
    EXPECT_EQ(interruption(before, after), std::nullopt) << "it is heard for the first time";
    before.incarnation = after.incarnation;
    EXPECT_EQ(interruption(before, after), std::nullopt);
    after.incarnation = Incarnation(2);
    EXPECT_EQ(interruption(before, after), (Reason{.code = ReasonCode::worker_restarted,
                                                   .who = "W",
                                                   .text = "worker \"W\" was restarted"}));
    after.state = WorkerState::unreachable;
    EXPECT_EQ(interruption(before, after), (Reason{.code = ReasonCode::worker_unreachable,
                                                   .who = "W",
                                                   .text = "worker \"W\" is UNREACHABLE"}));
}

TEST(Lifecycle, AQueryIsNotMarkedRunningOnAWorkerThatIsUnreachable) {
    Query query;
    query.name = "Q";
    query.state = QueryState::deploying;
    Part part{.id = FragmentId(7), .state = FragmentState::running, .worker = "W"};
    EXPECT_TRUE(mark(query, {.state = QueryState::running}, std::vector{part}));
    part.worker_state = WorkerState::unreachable;
    const auto refused = mark(query, {.state = QueryState::running}, std::vector{part});
    EXPECT_EQ(refused.error().message,
              "query \"Q\" cannot be RUNNING: worker \"W\" is UNREACHABLE");
    part.state = FragmentState::terminated;  // nothing of it is there any more
    EXPECT_TRUE(mark(query, {.state = QueryState::running}, std::vector{part}));
}

TEST(Lifecycle, WhoHasEndedWaitsForNoWorker) {
    Query query;
    query.state = QueryState::stopping;
    query.lagging = {"W"};
    const auto turn =
        mark(query, {.state = QueryState::failed, .reason = {}, .lagging = {"W"}}, {});
    EXPECT_TRUE(turn->after.lagging.empty());
}

}  // namespace
}  // namespace baton::queries::lifecycle
