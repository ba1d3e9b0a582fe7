// Which states a query and its fragments may come into.
#include <gtest/gtest.h>

#include "testing/coordinator/coordinator_test_base.h"

namespace baton {
namespace {

using testing::CoordinatorTest;

class QueryStates : public CoordinatorTest {
protected:
    // A query of two fragments, on its way to its workers.
    Query deploying_query(const std::string& name) {
        run("CREATE QUERY " + name + " AS SELECT id FROM readings INTO alerts");
        const Query query = **coordinator_->snapshot()->read().query(name);
        request(request::MarkQuery{query.id, QueryState::deploying, ""});
        return query;
    }
    void report_all(QueryId query, FragmentState state) {
        const auto fragments = *coordinator_->snapshot()->read().fragments({.query = query});
        for (const Fragment& fragment : fragments) {
            request(request::ReportFragment{fragment.id, state, ""});
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
    request(request::MarkQuery{query.id, QueryState::failed, "out of memory"});
    using enum QueryState;
    for (const QueryState state : {pending, deploying, running, stopping, stopped, terminated}) {
        EXPECT_EQ(refused(request::MarkQuery{query.id, state, ""}).code, ErrorCode::query_state);
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
        EXPECT_EQ(refused(request::MarkQuery{id, QueryState::deploying, ""}).code,
                  ErrorCode::query_state);
        EXPECT_EQ(state_of(id), QueryState::stopping);
    }
}

TEST_F(QueryStates, NoFragmentOfAnEndedQueryComesToLife) {
    make_small_cluster();
    const Query query = deploying_query("Q");
    report_all(query.id, FragmentState::stopped);
    request(request::MarkQuery{query.id, QueryState::failed, ""});
    const FragmentId fragment = first_fragment(query.id);
    EXPECT_EQ(refused(request::ReportFragment{fragment, FragmentState::running, ""}).code,
              ErrorCode::query_state);
    request(request::ReportFragment{fragment, FragmentState::failed, "told late"});
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

}  // namespace
}  // namespace baton
