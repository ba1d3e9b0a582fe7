// Every request, with each of its errors.
#include <gtest/gtest.h>

#include "testing/coordinator/coordinator_test_base.h"

namespace baton::catalog {
namespace {

using testing::CoordinatorTest;

class Requests : public CoordinatorTest {
protected:
    void running_query(const std::string& name) {
        run("CREATE QUERY " + name + " AS SELECT id FROM readings INTO alerts");
        set_query(name, QueryState::deploying);
        for (const Fragment& fragment : fragments_of(name)) {
            request(controllers::ReportFragment{fragment.id, FragmentState::running, {}});
        }
        set_query(name, QueryState::running);
    }
    void set_query(const std::string& name, QueryState state) {
        request(controllers::MarkQuery{query(name).id, state, {}});
    }
    Query query(const std::string& name) {
        auto found = coordinator_->snapshot()->read().query(name);
        EXPECT_TRUE(found && *found) << name;
        return found && *found ? **found : Query{};
    }
    std::vector<Fragment> fragments_of(const std::string& name) {
        const QueryId id = query(name).id;
        return *coordinator_->snapshot()->read().fragments({.query = id});
    }
    std::string state_of_query(const std::string& name) {
        return rows("SELECT state, desired, reason FROM baton.queries WHERE name = '" + name + "'");
    }
};

// ---- logical sources ----------------------------------------------------------------------------

TEST_F(Requests, ALogicalSourceIsCreatedOnce) {
    run("CREATE LOGICAL SOURCE s (a INT8)");
    EXPECT_EQ(outcome_of("CREATE LOGICAL SOURCE s (b INT8)"), "2031: source \"S\" already exists");
    run("CREATE LOGICAL SOURCE IF NOT EXISTS s (b INT8)");
    EXPECT_EQ(rows("SELECT name, schema FROM baton.logical_sources"), "S|[\"A INT8\"]\n");
}

TEST_F(Requests, ASchemaIsNeitherEmptyNorRepeatsAName) {
    EXPECT_EQ(refused(request::CreateLogicalSource{"S", {}, false}).code, ErrorCode::schema);
    EXPECT_EQ(outcome_of("CREATE LOGICAL SOURCE s (a INT8, A INT16)"),
              "2003: invalid schema of source \"S\": column \"A\" appears twice");
    EXPECT_EQ(outcome_of("CREATE SINK s (a INT8, A INT16) TYPE Void"),
              "2003: invalid schema of sink \"S\": column \"A\" appears twice");
}

TEST_F(Requests, ALogicalSourceWithPhysicalSourcesIsNotDropped) {
    make_small_cluster();
    const Error error = error_of("DROP LOGICAL SOURCE readings");
    EXPECT_EQ(error.code, ErrorCode::source_in_use);
    EXPECT_EQ(error.message, "cannot drop source \"READINGS\": it is used by physical sources 1");
    EXPECT_EQ(error.related, std::vector<std::string>{"1"});
    run("DROP PHYSICAL SOURCE 1; DROP LOGICAL SOURCE readings");
    EXPECT_EQ(rows("SHOW LOGICAL SOURCES"), "");
}

TEST_F(Requests, ADropOfWhatIsNotThereSaysSo) {
    EXPECT_EQ(request(request::DropLogicalSource{"X"}).did, Did::absent);
    EXPECT_EQ(request(request::DropPhysicalSource{PhysicalSourceId(9)}).did, Did::absent);
    EXPECT_EQ(request(request::DropSink{"X"}).did, Did::absent);
    EXPECT_EQ(request(request::DropWorker{"X"}).did, Did::absent);
    EXPECT_EQ(request(request::DropQuery{"X", StopMode::graceful}).did, Did::absent);
    EXPECT_EQ(error_of("DROP LOGICAL SOURCE x").code, ErrorCode::unknown_source);
    EXPECT_EQ(error_of("DROP PHYSICAL SOURCE 9").code, ErrorCode::unknown_source);
    EXPECT_EQ(error_of("DROP SINK x").code, ErrorCode::unknown_sink);
    EXPECT_EQ(error_of("DROP WORKER x").code, ErrorCode::unknown_worker);
    EXPECT_EQ(error_of("DROP QUERY x").code, ErrorCode::unknown_query);
    run("DROP LOGICAL SOURCE IF EXISTS x; DROP PHYSICAL SOURCE IF EXISTS 9; "
        "DROP SINK IF EXISTS x; DROP WORKER IF EXISTS x; DROP QUERY IF EXISTS x");
}

TEST_F(Requests, ADropAnswersWithWhatWasDropped) {
    make_small_cluster();
    const Answer answer = request(request::DropSink{"ALERTS"});
    ASSERT_EQ(answer.dropped.size(), 1U);
    EXPECT_EQ(answer.dropped[0].kind, sql::EntityKind::sink);
    EXPECT_EQ(answer.dropped[0].name, "ALERTS");
}

// ---- physical sources ---------------------------------------------------------------------------

TEST_F(Requests, APhysicalSourceNeedsItsLogicalSourceAndWorker) {
    make_small_cluster();
    const Error source = error_of(
        "CREATE PHYSICAL SOURCE FOR reading TYPE File SET ('f' AS SOURCE.FILE_PATH, "
        "'EDGE' AS SOURCE.HOST)");
    EXPECT_EQ(source.code, ErrorCode::unknown_source);
    EXPECT_EQ(source.hint, "did you mean \"READINGS\"?");
    const Error worker = error_of(
        "CREATE PHYSICAL SOURCE FOR readings TYPE File SET ('f' AS SOURCE.FILE_PATH, "
        "'EDG' AS SOURCE.HOST)");
    EXPECT_EQ(worker.code, ErrorCode::unknown_worker);
    EXPECT_EQ(worker.hint, "did you mean \"EDGE\"?");
}

TEST_F(Requests, APhysicalSourceNeedsAKnownTypeAndAValidConfiguration) {
    make_small_cluster();
    EXPECT_EQ(error_of("CREATE PHYSICAL SOURCE FOR readings TYPE Fil").code,
              ErrorCode::unknown_source_type);
    EXPECT_EQ(error_of("CREATE PHYSICAL SOURCE FOR readings TYPE File").code,
              ErrorCode::missing_configuration);
    EXPECT_EQ(error_of("CREATE PHYSICAL SOURCE FOR readings TYPE File "
                       "SET ('f' AS SOURCE.FILE_PATH, 1 AS SOURCE.NOPE)")
                  .code,
              ErrorCode::invalid_configuration);
    EXPECT_EQ(rows("SELECT id FROM baton.physical_sources"), "1\n");
}

TEST_F(Requests, TwoFilesAreTwoSourcesAndTheSameFileTwiceIsNot) {
    make_small_cluster();
    const std::string create =
        "CREATE PHYSICAL SOURCE FOR readings TYPE File SET "
        "('EDGE' AS SOURCE.HOST, ";
    run(create + "'other.csv' AS SOURCE.FILE_PATH)");
    EXPECT_EQ(error_of(create + "'in.csv' AS SOURCE.FILE_PATH)").code, ErrorCode::source_exists);
    // The same configuration spelled out is the same configuration.
    EXPECT_EQ(error_of(create + "'CSV' AS PARSER.\"TYPE\", 'in.csv' AS SOURCE.FILE_PATH)").code,
              ErrorCode::source_exists);
    run("CREATE PHYSICAL SOURCE FOR readings TYPE File SET ('in.csv' AS SOURCE.FILE_PATH, "
        "'HUB' AS SOURCE.HOST)");
}

TEST_F(Requests, AUsedPhysicalSourceIsNotDropped) {
    make_small_cluster();
    run("CREATE QUERY q1 AS SELECT id FROM readings INTO alerts;"
        "CREATE QUERY q7 AS SELECT id FROM readings INTO alerts");
    const Error error = error_of("DROP PHYSICAL SOURCE 1");
    EXPECT_EQ(error.code, ErrorCode::source_in_use);
    EXPECT_EQ(error.message, "cannot drop physical source 1: it is used by queries Q1, Q7");
}

TEST_F(Requests, APhysicalSourceIsDroppedByNumberOnly) {
    EXPECT_EQ(error_of("DROP PHYSICAL SOURCE x").code, ErrorCode::type_mismatch);
    EXPECT_EQ(error_of("DROP SINK 3").code, ErrorCode::type_mismatch);
}

// ---- sinks --------------------------------------------------------------------------------------

TEST_F(Requests, ASinkIsCreatedOnceOnAKnownWorker) {
    make_small_cluster();
    EXPECT_EQ(error_of("CREATE SINK alerts (a INT8) TYPE Void SET ('HUB' AS SINK.HOST)").code,
              ErrorCode::sink_exists);
    EXPECT_EQ(error_of("CREATE SINK b (a INT8) TYPE Void SET ('X' AS SINK.HOST)").code,
              ErrorCode::unknown_worker);
    EXPECT_EQ(error_of("CREATE SINK b (a INT8) TYPE Viod SET ('HUB' AS SINK.HOST)").code,
              ErrorCode::unknown_sink_type);
    EXPECT_EQ(error_of("CREATE SINK b (a INT8) TYPE File SET ('HUB' AS SINK.HOST)").code,
              ErrorCode::missing_configuration);
    run("CREATE SINK IF NOT EXISTS alerts (a INT8) TYPE Void SET ('HUB' AS SINK.HOST)");
}

TEST_F(Requests, AUsedSinkIsNotDroppedAndNamesItsQueries) {
    make_small_cluster();
    run("CREATE QUERY q1 AS SELECT id FROM readings INTO alerts;"
        "CREATE QUERY q7 AS SELECT id FROM readings INTO alerts");
    const Error error = error_of("DROP SINK alerts");
    EXPECT_EQ(error.code, ErrorCode::sink_in_use);
    EXPECT_EQ(error.message, "cannot drop sink \"ALERTS\": it is used by queries Q1, Q7");
    EXPECT_EQ(error.related, (std::vector<std::string>{"Q1", "Q7"}));
}

// ---- placement without a name -------------------------------------------------------------------

TEST_F(Requests, WithoutWorkersTheEmbeddedOneIsMeant) {
    run("CREATE SINK s (a INT8) TYPE Void");
    EXPECT_EQ(rows("SELECT name, kind, address FROM baton.workers"), "embedded|EMBEDDED|\n");
    run("CREATE SINK t (a INT8) TYPE Void");
    EXPECT_EQ(rows("SELECT worker FROM baton.sinks"), "embedded\nembedded\n");
}

TEST_F(Requests, TheOnlyWorkerIsMeantAndSeveralMustBeNamed) {
    run("CREATE WORKER 'a:1'; CREATE SINK s (a INT8) TYPE Void; CREATE WORKER 'b:1'");
    EXPECT_EQ(rows("SELECT worker FROM baton.sinks"), "a:1\n");
    const Error error = error_of("CREATE SINK t (a INT8) TYPE Void");
    EXPECT_EQ(error.code, ErrorCode::invalid_configuration);
    EXPECT_NE(error.message.find("a:1, b:1"), std::string::npos) << error.message;
}

// ---- workers ------------------------------------------------------------------------------------

TEST_F(Requests, AWorkerHasAnAddressOfItsOwn) {
    run("CREATE WORKER 'a:1' SET ('a:2' AS DATA, 3 AS CAPACITY)");
    EXPECT_EQ(error_of("CREATE WORKER 'a:1'").code, ErrorCode::worker_exists);
    EXPECT_EQ(outcome_of("CREATE WORKER 'a:1' SET ('OTHER' AS NAME)"),
              "2305: address \"a:1\" already belongs to worker \"a:1\"");
    EXPECT_EQ(rows("SELECT name, address, data_address, capacity, state FROM baton.workers"),
              "a:1|a:1|a:2|3|ACTIVE\n");
}

TEST_F(Requests, AnAddressIsAHostAndAPort) {
    for (const char* bad : {"a", "a:", ":1", "a:0", "a:65536", "a b:1", "a:1x", "-a:1", "a:-1"}) {
        EXPECT_EQ(error_of("CREATE WORKER '" + std::string(bad) + "'").code,
                  ErrorCode::invalid_address)
            << bad;
    }
    EXPECT_EQ(error_of("CREATE WORKER 'a:1' SET ('b' AS DATA)").code, ErrorCode::invalid_address);
    run("CREATE WORKER '127.0.0.1:65535'; CREATE WORKER '[::1]:1'; CREATE WORKER 'a-b.c_d:80'");
}

TEST_F(Requests, PeersMustExistAndLinksCloseNoCircle) {
    run("CREATE WORKER 'a:1' SET ('A' AS NAME); "
        "CREATE WORKER 'b:1' SET ('B' AS NAME, 'A' AS DOWNSTREAM)");
    const Error unknown = error_of("CREATE WORKER 'c:1' SET ('C' AS NAME, 'X' AS DOWNSTREAM)");
    EXPECT_EQ(unknown.code, ErrorCode::unknown_worker);
    EXPECT_EQ(outcome_of("CREATE WORKER 'c:1' SET ('C' AS NAME, 'B' AS DOWNSTREAM, "
                         "'A' AS UPSTREAM)"),
              "2303: cannot create worker \"C\": its links would close a cycle: C -> B -> A -> C");
    EXPECT_EQ(error_of("CREATE WORKER 'c:1' SET ('C' AS NAME, 'C' AS DOWNSTREAM)").code,
              ErrorCode::invalid_topology);
    run("CREATE WORKER 'c:1' SET ('C' AS NAME, 'A' AS DOWNSTREAM, 'B' AS UPSTREAM)");
    EXPECT_EQ(rows("SHOW LINKS"), "B|A\nB|C\nC|A\n");
}

TEST_F(Requests, AUsedWorkerIsNotDroppedAndNamesItsUsers) {
    make_small_cluster();
    run("CREATE QUERY q AS SELECT id FROM readings INTO alerts");
    EXPECT_EQ(outcome_of("DROP WORKER hub"),
              "2306: cannot drop worker \"HUB\": it is used by queries Q and by sinks ALERTS");
    EXPECT_EQ(outcome_of("DROP WORKER edge"),
              "2306: cannot drop worker \"EDGE\": it is used by queries Q and by physical sources "
              "of READINGS");
}

TEST_F(Requests, ADroppedWorkerTakesItsLinksAlong) {
    make_small_cluster();
    run("DROP SINK alerts; DROP WORKER hub");
    EXPECT_EQ(rows("SHOW LINKS"), "");
    EXPECT_EQ(rows("SELECT name FROM baton.workers"), "EDGE\n");
}

TEST_F(Requests, DrainAndResumeAreIdempotent) {
    make_small_cluster();
    EXPECT_EQ(request(request::DrainWorker{"HUB", true}).did, Did::changed);
    EXPECT_EQ(request(request::DrainWorker{"HUB", true}).did, Did::unchanged);
    EXPECT_EQ(outcome_of("SELECT id FROM readings INTO alerts"),
              "2300: cannot place the query: worker \"HUB\" of the sink is draining");
    run("RESUME WORKER hub; SELECT id FROM readings INTO alerts");
    EXPECT_EQ(error_of("DRAIN WORKER x").code, ErrorCode::unknown_worker);
}

// ---- queries ------------------------------------------------------------------------------------

TEST_F(Requests, AQueryIsAcceptedAsPendingWithItsFragments) {
    make_small_cluster();
    run("CREATE QUERY q AS SELECT id FROM readings INTO alerts");
    EXPECT_EQ(state_of_query("Q"), "PENDING|RUNNING|\n");
    EXPECT_EQ(rows("SELECT worker, slots, state FROM baton.fragments"),
              "EDGE|1|PENDING\nHUB|1|PENDING\n");
    EXPECT_EQ(rows("SELECT source FROM baton.query_sources"), "1\n");
    EXPECT_EQ(rows("SELECT sink FROM baton.query_sinks"), "ALERTS\n");
}

TEST_F(Requests, AQueryWithoutANameGetsOneThatIsFree) {
    make_small_cluster();
    run("CREATE QUERY q5 AS SELECT id FROM readings INTO alerts");  // takes ids 2, 3, 4
    const auto results = run("SELECT id FROM readings INTO alerts");
    EXPECT_EQ(std::get<Answer>(results[0].value).name, "Q5_");
    run("SELECT id FROM readings INTO alerts SET ('my-id' AS QUERY.ID)");
    EXPECT_EQ(rows("SELECT id FROM baton.queries WHERE name = 'my-id'"), "8\n");
}

TEST_F(Requests, AQueryNameIsTakenUntilTheQueryIsGone) {
    make_small_cluster();
    const std::string create = "CREATE QUERY q AS SELECT id FROM readings INTO alerts";
    running_query("Q");
    EXPECT_EQ(error_of(create).code, ErrorCode::query_exists);
    run("DROP QUERY q");
    EXPECT_EQ(state_of_query("Q"), "STOPPING|DROPPED|dropped by a user\n");
    const Error locked = error_of(create);
    EXPECT_EQ(locked.code, ErrorCode::query_exists);
    EXPECT_EQ(locked.message, "query \"Q\" is still being removed (id 2)");
    EXPECT_EQ(locked.hint, "its name is free once workers EDGE, HUB have confirmed");
    EXPECT_EQ(refused(controllers::ReleaseQuery{QueryId(2)}).code, ErrorCode::query_state);
    for (const Fragment& fragment : fragments_of("Q")) {
        request(controllers::ReportFragment{fragment.id, FragmentState::stopped, {}});
    }
    request(controllers::ReleaseQuery{QueryId(2)});
    run(create);
}

TEST_F(Requests, AQueryNeedsItsSourceItsSinkAndAPhysicalSource) {
    make_small_cluster();
    const Error source = error_of("SELECT id FROM redings INTO alerts");
    EXPECT_EQ(source.code, ErrorCode::unknown_source);
    EXPECT_EQ(source.hint, "did you mean \"READINGS\"?");
    ASSERT_TRUE(source.at);
    EXPECT_EQ(source.at->column, 16U);
    const Error sink = error_of("SELECT id FROM readings INTO alert");
    EXPECT_EQ(sink.code, ErrorCode::unknown_sink);
    EXPECT_EQ(sink.hint, "did you mean \"ALERTS\"?");
    run("CREATE LOGICAL SOURCE empty (id UINT64 NOT NULL)");
    EXPECT_EQ(outcome_of("SELECT id FROM empty INTO alerts"),
              "2300: cannot place the query: source \"EMPTY\" has no physical source");
    EXPECT_EQ(rows("SHOW QUERIES"), "");
}

TEST_F(Requests, APathOfLinksLeadsFromSourceToSink) {
    make_small_cluster();
    run("CREATE WORKER 'far:1' SET ('FAR' AS NAME); "
        "CREATE SINK away (id UINT64 NOT NULL) TYPE Void SET ('FAR' AS SINK.HOST)");
    EXPECT_EQ(outcome_of("SELECT id FROM readings INTO away"),
              "2300: cannot place the query: no path of links leads from worker \"EDGE\" to "
              "\"FAR\"");
}

TEST_F(Requests, CapacityIsNeverExceededAndComesBack) {
    make_small_cluster("1 AS CAPACITY");
    run("CREATE QUERY a AS SELECT id FROM readings INTO alerts");
    EXPECT_EQ(outcome_of("CREATE QUERY b AS SELECT id FROM readings INTO alerts"),
              "2300: cannot place the query: worker \"HUB\" has no slot left (1 of 1 used, 1 "
              "needed)");
    run("STOP QUERY a; CREATE QUERY b AS SELECT id FROM readings INTO alerts");
    EXPECT_EQ(rows("SELECT used FROM baton.workers WHERE name = 'HUB'"), "1\n");
}

TEST_F(Requests, NothingIsPlacedOnAnUnreachableWorker) {
    make_small_cluster();
    request(controllers::ReportWorker{
        "EDGE", WorkerState::unreachable, {}, {.text = "no answer for 3 s"}});
    EXPECT_EQ(outcome_of("SELECT id FROM readings INTO alerts"),
              "2300: cannot place the query: worker \"EDGE\" of physical source 1 is UNREACHABLE "
              "(no answer for 3 s)");
}

TEST_F(Requests, APendingOrEndedQueryIsDroppedAtOnce) {
    make_small_cluster();
    run("CREATE QUERY a AS SELECT id FROM readings INTO alerts; STOP QUERY a");
    EXPECT_EQ(state_of_query("A"), "STOPPED|STOPPED|stopped by a user\n");
    run("DROP QUERY a; CREATE QUERY a AS SELECT id FROM readings INTO alerts; DROP QUERY a");
    EXPECT_EQ(rows("SHOW QUERIES"), "");
    EXPECT_EQ(rows("SHOW FRAGMENTS"), "");
}

TEST_F(Requests, AStopIsAcceptedAndForcefulOverridesGraceful) {
    make_small_cluster();
    running_query("Q");
    EXPECT_EQ(request(request::StopQuery{"Q", StopMode::graceful}).did, Did::accepted);
    EXPECT_EQ(request(request::StopQuery{"Q", StopMode::graceful}).did, Did::unchanged);
    EXPECT_EQ(request(request::StopQuery{"Q", StopMode::forceful}).did, Did::accepted);
    EXPECT_EQ(request(request::StopQuery{"Q", StopMode::graceful}).did, Did::unchanged);
    EXPECT_EQ(query("Q").stop_mode, StopMode::forceful);
    run("DROP QUERY q");
    EXPECT_EQ(error_of("STOP QUERY q").code, ErrorCode::query_state);
}

TEST_F(Requests, DropWhereDropsAllThatMatchOrNothing) {
    make_small_cluster();
    run("CREATE QUERY a AS SELECT id FROM readings INTO alerts;"
        "CREATE QUERY b AS SELECT id FROM readings INTO alerts");
    EXPECT_EQ(error_of("DROP SINK WHERE type = 'Print'").code, ErrorCode::sink_in_use);
    run("DROP QUERY WHERE state = 'PENDING'; DROP SINK WHERE type = 'Print'");
    EXPECT_EQ(rows("SHOW QUERIES") + rows("SHOW SINKS"), "");
    EXPECT_EQ(error_of("DROP QUERY WHERE stat = 'PENDING'").code, ErrorCode::unknown_field);
    EXPECT_EQ(error_of("DROP QUERY WHERE state = 'FAILED'").code, ErrorCode::unknown_query);
    run("DROP QUERY IF EXISTS WHERE state = 'FAILED'");
}

// ---- what controllers report --------------------------------------------------------------------

TEST_F(Requests, RunningNeedsEveryFragmentRunningOnAnActiveWorker) {
    make_small_cluster();
    run("CREATE QUERY q AS SELECT id FROM readings INTO alerts");
    set_query("Q", QueryState::deploying);
    const auto fragments = fragments_of("Q");
    request(controllers::ReportFragment{fragments[0].id, FragmentState::running, {}});
    EXPECT_EQ(refused(controllers::MarkQuery{query("Q").id, QueryState::running, {}}).code,
              ErrorCode::query_state);
    request(controllers::ReportFragment{fragments[1].id, FragmentState::running, {}});
    request(controllers::ReportWorker{"HUB", WorkerState::unreachable, {}, {.text = "gone"}});
    EXPECT_EQ(refused(controllers::MarkQuery{query("Q").id, QueryState::running, {}}).code,
              ErrorCode::query_state);
    request(controllers::ReportWorker{"HUB", WorkerState::active, Incarnation(7), {}});
    set_query("Q", QueryState::running);
    EXPECT_EQ(state_of_query("Q"), "RUNNING|RUNNING|\n");
}

TEST_F(Requests, AnUnreachableWorkerTakesItsQueriesOutOfRunningInTheSameRevision) {
    make_small_cluster();
    running_query("Q");
    request(controllers::ReportWorker{"EDGE", WorkerState::unreachable, {}, {.text = "no answer"}});
    EXPECT_EQ(state_of_query("Q"), "DEPLOYING|RUNNING|worker \"EDGE\" is UNREACHABLE\n");
    const Revision worker = (*coordinator_->snapshot()->read().worker("EDGE"))->revision;
    EXPECT_EQ(query("Q").revision, worker);
}

TEST_F(Requests, AFragmentThatStopsRunningTakesItsQueryOutOfRunning) {
    make_small_cluster();
    running_query("Q");
    const Fragment fragment = fragments_of("Q").front();
    request(
        controllers::ReportFragment{fragment.id, FragmentState::failed, {.text = "out of memory"}});
    EXPECT_EQ(state_of_query("Q"),
              "DEPLOYING|RUNNING|fragment 3 on worker \"EDGE\" is FAILED: out of memory\n");
}

TEST_F(Requests, WhatAFragmentCountedIsKeptUntilItsNextRun) {
    make_small_cluster();
    running_query("Q");
    for (const Fragment& fragment : fragments_of("Q")) {
        request(controllers::ReportFragment{fragment.id,
                                            FragmentState::failed,
                                            {.text = "out of memory"},
                                            Counts{.rows_in = 7, .late = 2}});
    }
    const std::string question = "SELECT worker, run, rows_in, rows_out, late FROM baton.counters";
    EXPECT_EQ(rows(question), "EDGE|1|7|0|2\nHUB|1|7|0|2\n");
    request(controllers::RestartQuery{query("Q").id, {.text = "again"}});
    EXPECT_EQ(rows(question), "EDGE|2|||\nHUB|2|||\n");
}

TEST_F(Requests, NothingIsPlacedOnAWorkerThatLeaves) {
    make_small_cluster();
    request(controllers::ReportWorker{"EDGE", WorkerState::active, Incarnation(1), {}, true});
    const Error error = error_of("CREATE QUERY q AS SELECT id FROM readings INTO alerts");
    EXPECT_EQ(error.code, ErrorCode::placement);
    EXPECT_NE(error.message.find("is leaving"), std::string::npos) << error.message;
    request(controllers::ReportWorker{"EDGE", WorkerState::active, Incarnation(2), {}});
    run("CREATE QUERY q AS SELECT id FROM readings INTO alerts");
}

TEST_F(Requests, AQueryEndsOnlyWhenAllItsFragmentsHave) {
    make_small_cluster();
    running_query("Q");
    EXPECT_EQ(
        refused(controllers::MarkQuery{query("Q").id, QueryState::failed, {.text = "x"}}).code,
        ErrorCode::query_state);
    for (const Fragment& fragment : fragments_of("Q")) {
        request(controllers::ReportFragment{fragment.id, FragmentState::terminated, {}});
    }
    set_query("Q", QueryState::terminated);
    EXPECT_EQ(rows("SELECT used FROM baton.workers"), "0\n0\n");
}

TEST_F(Requests, TheSameReportTwiceChangesNothing) {
    make_small_cluster();
    running_query("Q");
    const Revision before = coordinator_->snapshot()->revision();
    const Fragment fragment = fragments_of("Q").front();
    EXPECT_EQ(request(controllers::ReportFragment{fragment.id, FragmentState::running, {}}).did,
              Did::unchanged);
    EXPECT_EQ(coordinator_->snapshot()->revision(), before);
}

// ---- secrets ------------------------------------------------------------------------------------

TEST_F(Requests, SecretsAreMaskedWhereverTheyCouldBeSeen) {
    run("CREATE LOGICAL SOURCE s (a INT8);"
        "CREATE PHYSICAL SOURCE FOR s TYPE MQTT SET ('tcp://h:1' AS SOURCE.SERVER_URI, "
        "'t' AS SOURCE.TOPIC, 'me' AS SOURCE.USERNAME, 'hunter2' AS SOURCE.PASSWORD);"
        "CREATE SINK k (a INT8) TYPE Void;"
        "SELECT a FROM MQTT('tcp://h:1' AS SOURCE.SERVER_URI, 't' AS SOURCE.TOPIC, "
        "'me' AS SOURCE.USERNAME, 'hunter2' AS SOURCE.PASSWORD, "
        "SCHEMA(a INT8) AS SOURCE.SCHEMA) INTO k");
    (void)error_of("CREATE PHYSICAL SOURCE FOR s TYPE MQTT SET ('hunter2' AS SOURCE.PASSWORD)");
    (void)error_of("CREATE PHYSICAL SORCE FOR s SET ('hunter2' AS SOURCE.PASSWORD)");
    std::string everything;
    for (const kinds::View& view : views::views()) {
        everything += rows("SELECT * FROM baton." + std::string(view.name));
    }
    EXPECT_EQ(everything.find("hunter2"), std::string::npos);
    EXPECT_NE(everything.find("***"), std::string::npos);
    const auto stored = *coordinator_->snapshot()->read().physical_source(PhysicalSourceId(1));
    EXPECT_EQ(std::get<std::string>(stored->source.at("PASSWORD")), "hunter2");
}

}  // namespace
}  // namespace baton::catalog
