#include "library/baton.h"

#include <fstream>
#include <set>
#include <sstream>
#include <thread>

#include <gtest/gtest.h>

#include "testing/temporary_directory.h"
#include "testing/workers/in_process_workers.h"

namespace baton::embedded {
namespace {

using namespace std::chrono_literals;

class LibraryTest : public ::testing::Test {
protected:
    void SetUp() override { open(); }
    void open() {
        auto opened = Coordinator::open({.data = directory_ / "data", .worker = false});
        ASSERT_TRUE(opened) << to_string(opened.error());
        baton_ = *std::move(opened);
    }

    testing::TemporaryDirectory directory_;
    std::unique_ptr<Coordinator> baton_;
};

TEST_F(LibraryTest, AnswersStatementsInOrderUntilTheFirstError) {
    const Answers answers = baton_->execute(
        "CREATE WORKER 'w1:1' SET (4 AS CAPACITY); SELECT name, capacity, address FROM "
        "baton.workers; DROP SINK nothing; SHOW VERSION");
    ASSERT_EQ(answers.done.size(), 2U);
    EXPECT_EQ(answers.done[0].statement, "CREATE WORKER");
    EXPECT_EQ(answers.done[0].name, "w1:1");
    EXPECT_TRUE(answers.done[0].changed);
    EXPECT_EQ(answers.done[1].columns, (std::vector<std::string>{"NAME", "CAPACITY", "ADDRESS"}));
    EXPECT_EQ(answers.done[1].rows, (std::vector<Row>{{"w1:1", "4", "w1:1"}}));
    ASSERT_TRUE(answers.error);
    EXPECT_EQ(answers.error->code, ErrorCode::unknown_sink);
}

TEST_F(LibraryTest, KeepsWhatWasAnsweredWhenOpenedAgain) {
    ASSERT_FALSE(baton_->execute("CREATE LOGICAL SOURCE s (a INT32)").error);
    baton_->close();
    baton_->close();
    baton_.reset();
    open();
    EXPECT_EQ(baton_->execute("SHOW LOGICAL SOURCES").done.front().rows.size(), 1U);
}

TEST_F(LibraryTest, AConversationHasTransactions) {
    Conversation conversation = baton_->converse();
    ASSERT_FALSE(conversation.execute("BEGIN; CREATE LOGICAL SOURCE s (a INT32)").error);
    EXPECT_TRUE(baton_->execute("SHOW LOGICAL SOURCES").done.front().rows.empty());
    ASSERT_FALSE(conversation.execute("COMMIT").error);
    EXPECT_EQ(baton_->execute("SHOW LOGICAL SOURCES").done.front().rows.size(), 1U);
}

TEST_F(LibraryTest, ASubscriptionGetsAllRowsThenEveryChange) {
    ASSERT_FALSE(baton_->execute("CREATE LOGICAL SOURCE s (a INT32)").error);
    auto watch = baton_->watch("WATCH SHOW LOGICAL SOURCES");
    ASSERT_TRUE(watch) << to_string(watch.error());
    const auto first = watch->next(10s);
    ASSERT_TRUE(first);
    ASSERT_EQ(first->size(), 1U);
    EXPECT_EQ(first->front().kind, Event::Kind::snapshot);
    EXPECT_EQ(first->front().rows.size(), 1U);
    ASSERT_FALSE(baton_->execute("DROP LOGICAL SOURCE s").error);
    const auto second = watch->next(10s);
    ASSERT_TRUE(second);
    ASSERT_EQ(second->size(), 1U);
    EXPECT_EQ(second->front().kind, Event::Kind::dropped);
    EXPECT_EQ(second->front().rows.front().front(), "S");
}

TEST_F(LibraryTest, ASubscriptionThatWaitsCanBeInterrupted) {
    auto watch = baton_->watch("WATCH SHOW WORKERS");
    ASSERT_TRUE(watch);
    ASSERT_TRUE(watch->next(10s));
    std::thread interrupting([&] { watch->interrupt(); });
    EXPECT_TRUE(watch->next(1h));
    interrupting.join();
}

TEST_F(LibraryTest, OnlyWatchIsWatchedAndWatchIsNotExecuted) {
    EXPECT_EQ(baton_->watch("SHOW WORKERS").error().code, ErrorCode::not_supported);
    EXPECT_EQ(baton_->watch("WATCH SHOW NONSENSE").error().code, ErrorCode::syntax);
    EXPECT_EQ(baton_->execute("WATCH SHOW WORKERS").error->code, ErrorCode::not_supported);
}

TEST_F(LibraryTest, ASecondOneOnTheSameDataIsRefused) {
    const auto second = Coordinator::open({.data = directory_ / "data"});
    ASSERT_FALSE(second);
    EXPECT_EQ(second.error().code, ErrorCode::catalog_in_use);
}

TEST_F(LibraryTest, WhatIsNotThereIsMadeOnlyIfAsked) {
    const auto other = Coordinator::open({.data = directory_ / "other", .create = false});
    ASSERT_FALSE(other);
    EXPECT_EQ(other.error().code, ErrorCode::catalog_unavailable);
}

// ---- with workers -------------------------------------------------------------------------------

class LibraryWithWorkersTest : public ::testing::Test {
protected:
    void SetUp() override {
        workers_.start("W");
        auto opened =
            baton::Coordinator::open({.data = directory_ / "data", .transport = &workers_});
        ASSERT_TRUE(opened) << to_string(opened.error());
        baton_ = *std::move(opened);
        const auto made = baton_->execute(
            "CREATE WORKER 'w:1' SET ('W' AS NAME); CREATE LOGICAL SOURCE s (a INT32);"
            "CREATE PHYSICAL SOURCE FOR s TYPE File SET ('W' AS \"SOURCE\".\"HOST\", '/s.csv' AS "
            "\"SOURCE\".FILE_PATH, 'CSV' AS INPUT_FORMATTER.\"TYPE\");"
            "CREATE SINK k (a INT32) TYPE Void SET ('W' AS \"SINK\".\"HOST\")");
        ASSERT_FALSE(made.error) << to_string(*made.error);
    }
    std::string state_of(const std::string& query) {
        const auto asked =
            baton_->execute("SELECT state FROM baton.queries WHERE name = '" + query + "'");
        const auto& rows = asked.done.front().rows;
        return rows.empty() ? "none" : rows.front().front().value();
    }
    // What every fragment of the worker does when it is told to.
    void let_all_end() {
        workers_.with_engine("W", [](testing::DoubleEngine& engine) {
            testing::DoubleEngine::Reports reports;
            for (const FragmentKey& key : std::set<FragmentKey>(engine.running())) {
                for (auto& report : engine.end(key)) reports.push_back(std::move(report));
            }
            return reports;
        });
    }

