#include "coordinator/sessions/session.h"

#include <gtest/gtest.h>

#include "adapters/sqlite/sqlite.h"
#include "catalog/schema.h"
#include "testing/coordinator/coordinator_test_base.h"

namespace baton::coordinator {
namespace {

using SessionTest = testing::CoordinatorTest;

// ---- transactions -------------------------------------------------------------------------------

TEST_F(SessionTest, ABundleHappensWholeWithOneRevision) {
    const auto results =
        run("BEGIN; CREATE WORKER 'a:1'; CREATE LOGICAL SOURCE s (x INT8); "
            "CREATE SINK k (x INT8) TYPE Void; COMMIT");
    EXPECT_EQ(results.back().revision, Revision(1));
    EXPECT_EQ(rows("SELECT revision FROM baton.workers"), "1\n");
    EXPECT_EQ(rows("SELECT revision FROM baton.sinks"), "1\n");
}

TEST_F(SessionTest, ABundleThatFailsLeavesNothing) {
    const Error error = error_of(
        "BEGIN; CREATE WORKER 'a:1';\n CREATE SINK k (x INT8) TYPE Void;\n"
        "CREATE SINK k (x INT8) TYPE Void; COMMIT");
    EXPECT_EQ(error.code, ErrorCode::sink_exists);
    ASSERT_TRUE(error.at);
    EXPECT_EQ(error.at->line, 3U);
    EXPECT_EQ(rows("SHOW WORKERS") + rows("SHOW SINKS"), "");
    EXPECT_FALSE(session_->in_transaction());
}

TEST_F(SessionTest, LaterStatementsSeeEarlierOnesAlsoInQueries) {
    run("BEGIN; CREATE WORKER 'a:1' SET (1 AS CAPACITY); CREATE LOGICAL SOURCE s (x INT8);"
        "CREATE PHYSICAL SOURCE FOR s TYPE File SET ('f' AS SOURCE.FILE_PATH);"
        "CREATE SINK k (x INT8) TYPE Void; CREATE QUERY q AS SELECT x FROM s INTO k; COMMIT");
    EXPECT_EQ(rows("SELECT name, state FROM baton.queries"), "Q|PENDING\n");
    // The slot freed by the drop is there for the query that follows it.
    run("BEGIN; DROP QUERY q; CREATE QUERY r AS SELECT x FROM s INTO k; COMMIT");
    EXPECT_EQ(rows("SELECT name FROM baton.queries"), "R\n");
}

TEST_F(SessionTest, AStatementInATransactionIsTriedAtOnceAndKeptAtCommit) {
    Session other(*coordinator_, "other");
    run("BEGIN");
    run("CREATE SINK k (x INT8) TYPE Void");
    EXPECT_EQ(rows("SELECT name FROM baton.sinks"), "K\n");
    EXPECT_EQ(rows(other, "SELECT name FROM baton.sinks"), "");
    run("COMMIT");
    EXPECT_EQ(rows(other, "SELECT name FROM baton.sinks"), "K\n");
}

TEST_F(SessionTest, RollbackForgetsEverything) {
    run("BEGIN");
    run("CREATE SINK k (x INT8) TYPE Void");
    run("ROLLBACK");
    EXPECT_EQ(rows("SHOW SINKS") + rows("SHOW WORKERS"), "");
}

TEST_F(SessionTest, AfterAnErrorOnlyRollbackHelps) {
    run("BEGIN");
    run("CREATE SINK k (x INT8) TYPE Void");
    EXPECT_EQ(error_of("DROP SINK nope").code, ErrorCode::unknown_sink);
    EXPECT_EQ(error_of("SHOW SINKS").code, ErrorCode::transaction_state);
    EXPECT_EQ(error_of("COMMIT").code, ErrorCode::transaction_state);
    EXPECT_FALSE(session_->in_transaction());
    EXPECT_EQ(rows("SHOW SINKS"), "");
}

TEST_F(SessionTest, AStatementThatCannotBeParsedFailsTheTransactionToo) {
    run("BEGIN");
    run("CREATE SINK k (x INT8) TYPE Void");
    EXPECT_EQ(error_of("CREATE SNK l (x INT8) TYPE Void").code, ErrorCode::syntax);
    EXPECT_TRUE(session_->transaction_failed());
    EXPECT_EQ(error_of("COMMIT").code, ErrorCode::transaction_state);
    EXPECT_EQ(rows("SHOW SINKS"), "");
}

TEST_F(SessionTest, TransactionsDoNotNestAndMustBeOpenToEnd) {
    EXPECT_EQ(error_of("COMMIT").code, ErrorCode::transaction_state);
    EXPECT_EQ(error_of("ROLLBACK").code, ErrorCode::transaction_state);
    run("BEGIN");
    EXPECT_EQ(error_of("BEGIN").code, ErrorCode::transaction_state);
    run("ROLLBACK");
    run("BEGIN; COMMIT");
}

TEST_F(SessionTest, ReadsInATransactionBelongToOneRevision) {
    make_small_cluster();
    Session other(*coordinator_, "other");
    run("BEGIN");
    EXPECT_EQ(rows("SELECT name FROM baton.sinks"), "ALERTS\n");
    run(other, "DROP SINK alerts; DROP PHYSICAL SOURCE 1");
    EXPECT_EQ(rows("SELECT id FROM baton.physical_sources"), "1\n");
    EXPECT_EQ(rows("SELECT name FROM baton.sinks"), "ALERTS\n");
    run("COMMIT");
    EXPECT_EQ(rows("SELECT name FROM baton.sinks"), "");
}

TEST_F(SessionTest, ATransactionThatReadWhatHasChangedIsRefused) {
    make_small_cluster();
    Session other(*coordinator_, "other");
    run("BEGIN; SHOW SINKS");
    run("CREATE SINK b (x INT8) TYPE Void SET ('HUB' AS SINK.HOST)");
    run(other, "DROP SINK alerts");
    EXPECT_EQ(error_of("COMMIT").code, ErrorCode::conflict);
    EXPECT_EQ(rows("SHOW SINKS"), "");
    // What it did not read may change.
    run("BEGIN; SHOW SINKS");
    run("CREATE SINK b (x INT8) TYPE Void SET ('HUB' AS SINK.HOST)");
    run(other, "CREATE WORKER 'new:1'");
    run("COMMIT");
}

TEST_F(SessionTest, WhatWasReadBeforeTheTermBeganMayHaveChangedSince) {
    make_small_cluster();
    Session other(*coordinator_, "other");
    run("BEGIN; SHOW SINKS");
    run(other, "DROP SINK alerts");
    coordinator_->follow();
    ASSERT_TRUE(coordinator_->lead(Epoch()));
    EXPECT_EQ(error_of("CREATE SINK b (x INT8) TYPE Void SET ('HUB' AS SINK.HOST)").code,
              ErrorCode::conflict);
}

TEST_F(SessionTest, WhatIsReadAfterAChangeIsCheckedAtCommitToo) {
    make_small_cluster();
    Session other(*coordinator_, "other");
    run("BEGIN; CREATE LOGICAL SOURCE mine (x INT8)");
    EXPECT_EQ(rows("SELECT name FROM baton.sinks"), "ALERTS\n");
    run(other, "DROP SINK alerts");
    EXPECT_EQ(error_of("COMMIT").code, ErrorCode::conflict);
    EXPECT_EQ(rows("SELECT name FROM baton.logical_sources"), "READINGS\n");
    // Its own changes are none of another's.
    run("BEGIN; CREATE LOGICAL SOURCE mine (x INT8)");
    EXPECT_EQ(rows("SELECT name FROM baton.logical_sources"), "MINE\nREADINGS\n");
    run("COMMIT");
}

TEST_F(SessionTest, WatchAndWaitStayOutsideTransactions) {
    run("BEGIN");
    EXPECT_EQ(error_of("WATCH SHOW QUERIES").code, ErrorCode::transaction_state);
    run("ROLLBACK; BEGIN");
    EXPECT_EQ(error_of("WAIT FOR QUERY q").code, ErrorCode::transaction_state);
}

TEST_F(SessionTest, AnOpenTransactionEndsWithItsSession) {
    {
        Session other(*coordinator_, "other");
        run(other, "BEGIN");
        run(other, "CREATE SINK k (x INT8) TYPE Void");
    }
    EXPECT_EQ(rows("SHOW SINKS"), "");
}

// ---- the statement log --------------------------------------------------------------------------

TEST_F(SessionTest, TheLogTellsWhoAskedWhatAndHowItEnded) {
    Session alice(*coordinator_, "alice");
    run(alice, "CREATE WORKER 'a:1'");
    (void)error_of(alice, "CREATE WORKER 'a:1'");
    (void)error_of(alice, "CREATE WRKER 'a:1'");
    (void)error_of(alice, "SELECT x FROM nope INTO nowhere");
    (void)error_of(alice, "CREATE SINK s (x INT8) TYPE Nope");
    run("CREATE LOGICAL SOURCE s (x INT8)");  // commits the lines that were waiting
    EXPECT_EQ(rows("SELECT principal, statement, outcome, error, revision FROM baton.statements "
                   "WHERE principal = 'alice'"),
              "alice|CREATE WORKER 'a:1'|OK||1\n"
              "alice|CREATE WORKER '***'|ERROR|2305|\n"
              "alice|CREATE WRKER '***'|ERROR|2000|\n"
              "alice|SELECT X FROM NOPE INTO NOWHERE|ERROR|2030|\n"
              "alice|CREATE SINK S (X INT8) TYPE NOPE|ERROR|2106|\n");
}

TEST_F(SessionTest, TheLogKeepsEveryStatementOfABundle) {
    run("BEGIN; CREATE WORKER 'a:1'; CREATE WORKER 'b:1'; COMMIT");
    EXPECT_EQ(rows("SELECT statement, revision FROM baton.statements"),
              "CREATE WORKER 'a:1'|1\nCREATE WORKER 'b:1'|1\n");
}

TEST_F(SessionTest, AStatementThatIsNotTextKeepsNothingFromBeingWritten) {
    for (const std::string& odd :
         {std::string("SHOW \xff"), std::string("SHOW \0 x", 8), std::string("\xc3"),
          "SHOW \"" + std::string(9'993, 'x') + "\u00e9\"y",  // cut inside of a character
          std::string(20'000, '\xed')}) {
        Session stranger(*coordinator_, "stranger\xff");
        (void)error_of(stranger, odd);
        run("CREATE LOGICAL SOURCE s (x INT8)");
        run("DROP LOGICAL SOURCE s");
    }
    EXPECT_EQ(rows("SELECT statement FROM baton.statements WHERE principal = 'stranger\ufffd' AND "
                   "error = 2000 LIMIT 1"),
              "SHOW \ufffd\n");
}

TEST_F(SessionTest, TheLogKeepsOnlySoMuchOfAStatement) {
    (void)error_of("SHOW " + std::string(100'000, 'x'));
    run("CREATE LOGICAL SOURCE s (x INT8)");
    const std::string line =
        rows("SELECT statement, message FROM baton.statements WHERE outcome = 'ERROR'");
    EXPECT_GT(line.size(), 1'000U);
    EXPECT_LT(line.size(), 15'000U);
}

// A reader may write nothing, and what it is refused is written down: that has a bound, too.
TEST_F(SessionTest, TheLogTakesOnlySoMuchInAMinute) {
    CoordinatorOptions options;
    options.commits.committer.log_bytes_per_minute = 20'000;
    open(options);
    for (int i = 0; i < 100; ++i) (void)error_of("SHOW " + std::string(1'000, 'x'));
    run("CREATE LOGICAL SOURCE s (x INT8)");
    const std::string lines = rows("SELECT id FROM baton.statements WHERE outcome = 'ERROR'");
    const auto count = std::count(lines.begin(), lines.end(), '\n');
    EXPECT_GE(count, 5);
    EXPECT_LE(count, 20);
}

TEST_F(SessionTest, TheLogIsBoundedByCount) {
    CoordinatorOptions options;
    options.commits.committer.history.statements_max = 50;
    open(options);
    for (int i = 0; i < 400; ++i) {
        run("CREATE LOGICAL SOURCE IF NOT EXISTS s (x INT8)");
    }
    const std::string left = rows("SELECT id FROM baton.statements");
    const auto count = std::count(left.begin(), left.end(), '\n');
    EXPECT_GE(count, 50);
    EXPECT_LE(count, 50 + 64);  // trimmed every 64 commits
}

// ---- views --------------------------------------------------------------------------------------

TEST_F(SessionTest, ASelectWithoutIntoAsksTheViews) {
    make_small_cluster();
    EXPECT_EQ(rows("SELECT upstream AS u FROM baton.links WHERE downstream = 'HUB'"), "EDGE\n");
    EXPECT_EQ(error_of("SELECT nam FROM baton.workers").hint, "did you mean \"NAME\"?");
    EXPECT_EQ(error_of("SELECT name FROM baton.worker").hint, "did you mean \"WORKERS\"?");
    EXPECT_EQ(error_of("SELECT name FROM readings").code, ErrorCode::not_supported);
    EXPECT_EQ(error_of("SELECT name FROM baton.workers WHERE name = 3").code,
              ErrorCode::type_mismatch);
    EXPECT_EQ(error_of("SELECT name FROM baton.workers WHERE name + 1 = 3").code,
              ErrorCode::not_supported);
}

TEST_F(SessionTest, ShowPrintsDescriptors) {
    EXPECT_EQ(rows("SHOW SINK TYPES WHERE KEY = 'SINK.FILE_PATH' AND TYPE = 'File'")
                  .substr(0, std::string_view("File|SINK.FILE_PATH|text|true").size()),
              "File|SINK.FILE_PATH|text|true");
    EXPECT_NE(rows("SHOW SOURCE TYPES WHERE SECRET = TRUE").find("PASSWORD"), std::string::npos);
    EXPECT_NE(rows("SHOW FORMAT TYPES").find("INPUT_FORMATTER.FIELD_DELIMITER"), std::string::npos);
    EXPECT_EQ(rows("SHOW VERSION"), "baton 0.1.0\n");
}

TEST_F(SessionTest, WhatIsNotImplementedIsRefusedByName) {
    make_small_cluster();
    EXPECT_EQ(error_of("CANCEL QUERY 1").code, ErrorCode::not_supported);
}

TEST_F(SessionTest, ExplainShowsThePlanAndChangesNothing) {
    make_small_cluster();
    const std::string before = rows("SHOW QUERIES");
    const std::string plan =
        rows("EXPLAIN (OPTIMIZED) SELECT id FROM readings WHERE id > UINT64(5) INTO alerts");
    EXPECT_NE(plan.find("FILTER ID > "), std::string::npos) << plan;
    EXPECT_EQ(rows("SHOW QUERIES"), before);
    EXPECT_EQ(error_of("EXPLAIN SELECT nope FROM readings INTO alerts").code,
              ErrorCode::unknown_field);
    EXPECT_EQ(error_of("BEGIN; EXPLAIN SELECT id FROM readings INTO alerts").code,
              ErrorCode::transaction_state);
}

// ---- WAIT ---------------------------------------------------------------------------------------

TEST_F(SessionTest, AWaitEndsWithAReason) {
    make_small_cluster();
    EXPECT_EQ(outcome_of("WAIT FOR QUERY q"),
              "2040: cannot wait for query \"Q\": it does not exist");
    EXPECT_EQ(outcome_of("WAIT FOR QUERY 77"), "2040: cannot wait for query 77: it does not exist");
    run("CREATE QUERY q AS SELECT id FROM readings INTO alerts");
    run("WAIT FOR QUERY q STATE PENDING");
    const Error late = error_of("WAIT FOR QUERY q STATE RUNNING TIMEOUT 20 MS");
    EXPECT_EQ(late.code, ErrorCode::wait_timed_out);
    EXPECT_EQ(late.message, "the wait timed out: the query is PENDING");
    run("STOP QUERY q; WAIT FOR QUERY q STATE STOPPED; WAIT FOR QUERY q");
    EXPECT_EQ(error_of("WAIT FOR QUERY q STATE PENDING").code, ErrorCode::wait_timed_out);
    const Error never = error_of("WAIT FOR QUERY q STATE RUNNING");
    EXPECT_EQ(never.message,
              "query \"Q\" can no longer be RUNNING: it is STOPPED (stopped by a user)");
}

TEST_F(SessionTest, AWaitForWhatCanNoLongerBeEndsAtOnce) {
    make_small_cluster();
    const auto deploying = [&](const std::string& name) {
        run("CREATE QUERY " + name + " AS SELECT id FROM readings INTO alerts");
        const QueryId id = (**coordinator_->snapshot()->read().query(name)).id;
        request(controllers::MarkQuery{id, QueryState::deploying, {}, {"EDGE"}});
        return id;
    };
    (void)deploying("STOPPED");
    EXPECT_EQ(error_of("WAIT FOR QUERY stopped STATE RUNNING TIMEOUT 1 MS").message,
              "the wait timed out: the query is DEPLOYING, waiting for EDGE");
    run("STOP QUERY stopped");
    (void)deploying("DROPPED");
    run("DROP QUERY dropped");
    request(controllers::FailQuery{deploying("FAILING"), {.text = "no such file"}});
    const auto never = [&](const std::string& name, const std::string& state) {
        return error_of("WAIT FOR QUERY " + name + " STATE " + state).message;
    };
    EXPECT_EQ(never("dropped", "STOPPED"),
              "query \"DROPPED\" can no longer be STOPPED: it is STOPPING (dropped by a user), "
              "waiting for EDGE");
    EXPECT_EQ(never("stopped", "FAILED"),
              "query \"STOPPED\" can no longer be FAILED: it is STOPPING (stopped by a user), "
              "waiting for EDGE");
    EXPECT_EQ(never("failing", "RUNNING"),
              "query \"FAILING\" can no longer be RUNNING: it is STOPPING (no such file), "
              "waiting for EDGE");
    run("WAIT FOR QUERY failing STATE STOPPING");
}

TEST_F(SessionTest, AWaitSeesWhatAnotherSessionDoes) {
    make_small_cluster();
    run("CREATE QUERY q AS SELECT id FROM readings INTO alerts");
    std::thread stopper([&] {
        Session other(*coordinator_, "other");
        (void)other.execute("STOP QUERY q");
    });
    run("WAIT FOR QUERY q STATE STOPPED TIMEOUT 30 SEC");
    stopper.join();
}

TEST_F(SessionTest, AWaitLooksAgainWhenChangesWereSkipped) {
    make_small_cluster();
    run("CREATE QUERY q AS SELECT id FROM readings INTO alerts");
    session_->begin("WAIT FOR QUERY q STATE STOPPED");
    ASSERT_FALSE(session_->go_on());
    int wakes = 0;
    session_->wake_with([&] { wakes += 1; });
    coordinator_->feed().skip_to(coordinator_->feed().last());
    EXPECT_EQ(wakes, 1);
    EXPECT_EQ(session_->give_up("the test is over").error->code, ErrorCode::wait_timed_out);
}

// The time of this machine, and what a test adds to it.
class ClockAhead final : public Clock {
public:
    [[nodiscard]] Instant now() const override { return clock_.now() + ahead; }
    [[nodiscard]] WallTime wall_now() const override { return clock_.wall_now(); }
    Duration ahead{};

private:
    system::SystemClock clock_;
};

class LateSessionTest : public testing::CoordinatorTest {
protected:
    void SetUp() override {
        auto catalog = testing::open_test_catalog();
        ASSERT_TRUE(catalog) << to_string(catalog.error());
        auto opened = CoordinatorRuntime::open(*std::move(catalog), ahead_);
        ASSERT_TRUE(opened) << to_string(opened.error());
        coordinator_ = *std::move(opened);
        session_ = std::make_unique<Session>(*coordinator_, "tester");
        make_small_cluster();
    }
    void TearDown() override {
        session_.reset();
        coordinator_.reset();
    }

    ClockAhead ahead_;
};

TEST_F(LateSessionTest, ATimeoutIsForAllQueriesThatAStatementWaitsFor) {
    session_->begin(
        "BEGIN; CREATE QUERY a AS SELECT id FROM readings INTO alerts; "
        "CREATE QUERY b AS SELECT id FROM readings INTO alerts; COMMIT",
        {.until = Wait::Until::steady, .timeout = std::chrono::hours(1)});
    ASSERT_FALSE(session_->go_on());
    const Instant first = *session_->until();
    ahead_.ahead = std::chrono::minutes(30);
    Session other(*coordinator_, "other");
    run(other, "STOP QUERY a");
    ASSERT_FALSE(session_->go_on());
    EXPECT_LT(*session_->until() - first, std::chrono::minutes(10));
    ahead_.ahead = std::chrono::minutes(70);
    const auto over = session_->go_on();
    ASSERT_TRUE(over);
    EXPECT_EQ(over->error->code, ErrorCode::wait_timed_out);
}

TEST_F(SessionTest, ALimitCutsTheRowsOfAViewInTheOrderOfItsKey) {
    make_small_cluster();
    EXPECT_EQ(rows("SELECT name FROM baton.workers LIMIT 1"), "EDGE\n");
    EXPECT_EQ(rows("SELECT name FROM baton.workers WHERE name > 'F' LIMIT 1"), "HUB\n");
    EXPECT_EQ(rows("SELECT name FROM baton.workers LIMIT 18446744073709551615"), "EDGE\nHUB\n");
}

class LongTransactionTest : public testing::CoordinatorTest {
protected:
    void SetUp() override { open_with(8); }
    void open_with(std::size_t rehearsals) {
        CoordinatorOptions options;
        options.scratch = sqlite::temporary_sqlites(catalog::migrate);
        options.rehearsals_max = rehearsals;
        open(options);
    }
    // So many that it is rehearsed.
    void begin_long(Session& session, const std::string& prefix) {
        run(session, "BEGIN");
        for (int i = 0; i < 40; ++i) {
            run(session, "CREATE LOGICAL SOURCE " + prefix + std::to_string(i) + " (a INT8)");
        }
    }
};

TEST_F(LongTransactionTest, ItSeesItsOwnChangesAndOthersDoNot) {
    begin_long(*session_, "s");
    EXPECT_EQ(rows("SELECT name FROM baton.logical_sources WHERE name = 'S39'"), "S39\n");
    Session other(*coordinator_, "bob");
    EXPECT_EQ(rows(other, "SHOW LOGICAL SOURCES"), "");
    run("DROP LOGICAL SOURCE s39");
    EXPECT_EQ(rows("SELECT name FROM baton.logical_sources WHERE name = 'S39'"), "");
    run("COMMIT");
    EXPECT_EQ(rows(other, "SELECT name FROM baton.logical_sources WHERE name = 'S38'"), "S38\n");
    EXPECT_EQ(rows(other, "SELECT name FROM baton.logical_sources WHERE name = 'S39'"), "");
}

TEST_F(LongTransactionTest, AnErrorComesWithItsStatementAndIsLogged) {
    begin_long(*session_, "s");
    EXPECT_EQ(error_of("CREATE LOGICAL SOURCE s7 (a INT8)").code, ErrorCode::source_exists);
    EXPECT_TRUE(session_->transaction_failed());
    run("ROLLBACK");
    EXPECT_EQ(rows("SHOW LOGICAL SOURCES"), "");
    run("CREATE LOGICAL SOURCE t (a INT8)");
    EXPECT_EQ(rows("SELECT statement FROM baton.statements WHERE outcome = 'ERROR'"),
              "CREATE LOGICAL SOURCE S7 (A INT8)\n");
}

TEST_F(LongTransactionTest, WhatItReadAndOthersChangedIsAConflictAtCommit) {
    begin_long(*session_, "s");
    EXPECT_EQ(rows("SHOW WORKERS"), "");
    Session other(*coordinator_, "bob");
    run(other, "CREATE WORKER 'a:1'");
    EXPECT_EQ(rows("SHOW WORKERS"), "");  // it goes on with what it saw
    EXPECT_EQ(error_of("COMMIT").code, ErrorCode::conflict);
    EXPECT_EQ(rows("SHOW LOGICAL SOURCES"), "");
}

TEST_F(LongTransactionTest, QueriesOfItsOwnSourcesArePlanned) {
    make_small_cluster();
    begin_long(*session_, "s");
    run("CREATE QUERY q AS SELECT id FROM readings INTO alerts");
    EXPECT_EQ(rows("SELECT name FROM baton.queries"), "Q\n");
    run("COMMIT");
    EXPECT_EQ(rows("SELECT name, state FROM baton.queries"), "Q|PENDING\n");
}

TEST_F(LongTransactionTest, ItHasOnlySoManyBytes) {
    std::string columns;
    for (int i = 0; i < 1'600; ++i) {
        columns += (i == 0 ? "" : ", ") + std::string(240, 'c') + std::to_string(i) + " INT8";
    }
    run("BEGIN");
    Execution last;
    int made = 0;
    for (; made < 60 && !last.error; ++made) {
        last = session_->execute("CREATE LOGICAL SOURCE s" + std::to_string(made) + " (" + columns +
                                 ")");
    }
    ASSERT_TRUE(last.error);
    EXPECT_EQ(last.error->code, ErrorCode::too_large);
    EXPECT_GT(made, 30);
    run("ROLLBACK");
}

TEST_F(LongTransactionTest, AShortTextThatIsALargePlanIsRefused) {
    make_small_cluster();
    std::string sources;
    for (int i = 0; i < 100; ++i) {
        sources +=
            "CREATE PHYSICAL SOURCE FOR readings TYPE File SET ('EDGE' AS SOURCE.HOST, '/in" +
            std::to_string(i) + "' AS SOURCE.FILE_PATH);";
    }
    run(sources);
    std::string text = "EXPLAIN SELECT id FROM readings";
    for (int i = 0; i < 100; ++i) text += " UNION SELECT id FROM readings";
    EXPECT_EQ(error_of(text + " INTO alerts").code, ErrorCode::too_large);
}

TEST_F(LongTransactionTest, OnlySoManyAreLongAtOnce) {
    open_with(1);
    begin_long(*session_, "s");
    Session other(*coordinator_, "bob");
    run(other, "BEGIN");
    Execution last;
    for (int i = 0; i < 40 && !last.error; ++i) {
        last = other.execute("CREATE LOGICAL SOURCE t" + std::to_string(i) + " (a INT8)");
    }
    ASSERT_TRUE(last.error);
    EXPECT_EQ(last.error->code, ErrorCode::slow_down);
    run("ROLLBACK");
    run(other, "ROLLBACK");
    begin_long(other, "u");
    run(other, "COMMIT");
}

}  // namespace
}  // namespace baton::coordinator
