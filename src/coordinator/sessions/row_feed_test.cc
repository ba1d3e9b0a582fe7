#include "coordinator/sessions/row_feed.h"

#include <cstdlib>
#include <deque>
#include <mutex>

#include <gtest/gtest.h>

#include "adapters/sqlite/sqlite.h"
#include "testing/coordinator/coordinator_test_base.h"
#include "testing/temporary_directory.h"
#include "testing/workers/in_process_workers.h"

namespace baton::coordinator {
namespace {

using namespace std::chrono_literals;
using testing::DoubleEngine;
using testing::InProcessWorkers;

// One stream at a time, whose rows a test gives.
class ScriptedStreams final : public ResultStreams {
public:
    std::unique_ptr<ResultStream> open(const std::string& worker, const std::optional<Address>&,
                                       const std::string& token, const Schema&,
                                       Wake wake) override {
        const std::lock_guard lock(mutex_);
        opened_ = worker;
        token_ = token;
        wake_ = std::move(wake);
        cancelled_ = false;
        if (wake_) wake_();
        return std::make_unique<Stream>(*this);
    }

    void give(std::int64_t from, std::size_t count) {
        ResultPortion portion;
        for (std::size_t i = 0; i < count; ++i) {
            portion.rows.push_back({from + static_cast<std::int64_t>(i)});
        }
        add(std::move(portion));
    }
    void end() { add(ResultPortion{.rows = {}, .ended = true}); }
    void fail(ErrorCode code, const std::string& why) { add(Error{.code = code, .message = why}); }
    [[nodiscard]] std::string opened() const {
        const std::lock_guard lock(mutex_);
        return opened_;
    }
    [[nodiscard]] bool cancelled() const {
        const std::lock_guard lock(mutex_);
        return cancelled_;
    }
    [[nodiscard]] std::size_t unread() const {
        const std::lock_guard lock(mutex_);
        return waiting_.size();
    }

private:
    class Stream final : public ResultStream {
    public:
        explicit Stream(ScriptedStreams& owner) : owner_(owner) {}
        ~Stream() override {
            const std::lock_guard lock(owner_.mutex_);
            owner_.cancelled_ = true;
            owner_.wake_ = nullptr;
        }
        Result<ResultPortion> poll() override {
            const std::lock_guard lock(owner_.mutex_);
            if (owner_.waiting_.empty()) return ResultPortion{};
            auto next = std::move(owner_.waiting_.front());
            owner_.waiting_.pop_front();
            return next;
        }

    private:
        ScriptedStreams& owner_;
    };

    void add(Result<ResultPortion> next) {
        Wake wake;
        {
            const std::lock_guard lock(mutex_);
            waiting_.push_back(std::move(next));
            wake = wake_;
        }
        if (wake) wake();
    }

    mutable std::mutex mutex_;
    std::deque<Result<ResultPortion>> waiting_;
    std::string opened_;
    std::string token_;
    bool cancelled_ = false;
    Wake wake_;
};

class RowFeedTest : public testing::CoordinatorTest {
protected:
    void SetUp() override {
        for (const std::string worker : {"HUB", "EDGE"}) workers_.start(worker);
        CoordinatorOptions options;
        options.transport = &workers_;
        options.results = &streams_;
        open(options);
        make_small_cluster();
    }
    void TearDown() override {
        session_.reset();
        coordinator_.reset();
    }

    std::unique_ptr<RowFeed> select(std::string_view sql = "SELECT id FROM readings") {
        auto results = run(sql);
        auto& stream = std::get<std::unique_ptr<RowStream>>(results.back().value);
        return std::unique_ptr<RowFeed>(&dynamic_cast<RowFeed&>(*stream.release()));
    }
    std::string queries() { return rows("SELECT name, state FROM baton.queries"); }
    void until_there_is_no_query() {
        auto watch =
            coordinator_->watch(*views::ViewQuery::from(sql::Show{.what = sql::ShowWhat::queries}));
        while (!queries().empty()) {
            const auto events = (*watch)->next(20s);
            ASSERT_TRUE(events && !events->empty()) << queries();
        }
    }
    // Follows it until the query runs.
    void let_run(RowFeed& feed) {
        run("WAIT FOR QUERY \"" + feed.query_name() + "\" STATE RUNNING TIMEOUT 20 SEC");
        ASSERT_TRUE(feed.poll());
    }
    void break_all(const Error& error) {
        workers_.with_engine("EDGE", [&](DoubleEngine& engine) {
            DoubleEngine::Reports reports;
            for (const FragmentKey& key : std::set<FragmentKey>(engine.running())) {
                for (auto& report : engine.fail(
                         key, {control::Fault::terminal, to_string(error), number(error.code)})) {
                    reports.push_back(std::move(report));
                }
            }
            return reports;
        });
    }

