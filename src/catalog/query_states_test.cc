// Which states a query and its fragments may come into.
#include <gtest/gtest.h>

#include "testing/coordinator/coordinator_test_base.h"

namespace baton::catalog {
namespace {

using testing::CoordinatorTest;

class QueryStates : public CoordinatorTest {
protected:
    // A query of two fragments, on its way to its workers.
    Query deploying_query(const std::string& name) {
        run("CREATE QUERY " + name + " AS SELECT id FROM readings INTO alerts");
        const Query query = **coordinator_->snapshot()->read().query(name);
        request(controllers::MarkQuery{query.id, QueryState::deploying, {}});
        return query;
    }
    void report_all(QueryId query, FragmentState state) {
        const auto fragments = *coordinator_->snapshot()->read().fragments({.query = query});
        for (const Fragment& fragment : fragments) {
            request(controllers::ReportFragment{fragment.id, state, {}});
        }
    }
    FragmentId first_fragment(QueryId query) {
        return coordinator_->snapshot()->read().fragments({.query = query})->front().id;
    }
    QueryState state_of(QueryId query) {
        return (**coordinator_->snapshot()->read().query(query)).state;
    }
};

TEST_F(QueryStates, WhatHasEndedStaysAsItEnded) {
    make_small_cluster();
    const Query query = deploying_query("Q");
    report_all(query.id, FragmentState::failed);
    request(controllers::MarkQuery{query.id, QueryState::failed, {.text = "out of memory"}});
    using enum QueryState;
    for (const QueryState state : {pending, deploying, running, stopping, stopped, terminated}) {
        EXPECT_EQ(refused(controllers::MarkQuery{query.id, state, {}}).code,
                  ErrorCode::query_state);
    }
    EXPECT_EQ(state_of(query.id), failed);
}

TEST_F(QueryStates, AStoppedOrDroppedQueryIsNotDeployedAgain) {
    make_small_cluster();
    const Query stopped = deploying_query("STOPPED");
    request(request::StopQuery{stopped.id});
    const Query dropped = deploying_query("DROPPED");
    request(request::DropQuery{dropped.id});
    for (const QueryId id : {stopped.id, dropped.id}) {
        EXPECT_EQ(refused(controllers::MarkQuery{id, QueryState::deploying, {}}).code,
                  ErrorCode::query_state);
        EXPECT_EQ(state_of(id), QueryState::stopping);
    }
}

TEST_F(QueryStates, WhatWasDroppedIsReleasedHoweverItEnds) {
    make_small_cluster();
    const Query query = deploying_query("Q");
    request(controllers::FailQuery{query.id, {.text = "no such file"}});
    request(request::DropQuery{query.id});
    report_all(query.id, FragmentState::stopped);
    for (const QueryState state : {QueryState::failed, QueryState::terminated}) {
        EXPECT_EQ(refused(controllers::MarkQuery{query.id, state, {}}).code,
                  ErrorCode::query_state);
    }
    EXPECT_EQ(request(controllers::ReleaseQuery{query.id}).did, Did::dropped);
}

TEST_F(QueryStates, NoFragmentOfAnEndedQueryComesToLife) {
    make_small_cluster();
    const Query query = deploying_query("Q");
    report_all(query.id, FragmentState::stopped);
    request(controllers::MarkQuery{query.id, QueryState::failed, {}});
    const FragmentId fragment = first_fragment(query.id);
    EXPECT_EQ(refused(controllers::ReportFragment{fragment, FragmentState::running, {}}).code,
              ErrorCode::query_state);
    request(controllers::ReportFragment{fragment, FragmentState::failed, {.text = "told late"}});
}

TEST_F(QueryStates, ADropOfSeveralSaysWhatWasDone) {
    make_small_cluster();
    const Query leaving = deploying_query("LEAVING");
    request(request::DropQuery{leaving.id});
    run("CREATE QUERY fresh AS SELECT id FROM readings INTO alerts");
    // In the order of the numbers: one that is being dropped already, then one that goes at once;
    // and the other way round.
    sql::Drop all{.kind = sql::EntityKind::query,
                  .target = sql::AttributeIs{"RUN", sql::Integer{false, 1}}};
    EXPECT_EQ(request(request::Drop{all}).did, Did::dropped);
    run("CREATE QUERY fresh AS SELECT id FROM readings INTO alerts");
    const Query later = deploying_query("LATER");
    request(request::DropQuery{later.id});
    EXPECT_EQ(request(request::Drop{all}).did, Did::dropped);
    EXPECT_EQ(request(request::Drop{all}).did, Did::unchanged);
}

TEST_F(QueryStates, AFragmentKeepsTheStageThatItWasPlannedFor) {
    coordinator::CoordinatorOptions options;
    options.planner = [](const sql::CreateQuery& query, const planning::PlanningView& view) {
        auto planned = plan(query, view);
        for (planning::PlannedFragment& fragment : planned->fragments) {
            fragment.stage = fragment.worker == "EDGE" ? 3 : 0;
        }
        return planned;
    };
    open(options);
    make_small_cluster();
    const Query query = deploying_query("Q");
    for (const Fragment& f : *coordinator_->snapshot()->read().fragments({.query = query.id})) {
        EXPECT_EQ(f.stage, f.worker == "EDGE" ? 3U : 0U);
    }
    EXPECT_EQ(rows("SELECT STAGE FROM baton.FRAGMENTS WHERE WORKER = 'EDGE'"), "3\n");
}

TEST_F(QueryStates, AQueryRunsOnWhilePartsOfItHaveEndedByThemselves) {
    make_small_cluster();
    const Query query = deploying_query("Q");
    report_all(query.id, FragmentState::running);
    request(controllers::MarkQuery{query.id, QueryState::running, {}});
    const FragmentId first = first_fragment(query.id);
    request(controllers::ReportFragment{first, FragmentState::terminated, {}});
    EXPECT_EQ(state_of(query.id), QueryState::running);
    EXPECT_EQ(refused(controllers::MarkQuery{query.id, QueryState::terminated, {}}).code,
              ErrorCode::query_state);
    report_all(query.id, FragmentState::terminated);
    request(controllers::MarkQuery{query.id, QueryState::terminated, {}});
}

TEST_F(QueryStates, AWorkerThatIsBackInAnotherIncarnationInterruptsItsQueries) {
    make_small_cluster();
    request(controllers::ReportWorker{"EDGE", WorkerState::active, Incarnation(1), {}});
    request(controllers::ReportWorker{"HUB", WorkerState::active, Incarnation(2), {}});
    const Query query = deploying_query("Q");
    report_all(query.id, FragmentState::running);
    request(controllers::MarkQuery{query.id, QueryState::running, {}});
    request(controllers::ReportWorker{
        "EDGE", WorkerState::active, Incarnation(1), {.text = "as before"}});
    EXPECT_EQ(state_of(query.id), QueryState::running);
    request(controllers::ReportWorker{"EDGE", WorkerState::active, Incarnation(3), {}});
    EXPECT_EQ(state_of(query.id), QueryState::deploying);
}

TEST_F(QueryStates, WhoHoldsAQueryUpIsListed) {
    make_small_cluster();
    const Query query = deploying_query("Q");
    request(
        controllers::MarkQuery{query.id, QueryState::deploying, {.text = "slow"}, {"EDGE", "HUB"}});
    EXPECT_EQ(rows("SELECT LAGGING, REASON FROM baton.QUERIES"), "[\"EDGE\",\"HUB\"]|slow\n");
}

TEST_F(QueryStates, ANextRunBeginsOnlyWhenTheLastOneIsGone) {
    make_small_cluster();
    run("CREATE QUERY fresh AS SELECT id FROM readings INTO alerts");
    const Query fresh = **coordinator_->snapshot()->read().query("FRESH");
    EXPECT_EQ(refused(controllers::RestartQuery{fresh.id, {}}).code, ErrorCode::query_state);
    const Query query = deploying_query("Q");
    EXPECT_EQ(refused(controllers::RestartQuery{QueryId(999), {}}).code, ErrorCode::unknown_query);
    EXPECT_EQ(refused(controllers::RestartQuery{query.id, {}}).code, ErrorCode::query_state);
    report_all(query.id, FragmentState::failed);
    request(controllers::RestartQuery{query.id, {.text = "EDGE was restarted"}});
    const Query again = **coordinator_->snapshot()->read().query(query.id);
    EXPECT_EQ(again.run, 2U);
    EXPECT_EQ(again.state, QueryState::deploying);
    EXPECT_EQ(again.reason.text, "EDGE was restarted");
    EXPECT_EQ(again.restarts, 1U);
    EXPECT_TRUE(again.restarted);
    for (const Fragment& f : *coordinator_->snapshot()->read().fragments({.query = query.id})) {
        EXPECT_EQ(f.run, 2U);
        EXPECT_EQ(f.state, FragmentState::pending);
    }
    request(request::StopQuery{query.id});
    report_all(query.id, FragmentState::stopped);
    EXPECT_EQ(refused(controllers::RestartQuery{query.id, {}}).code, ErrorCode::query_state);
}

TEST_F(QueryStates, WhatIsMarkedStoppingHasNoNextRun) {
    make_small_cluster();
    const Query query = deploying_query("Q");
    request(controllers::MarkQuery{query.id, QueryState::stopping, {}});
    report_all(query.id, FragmentState::stopped);
    EXPECT_EQ(refused(controllers::RestartQuery{query.id, {}}).code, ErrorCode::query_state);
}

TEST_F(QueryStates, ANextRunNeedsItsSlotsAgain) {
    make_small_cluster("2 AS CAPACITY");
    const Query query = deploying_query("Q");
    report_all(query.id, FragmentState::failed);
    run("CREATE QUERY other AS SELECT id FROM readings INTO alerts;"
        "CREATE QUERY another AS SELECT id FROM readings INTO alerts");
    EXPECT_EQ(refused(controllers::RestartQuery{query.id, {}}).code, ErrorCode::placement);
    EXPECT_EQ((**coordinator_->snapshot()->read().query(query.id)).run, 1U);
    run("DROP QUERY other");
    request(controllers::RestartQuery{query.id, {}});
}

TEST_F(QueryStates, WhatCannotRunIsTakenBackAndThenFailed) {
    make_small_cluster();
    EXPECT_EQ(refused(controllers::FailQuery{QueryId(999), {}}).code, ErrorCode::unknown_query);
    const Query query = deploying_query("Q");
    EXPECT_EQ(request(controllers::FailQuery{query.id, {.text = "no such file"}}).did,
              Did::accepted);
    EXPECT_EQ(request(controllers::FailQuery{query.id, {.text = "too late"}}).did, Did::unchanged);
    EXPECT_EQ(request(request::StopQuery{query.id}).did, Did::unchanged);
    const Query failing = **coordinator_->snapshot()->read().query(query.id);
    EXPECT_EQ(failing.state, QueryState::stopping);
    EXPECT_EQ(failing.desired, QueryDesire::failed);
    EXPECT_EQ(failing.stop_mode, StopMode::forceful);
    EXPECT_EQ(refused(controllers::MarkQuery{query.id, QueryState::running, {}}).code,
              ErrorCode::query_state);
    report_all(query.id, FragmentState::stopped);
    request(controllers::MarkQuery{query.id, QueryState::failed, failing.reason});
    EXPECT_EQ(request(controllers::FailQuery{query.id, {}}).did, Did::unchanged);
}

TEST_F(QueryStates, WhatNoWorkerWasToldOfFailsAtOnce) {
    make_small_cluster();
    run("CREATE QUERY q AS SELECT id FROM readings INTO alerts");
    const Query query = **coordinator_->snapshot()->read().query("Q");
    EXPECT_EQ(request(controllers::FailQuery{query.id, {.text = "nobody came"}}).did, Did::changed);
    EXPECT_EQ(state_of(query.id), QueryState::failed);
    run("DROP QUERY q");
}

}  // namespace
}  // namespace baton::catalog
