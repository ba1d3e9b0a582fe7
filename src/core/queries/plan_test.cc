#include <gtest/gtest.h>

#include "core/queries/deployment.h"

namespace baton::queries {
namespace {

using namespace std::chrono_literals;
using control::Fault;
using control::FragmentStatus;
using enum FragmentState;

constexpr QueryId kQuery{3};
constexpr FragmentId kSource{1};  // on EDGE, stage 1
constexpr FragmentId kSink{2};    // on HUB, stage 0

// A query of two fragments, EDGE -> HUB, both workers ready.
class PlanTest : public ::testing::Test {
protected:
    PlanTest() {
        view_.id = kQuery;
        view_.recorded = Recorded{.state = QueryState::deploying};
        view_.fragments = {
            FragmentView{.id = kSource, .worker = "EDGE", .ready = true, .stage = 1},
            FragmentView{.id = kSink, .worker = "HUB", .ready = true, .stage = 0},
        };
    }

    FragmentView& source() { return view_.fragments[0]; }
    FragmentView& sink() { return view_.fragments[1]; }
    Recorded& query() { return *view_.recorded; }

    static FragmentKey key(FragmentId id) { return {.query = kQuery, .run = 1, .fragment = id}; }
    static FragmentStatus status(FragmentId id, FragmentState state) {
        return {.key = key(id), .state = state, .event = 1};
    }
    // The worker has it in this state; the catalog knows.
    static void is(FragmentView& fragment, FragmentState state) {
        fragment.held = status(fragment.id, state);
        fragment.recorded = state;
    }
    void both(FragmentState state) {
        is(source(), state);
        is(sink(), state);
    }

    std::string plan_at(Duration now) {
        const Plan plan = queries::plan(view_, at(now), Pace{});
        std::string text;
        for (const Write& write : plan.writes) text += to_string(write) + "; ";
        for (const Send& send : plan.sends) text += to_string(send) + "; ";
        wake_ = plan.wake_at;
        return text;
    }