    testing::TemporaryDirectory directory_;
    testing::InProcessWorkers workers_;
    std::unique_ptr<baton::Coordinator> baton_;
};

TEST_F(LibraryWithWorkersTest, ARequestCanWaitUntilItsQueryRuns) {
    const auto made = baton_->execute("CREATE QUERY q AS SELECT a FROM s INTO k",
                                      {.until = Wait::Until::steady, .timeout = 20s});
    ASSERT_FALSE(made.error) << to_string(*made.error);
    EXPECT_EQ(state_of("Q"), "RUNNING");
}

TEST_F(LibraryWithWorkersTest, ARequestCanWaitUntilItsQueriesHaveEnded) {
    auto watch = baton_->watch("WATCH SELECT state FROM baton.queries WHERE state = 'RUNNING'");
    ASSERT_TRUE(watch);
    std::thread ending([&] {
        while (workers_.running("W").size() < 2) ASSERT_TRUE(watch->next(20s));
        let_all_end();
    });
    const auto made = baton_->execute(
        "BEGIN; CREATE QUERY q AS SELECT a FROM s INTO k; CREATE QUERY r AS SELECT a FROM s INTO "
        "k; "
        "COMMIT",
        {.until = Wait::Until::ended, .timeout = 20s});
    ending.join();
    ASSERT_FALSE(made.error) << to_string(*made.error);
    EXPECT_EQ(state_of("Q"), "TERMINATED");
    EXPECT_EQ(state_of("R"), "TERMINATED");
}

TEST_F(LibraryWithWorkersTest, WhatIsDroppedIsGoneWhenItWasWaitedFor) {
    const Wait running{.until = Wait::Until::state, .state = QueryState::running, .timeout = 20s};
    ASSERT_FALSE(baton_->execute("CREATE QUERY q AS SELECT a FROM s INTO k", running).error);
    const auto dropped = baton_->execute("DROP QUERY q", running);
    ASSERT_FALSE(dropped.error) << to_string(*dropped.error);
    EXPECT_EQ(state_of("Q"), "none");
}

TEST_F(LibraryWithWorkersTest, AWaitThatIsOverLeavesWhatWasAccepted) {
    workers_.kill("W");
    const auto made = baton_->execute("CREATE QUERY q AS SELECT a FROM s INTO k",
                                      {.until = Wait::Until::steady, .timeout = 1ms});
    ASSERT_TRUE(made.error);
    if (made.error->code == ErrorCode::wait_timed_out) {
        ASSERT_EQ(made.done.size(), 1U);
        EXPECT_NE(state_of("Q"), "none");
    } else {  // the worker was found to be gone before
        EXPECT_EQ(made.error->code, ErrorCode::placement);
        EXPECT_EQ(state_of("Q"), "none");
    }
}

TEST(LibraryWithItsOwnWorker, AQueryRunsInTheProcess) {
    const testing::TemporaryDirectory directory;
    const std::string in = directory / "in.csv";
    const std::string out = directory / "out.csv";
    std::ofstream(in) << "1\n2\n3\n";
    auto baton = baton::Coordinator::open({.data = directory / "data"});
    ASSERT_TRUE(baton) << to_string(baton.error());
    const auto answers = (*baton)->execute(
        "CREATE LOGICAL SOURCE s (a INT32 NOT NULL); CREATE PHYSICAL SOURCE FOR s TYPE File SET "
        "('" +
            in +
            "' AS SOURCE.FILE_PATH, 'CSV' AS INPUT_FORMATTER.TYPE); SELECT a FROM s WHERE a > 1 "
            "INTO File('" +
            out + "' AS SINK.FILE_PATH, 'CSV' AS OUTPUT_FORMATTER.TYPE)",
        {.until = Wait::Until::ended, .timeout = 60s});
    ASSERT_FALSE(answers.error) << to_string(*answers.error);
    std::stringstream text;
    text << std::ifstream(out).rdbuf();
    EXPECT_EQ(text.str(), "A:INT32:NOT_NULLABLE\n2\n3\n");
}

class LibraryCounts : public ::testing::Test {
protected:
    void open() {
        auto opened = baton::Coordinator::open({.data = directory_ / "data"});
        ASSERT_TRUE(opened) << to_string(opened.error());
        baton_ = *std::move(opened);
    }
    Row asked(const std::string& question) {
        const auto answers = baton_->execute(question);
        EXPECT_FALSE(answers.error) << to_string(*answers.error);
        if (answers.error || answers.done.back().rows.size() != 1) return {};
        return answers.done.back().rows.front();
    }