    InProcessWorkers workers_;
    ScriptedStreams streams_;
};

TEST_F(RowFeedTest, RowsComeInTheirOrderAndTheQueryGoesWithTheirEnd) {
    const auto feed = select();
    ASSERT_EQ(feed->columns().size(), 1U);
    EXPECT_EQ(feed->columns().front().name, "ID");
    EXPECT_EQ(feed->columns().front().type, kinds::ViewType::unsigned_integer);
    streams_.give(0, 3);
    auto fed = feed->next(20s, 2);
    ASSERT_TRUE(fed) << to_string(fed.error());
    EXPECT_EQ(fed->rows, (std::vector<SqlRow>{{std::int64_t{0}}, {std::int64_t{1}}}));
    EXPECT_EQ(streams_.opened(), "EDGE");
    streams_.end();
    fed = feed->next(20s);
    EXPECT_EQ(fed->rows, (std::vector<SqlRow>{{std::int64_t{2}}}));
    EXPECT_TRUE(fed->ended);
    EXPECT_TRUE(feed->poll()->ended);
    until_there_is_no_query();
    EXPECT_TRUE(workers_.running("EDGE").empty());
}

TEST_F(RowFeedTest, ALimitIsExactAndTheQueryGoesWithIt) {
    const auto feed = select("SELECT id FROM readings LIMIT 5");
    streams_.give(0, 3);
    std::size_t count = feed->next(20s)->rows.size();
    EXPECT_EQ(count, 3U);
    streams_.give(3, 100);
    for (bool ended = false; !ended;) {
        const auto fed = feed->next(20s);
        ASSERT_TRUE(fed) << to_string(fed.error());
        count += fed->rows.size();
        ended = fed->ended;
    }
    EXPECT_EQ(count, 5U);
    EXPECT_TRUE(streams_.cancelled());
    until_there_is_no_query();
}

TEST_F(RowFeedTest, TheQueryGoesWithItsFeed) {
    auto feed = select();
    let_run(*feed);
    EXPECT_EQ(workers_.running("EDGE").size(), 1U);
    feed.reset();
    EXPECT_TRUE(streams_.cancelled());
    until_there_is_no_query();
    EXPECT_TRUE(workers_.running("EDGE").empty());
}

TEST_F(RowFeedTest, WhatIsNotAskedForIsNotTaken) {
    const auto feed = select();
    let_run(*feed);
    for (int i = 0; i < 10; ++i) streams_.give(0, 100);
    EXPECT_EQ(feed->poll(50)->rows.size(), 50U);
    EXPECT_EQ(streams_.unread(), 9U);
}

TEST_F(RowFeedTest, AQueryThatFailsGivesItsReason) {
    const auto feed = select();
    let_run(*feed);
    streams_.give(0, 1);
    ASSERT_EQ(feed->next(20s)->rows.size(), 1U);
    // The stream breaks off before the catalog knows why.
    streams_.fail(ErrorCode::cancelled, "the query ended before its rows did");
    ASSERT_TRUE(feed->poll());
    break_all({.code = ErrorCode::arithmetic, .message = "a division by zero"});
    const auto fed = feed->next(20s);
    ASSERT_FALSE(fed);
    EXPECT_EQ(fed.error().code, ErrorCode::arithmetic);
    EXPECT_NE(fed.error().message.find("a division by zero"), std::string::npos)
        << fed.error().message;
    EXPECT_EQ(feed->poll().error(), fed.error());
    until_there_is_no_query();
}

TEST_F(RowFeedTest, AWayThatBreaksIsAnErrorAtOnce) {
    const auto feed = select();
    let_run(*feed);
    streams_.give(0, 1);
    streams_.fail(ErrorCode::worker_unreachable, "the rows from worker \"EDGE\" broke off");
    EXPECT_EQ(feed->next(20s)->rows.size(), 1U);  // what came before it is not lost
    const auto fed = feed->next(20s);
    ASSERT_FALSE(fed);
    EXPECT_EQ(fed.error().code, ErrorCode::worker_unreachable);
    until_there_is_no_query();
}

TEST_F(RowFeedTest, WhatSomebodyDropsEndsWithAnError) {
    const auto feed = select();
    let_run(*feed);
    run("DROP QUERY \"" + feed->query_name() + "\" MODE FORCEFUL");
    streams_.fail(ErrorCode::cancelled, "the query ended before its rows did");
    const auto fed = feed->next(20s);
    ASSERT_FALSE(fed);
    EXPECT_EQ(fed.error().code, ErrorCode::cancelled);
    EXPECT_NE(fed.error().message.find(feed->query_name()), std::string::npos);
}

TEST_F(RowFeedTest, WhoSleepsIsWokenAndCanBeInterrupted) {
    std::atomic<int> wakes = 0;
    const auto feed = select();
    feed->wake_with([&] { wakes += 1; });
    EXPECT_GE(wakes, 1);
    let_run(*feed);
    const int before = wakes;
    streams_.give(0, 1);
    EXPECT_GT(wakes, before);
    EXPECT_EQ(feed->poll()->rows.size(), 1U);
    std::thread interrupting([&] { feed->interrupt(); });
    EXPECT_TRUE(feed->next(1h)->rows.empty());
    interrupting.join();
}

TEST_F(RowFeedTest, ItsQueryIsShownWithTheClientThatAsked) {
    const auto feed = select("SELECT id FROM readings WHERE id > UINT64(7) LIMIT 3");
    const std::string shown = rows("SELECT statement, settings FROM baton.queries");
    EXPECT_NE(shown.find("SELECT ID FROM READINGS WHERE ID > UINT64(7) LIMIT 3|"),
              std::string::npos)
        << shown;
    EXPECT_NE(shown.find("\"CLIENT\":\"tester\""), std::string::npos) << shown;
    EXPECT_NE(shown.find("\"ON_FAILURE\":\"FAIL\""), std::string::npos) << shown;
    EXPECT_EQ(error_of("CREATE QUERY q SET ('x' AS QUERY.CLIENT) AS SELECT id FROM readings INTO "
                       "alerts")
                  .code,
              ErrorCode::invalid_configuration);
}

TEST_F(RowFeedTest, ASelectFromStreamsStaysOutsideTransactions) {
    run("BEGIN");
    EXPECT_EQ(error_of("SELECT id FROM readings").code, ErrorCode::transaction_state);
    run("ROLLBACK");
    EXPECT_EQ(queries(), "");
}

TEST_F(RowFeedTest, ASelectThatCannotBePlannedLeavesNothing) {
    EXPECT_EQ(error_of("SELECT id FROM reading").code, ErrorCode::unknown_source);
    EXPECT_EQ(error_of("SELECT nothing FROM readings").code, ErrorCode::unknown_field);
    EXPECT_EQ(queries(), "");
}

TEST_F(RowFeedTest, ASelectFromStreamsIsDescribedWithoutBeingRun) {
    const auto described =
        session_->describe("SELECT id, value AS v FROM readings WHERE value > $2 LIMIT $1");
    ASSERT_TRUE(described) << to_string(described.error());
    EXPECT_EQ(described->parameters, 2U);
    const auto& statement = described->statements.front();
    EXPECT_TRUE(statement.streams);
    ASSERT_EQ(statement.columns->size(), 2U);
    EXPECT_EQ(statement.columns->at(1).name, "V");
    EXPECT_EQ(statement.columns->at(1).type, kinds::ViewType::float64);
    EXPECT_EQ(queries(), "");
}

TEST_F(RowFeedTest, WithoutAWayToTheRowsItIsRefused) {
    open();
    make_small_cluster();
    EXPECT_EQ(error_of("SELECT id FROM readings").code, ErrorCode::not_supported);
}

TEST_F(RowFeedTest, WhatAnEarlierProcessLeftIsDroppedAtTheStart) {
    if (std::getenv("BATON_TEST_CATALOG") != nullptr) GTEST_SKIP() << "it needs a file";
    const testing::TemporaryDirectory directory;
    const std::string path = directory / "copy.db";
    {
        const auto feed = select();
        run("CREATE QUERY stays AS SELECT id FROM readings INTO alerts");
        ASSERT_TRUE(coordinator_->backup_to(path));  // as a process would leave it
    }
    sqlite::SqliteOptions sqlite;
    sqlite.path = path;
    auto opened = CoordinatorRuntime::open(*sqlite::open_sqlite(sqlite), clock_);
    ASSERT_TRUE(opened) << to_string(opened.error());
    Session session(**opened, "tester");
    EXPECT_EQ(rows(session, "SELECT name, desired FROM baton.queries WHERE desired <> 'DROPPED'"),
              "STAYS|RUNNING\n");
}

}  // namespace
}  // namespace baton::coordinator