    QueryView view_;
    std::optional<Instant> wake_;
};

// ---- deploying ----------------------------------------------------------------------------------

TEST_F(PlanTest, APendingQuerySetsOutWhenAllItsWorkersCanBeTold) {
    query().state = QueryState::pending;
    EXPECT_EQ(plan_at(0s), "mark DEPLOYING; ");
}

TEST_F(PlanTest, APendingQueryWaitsForAWorkerAndNamesItAfterAWhile) {
    query().state = QueryState::pending;
    sink().ready = false;
    EXPECT_EQ(plan_at(0s), "");
    EXPECT_EQ(wake_, at(1s));
    EXPECT_EQ(plan_at(1s), "mark PENDING lagging HUB; ");
}

TEST_F(PlanTest, RegistersOnAllWorkersAtOnce) {
    EXPECT_EQ(plan_at(0s), "register 3/1/1 on EDGE; register 3/1/2 on HUB; ");
    EXPECT_EQ(wake_, at(5s)) << "a question that is lost is asked again";
}

TEST_F(PlanTest, StartsNothingBeforeAllIsRegistered) {
    is(sink(), registered);
    source().held = status(kSource, pending);  // being prepared
    EXPECT_EQ(plan_at(0s), "");
}

TEST_F(PlanTest, WritesWhatWorkersSayBeforeItActsOnIt) {
    source().held = status(kSource, registered);
    sink().held = status(kSink, registered);
    EXPECT_EQ(plan_at(0s), "report 1 REGISTERED; report 2 REGISTERED; ");
}

TEST_F(PlanTest, StartsDownstreamFirst) {
    both(registered);
    EXPECT_EQ(plan_at(0s), "start 3/1/2 on HUB; ");
    is(sink(), started);
    EXPECT_EQ(plan_at(0s), "start 3/1/1 on EDGE; ");
}

TEST_F(PlanTest, RunningIsWrittenTogetherWithTheLastConfirmation) {
    is(sink(), running);
    source().recorded = started;
    source().held = status(kSource, running);
    EXPECT_EQ(plan_at(0s), "report 1 RUNNING; mark RUNNING; ");
}

TEST_F(PlanTest, WordsThatAllowNoFurtherStepAreGatheredForAWhile) {
    view_.since = at(10s);
    source().held = status(kSource, registered);
    EXPECT_EQ(plan_at(10'050ms), "register 3/1/2 on HUB; ");
    sink().last_step = StepAsked{.step = RegisterFragment{key(kSink)}, .at = at(10'050ms)};
    EXPECT_EQ(plan_at(10'060ms), "");
    EXPECT_EQ(wake_, at(10'100ms));
    EXPECT_EQ(plan_at(10'100ms), "report 1 REGISTERED; ");
    // All of them are registered: they can be started.
    sink().held = status(kSink, registered);
    EXPECT_EQ(plan_at(10'060ms), "report 1 REGISTERED; report 2 REGISTERED; ");
}

TEST_F(PlanTest, WhatIsStartedButNotWrittenYetIsNotStartedAgain) {
    view_.since = at(10s);
    both(registered);
    source().stage = 0;  // both are of the stage that is to be started
    sink().held = status(kSink, running);
    EXPECT_EQ(plan_at(10'050ms), "start 3/1/1 on EDGE; ");
    source().held = status(kSource, started);
    EXPECT_EQ(plan_at(10'060ms), "");  // nothing is to be started after them
    source().held = status(kSource, running);
    EXPECT_EQ(plan_at(10'060ms), "report 1 RUNNING; report 2 RUNNING; mark RUNNING; ");
}

TEST_F(PlanTest, AStageIsWrittenWhenTheNextOneCanBeStarted) {
    view_.since = at(10s);
    both(registered);
    sink().held = status(kSink, started);
    EXPECT_EQ(plan_at(10'050ms), "report 2 STARTED; ");
}

TEST_F(PlanTest, WhatWentWrongIsWrittenAtOnceWithAllThatWasGathered) {
    view_.since = at(10s);
    source().held = status(kSource, registered);
    sink().held = status(kSink, failed);
    EXPECT_EQ(plan_at(10'050ms).substr(0, 37), "report 1 REGISTERED; report 2 FAILED;");
}

TEST_F(PlanTest, NothingRunsThatAnAbsentWorkerHas) {
    both(running);
    sink().ready = false;
    sink().held.reset();
    query().lagging = {"HUB"};
    EXPECT_EQ(plan_at(0s), "");
    sink().ready = true;
    sink().held = status(kSink, running);
    EXPECT_EQ(plan_at(0s), "mark RUNNING; ");
}

TEST_F(PlanTest, ARunningQueryIsLeftAloneUntilItsWorkersAreHeard) {
    query().state = QueryState::running;
    both(running);
    for (FragmentView* fragment : {&source(), &sink()}) {
        fragment->ready = false;
        fragment->held.reset();
    }
    EXPECT_EQ(plan_at(1h), "");
    EXPECT_EQ(wake_, std::nullopt);
}

// ---- asking -------------------------------------------------------------------------------------

TEST_F(PlanTest, WhatWasAskedIsNotAskedAgainUntilItIsOverdue) {
    source().last_step = StepAsked{.step = RegisterFragment{key(kSource)}, .at = at(0s)};
    sink().last_step = StepAsked{.step = RegisterFragment{key(kSink)}, .at = at(1s)};
    EXPECT_EQ(plan_at(1s), "");
    EXPECT_EQ(wake_, at(5s));
    EXPECT_EQ(plan_at(5s), "register 3/1/1 on EDGE; ");
}

TEST_F(PlanTest, WhatDidNotWorkIsAskedAgainLaterAndTheReasonIsShown) {
    is(sink(), registered);
    source().last_step = StepRefused{.step = RegisterFragment{key(kSource)},
                                     .retry_at = at(2s),
                                     .trouble = {.why = "no memory"}};
    EXPECT_EQ(plan_at(1s), "mark DEPLOYING (worker \"EDGE\": no memory); ");
    query().reason = {
        .code = ReasonCode::fragment_refused, .who = "EDGE", .text = "worker \"EDGE\": no memory"};
    EXPECT_EQ(plan_at(1s), "");
    EXPECT_EQ(wake_, at(2s));
    EXPECT_EQ(plan_at(2s), "register 3/1/1 on EDGE; ");
}

TEST_F(PlanTest, NobodyIsAskedWhoIsNotThere) {
    source().ready = false;
    query().lagging = {"EDGE"};
    EXPECT_EQ(plan_at(1min), "register 3/1/2 on HUB; ");
}

TEST(Delay, GrowsFromAHundredMillisecondsToTenSeconds) {
    const Pace pace;
    EXPECT_EQ(delay_after(pace, 1, 0), 100ms);
    EXPECT_EQ(delay_after(pace, 2, 0), 200ms);
    EXPECT_EQ(delay_after(pace, 1, 50'000), 150ms);
    EXPECT_EQ(delay_after(pace, 100, 7), 10s);
}

// ---- failing ------------------------------------------------------------------------------------

TEST_F(PlanTest, AnErrorThatStaysTakesTheQueryBack) {
    is(sink(), registered);
    source().held = status(kSource, failed);
    source().held->fault = Fault::terminal;
    source().held->reason = "no such file";
    EXPECT_EQ(plan_at(0s),
              "report 1 FAILED (no such file); "
              "fail (fragment 1 on worker \"EDGE\" is FAILED: no such file); ");
}

TEST_F(PlanTest, AFailingQueryIsStoppedEverywhereAndThenFailed) {
    query() = {.desired = QueryDesire::failed,
               .state = QueryState::stopping,
               .stop_mode = StopMode::forceful,
               .reason = {.code = ReasonCode::fragment_failed, .text = "no such file"}};
    is(sink(), registered);
    is(source(), failed);
    source().held.reset();
    EXPECT_EQ(plan_at(0s), "stop 3/1/2 on HUB FORCEFUL; ");
    is(sink(), stopped);
    EXPECT_EQ(plan_at(0s), "mark FAILED (no such file); ");
}

TEST_F(PlanTest, AFailureWhileRunningBeginsANextRunWhenTheLastIsGone) {
    query().state = QueryState::running;
    both(running);
    view_.since = at(-24h);
    source().held = status(kSource, failed);
    const std::string why = "fragment 1 on worker \"EDGE\" is FAILED";
    EXPECT_EQ(plan_at(0s), "report 1 FAILED; mark DEPLOYING (" + why + "); ");
    is(source(), failed);
    query().state = QueryState::deploying;
    query().reason = {.code = ReasonCode::fragment_failed, .who = "EDGE", .text = why};
    view_.since = at(0s);
    EXPECT_EQ(plan_at(0s), "stop 3/1/2 on HUB FORCEFUL; forget 3/1/1 on EDGE; ");
    is(sink(), stopped);
    EXPECT_EQ(plan_at(0s), "restart (restarted: " + why + "); ");
    view_.restart_at = at(4s);
    source().held.reset();
    sink().held.reset();
    EXPECT_EQ(plan_at(1s), "");
    EXPECT_EQ(wake_, at(4s));
}

TEST_F(PlanTest, AFragmentThatAWorkerNoLongerHasWasLost) {
    query().state = QueryState::running;
    both(running);
    source().held.reset();
    EXPECT_EQ(plan_at(0s),
              "report 1 FAILED (worker \"EDGE\" no longer has it); mark DEPLOYING (fragment 1 on "
              "worker \"EDGE\" is FAILED: worker \"EDGE\" no longer has it); ");
}

TEST_F(PlanTest, WhatNeverCameToItsWorkerEndsWithItsRun) {
    source().held = status(kSource, failed);
    EXPECT_EQ(plan_at(0s),
              "report 1 FAILED; report 2 STOPPED; "
              "restart (restarted: fragment 1 on worker \"EDGE\" is FAILED); ");
}

TEST_F(PlanTest, ANextRunNeedsAllWorkers) {
    is(source(), failed);
    is(sink(), stopped);
    source().held.reset();
    sink().held.reset();
    sink().ready = false;
    query().reason = {.code = ReasonCode::fragment_failed,
                      .who = "EDGE",
                      .text = "fragment 1 on worker \"EDGE\" is FAILED"};
    EXPECT_EQ(plan_at(2s),
              "mark DEPLOYING lagging HUB (fragment 1 on worker \"EDGE\" is FAILED); ");
}

TEST_F(PlanTest, AQueryThatIsNotToBeRestartedFails) {
    query().settings.on_failure = OnFailure::fail;
    is(sink(), running);
    is(source(), failed);
    EXPECT_EQ(plan_at(0s), "fail (fragment 1 on worker \"EDGE\" is FAILED); ");
}

TEST_F(PlanTest, WhatTakesTooLongIsTakenBack) {
    sink().ready = false;
    query().lagging = {"HUB"};
    source().last_step = StepAsked{.step = RegisterFragment{key(kSource)}, .at = at(599s)};
    EXPECT_EQ(plan_at(599s), "");
    EXPECT_EQ(wake_, at(600s));
    EXPECT_EQ(plan_at(600s), "fail (it did not run within 600 s: no word from worker \"HUB\"); ");
    query().settings.deploy_timeout.reset();
    EXPECT_EQ(plan_at(600s), "");
}

// ---- ending -------------------------------------------------------------------------------------

TEST_F(PlanTest, TerminatedWhenAllHaveEndedByThemselves) {
    query().state = QueryState::running;
    is(source(), terminated);
    is(sink(), running);
    source().held.reset();
    EXPECT_EQ(plan_at(0s), "");
    sink().held = status(kSink, terminated);
    EXPECT_EQ(plan_at(0s), "report 2 TERMINATED; mark TERMINATED; ");
}

TEST_F(PlanTest, AGracefulStopGoesDownstreamStageByStage) {
    query() = {.desired = QueryDesire::stopped, .state = QueryState::stopping};
    both(running);
    EXPECT_EQ(plan_at(0s), "stop 3/1/1 on EDGE GRACEFUL; ");
    source().held->stopping = StopMode::graceful;
    EXPECT_EQ(plan_at(0s), "");
    is(source(), stopped);
    source().held.reset();
    EXPECT_EQ(plan_at(0s), "stop 3/1/2 on HUB GRACEFUL; ");
    sink().held = status(kSink, stopped);
    EXPECT_EQ(plan_at(0s), "report 2 STOPPED; mark STOPPED; ");
}

TEST_F(PlanTest, AGracefulStopDoesNotWaitForDataToArriveWhereNobodyIs) {
    query() = {.desired = QueryDesire::stopped, .state = QueryState::stopping};
    both(running);
    source().held->stopping = StopMode::graceful;
    sink().held.reset();  // its worker was restarted
    EXPECT_EQ(plan_at(0s), "report 2 STOPPED; ");
    sink().recorded = stopped;
    EXPECT_EQ(plan_at(0s), "stop 3/1/1 on EDGE FORCEFUL; ");
}

TEST_F(PlanTest, AForcefulStopGoesEverywhereAtOnceAndOverridesAGracefulOne) {
    query() = {.desired = QueryDesire::stopped,
               .state = QueryState::stopping,
               .stop_mode = StopMode::forceful};
    both(running);
    source().held->stopping = StopMode::graceful;
    EXPECT_EQ(plan_at(0s), "stop 3/1/1 on EDGE FORCEFUL; stop 3/1/2 on HUB FORCEFUL; ");
}

TEST_F(PlanTest, AStopDuringDeploymentFollowsWhatIsOnItsWay) {
    query() = {.desired = QueryDesire::dropped,
               .state = QueryState::stopping,
               .stop_mode = StopMode::forceful};
    source().last_step = StepAsked{.step = RegisterFragment{key(kSource)}, .at = at(0s)};
    // HUB was never asked: it has nothing, and nothing is on its way.
    EXPECT_EQ(plan_at(1s), "report 2 STOPPED; ");
    sink().recorded = stopped;
    EXPECT_EQ(plan_at(1s), "stop 3/1/1 on EDGE FORCEFUL; ");
    source().last_step = {};
    EXPECT_EQ(plan_at(1s), "report 1 STOPPED; release; ");
}

TEST_F(PlanTest, AStopWaitsForWhoCannotBeAsked) {
    query() = {.desired = QueryDesire::dropped,
               .state = QueryState::stopping,
               .stop_mode = StopMode::forceful};
    both(running);
    source().ready = false;
    source().held.reset();
    EXPECT_EQ(plan_at(1s), "mark STOPPING lagging EDGE; ");
    query().lagging = {"EDGE"};
    EXPECT_EQ(plan_at(1h), "stop 3/1/2 on HUB FORCEFUL; ");
}

// ---- strays -------------------------------------------------------------------------------------

TEST_F(PlanTest, WhatTheCatalogDoesNotWantIsStoppedThenForgotten) {
    view_.recorded.reset();
    view_.fragments.clear();
    Stray stray{.worker = "EDGE", .held = status(kSource, running), .last_step = {}};
    view_.strays = {stray};
    EXPECT_EQ(plan_at(0s), "stop 3/1/1 on EDGE FORCEFUL; ");
    view_.strays[0].held.stopping = StopMode::forceful;
    EXPECT_EQ(plan_at(0s), "");
    view_.strays[0].held = status(kSource, stopped);
    EXPECT_EQ(plan_at(0s), "forget 3/1/1 on EDGE; ");
}

TEST_F(PlanTest, WhatHasEndedInTheRecordIsNotTakenUpAgain) {
    query().state = QueryState::failed;
    is(source(), failed);
    is(sink(), stopped);
    sink().held = status(kSink, running);
    source().held.reset();
    EXPECT_EQ(plan_at(0s), "stop 3/1/2 on HUB FORCEFUL; ");
}

}  // namespace
}  // namespace baton::queries