    testing::TemporaryDirectory directory_;
    std::unique_ptr<baton::Coordinator> baton_;
};

TEST_F(LibraryCounts, WhatAQueryCountedIsShownAfterItsEndAndAfterARestart) {
    const std::string in = directory_ / "in.csv";
    {
        std::ofstream file(in);
        file << "1,1000\nbad\n";
        for (int i = 0; i < 100'000; ++i) file << "2,20000\n";  // more than is read at once
        file << "3,2000\n4,30000\n";
    }
    open();
    const auto answers = baton_->execute(
        "CREATE LOGICAL SOURCE s (a INT32 NOT NULL, ts UINT64 NOT NULL); "
        "CREATE PHYSICAL SOURCE FOR s TYPE File SET ('" +
            in +
            "' AS SOURCE.FILE_PATH, 'CSV' AS INPUT_FORMATTER.TYPE, 'SKIP' AS "
            "INPUT_FORMATTER.ON_MALFORMED); CREATE QUERY q AS SELECT COUNT(*) AS n FROM s WINDOW "
            "TUMBLING (ts, SIZE 10 SEC) INTO Void()",
        {.until = Wait::Until::ended, .timeout = 60s});
    ASSERT_FALSE(answers.error) << to_string(*answers.error);
    const std::string question =
        "SELECT state, rows_in, rows_out, late, skipped, memory FROM baton.counters "
        "WHERE query_name = 'Q' AND late > 0";
    const Row counted = {"TERMINATED", "100003", "3", "1", "1", "0"};
    EXPECT_EQ(asked(question), counted);
    EXPECT_EQ(asked("BEGIN; CREATE LOGICAL SOURCE t (a INT8); " + question), counted);
    baton_.reset();
    open();
    EXPECT_EQ(asked(question), counted);
}

TEST(LibraryWithItsOwnWorker, NothingIsSaidToRunThatEndedWithTheLastProcess) {
    const testing::TemporaryDirectory directory;
    for (int process = 1; process <= 10; ++process) {
        auto baton = baton::Coordinator::open({.data = directory / "data"});
        ASSERT_TRUE(baton) << to_string(baton.error());
        if (process == 1) {
            const auto made = (*baton)->execute(
                "CREATE QUERY q AS SELECT a FROM Generator('SEQUENCE UINT64 0 1000000000 1' AS "
                "SOURCE.GENERATOR_SCHEMA, SCHEMA(a UINT64 NOT NULL) AS SOURCE.SCHEMA) INTO Void()");
            ASSERT_FALSE(made.error) << to_string(*made.error);
        }
        const auto waited = (*baton)->execute(
            "WAIT FOR QUERY q STATE RUNNING TIMEOUT 60 SEC; SELECT run FROM baton.queries");
        ASSERT_FALSE(waited.error) << to_string(*waited.error);
        EXPECT_EQ(waited.done.back().rows.front().front(), std::to_string(process));
    }
}

TEST(LibraryWithItsOwnWorker, IsThereWhenItIsNeededFirstByAQuery) {
    const testing::TemporaryDirectory directory;
    auto baton = baton::Coordinator::open({.data = directory / "data"});
    ASSERT_TRUE(baton) << to_string(baton.error());
    const auto answers = (*baton)->execute(
        "SELECT a FROM Generator('SEQUENCE UINT64 0 10 1' AS SOURCE.GENERATOR_SCHEMA, SCHEMA(a "
        "UINT64 NOT NULL) AS SOURCE.SCHEMA) INTO Void()",
        {.until = Wait::Until::ended, .timeout = 60s});
    ASSERT_FALSE(answers.error) << to_string(*answers.error);
    EXPECT_EQ((*baton)->execute("SHOW WORKERS").done.back().rows.size(), 1U);
}

}  // namespace
}  // namespace baton::embedded
