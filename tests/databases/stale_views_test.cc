// What is read while the database is away: what was there when it could last be read, and marked as
// such.
#include <thread>

#include <gtest/gtest.h>

#include "adapters/system/system_clock.h"
#include "catalog/schema.h"
#include "coordinator/coordinator_runtime.h"
#include "coordinator/sessions/session.h"
#include "testing/servers/database_server.h"

namespace baton::testing {
namespace {

constexpr std::chrono::seconds kStalePatience{30};

class StaleReads : public ::testing::TestWithParam<ServerKind> {
protected:
    void open(const coordinator::StaleViewsOptions& stale = {
                  .interval = std::chrono::milliseconds(20), .rest = 1}) {
        auto database = open_server_database(GetParam(), url_, catalog::migrate);
        ASSERT_TRUE(database);
        coordinator::CoordinatorOptions options;
        options.follows = true;
        options.stale_views = stale;
        auto opened = coordinator::CoordinatorRuntime::open(*std::move(database), clock_, options);
        ASSERT_TRUE(opened);
        coordinator_ = *std::move(opened);
        session_ = std::make_unique<coordinator::Session>(*coordinator_, "tester");
        ASSERT_TRUE(coordinator_->lead(Epoch()));
    }
    void TearDown() override { session_.reset(); }

    coordinator::Execution run(const std::string& text) { return session_->execute(text); }
    views::Table table(const std::string& text) {
        coordinator::Execution execution = run(text);
        EXPECT_FALSE(execution.error) << to_string(*execution.error);
        if (execution.error) return {};
        return std::get<views::Table>(std::move(execution.results.back().value));
    }
    // Until the copy has this revision.
    void wait_for_copy(Revision revision) {
        const auto parsed = views::ViewQuery::everything(**views::find_view("SINKS"));
        const Instant deadline = clock_.now() + kStalePatience;
        for (;;) {
            const auto stale = coordinator_->ask_stale(parsed);
            if (stale && stale->stale->revision == revision) return;
            ASSERT_LT(clock_.now(), deadline);
            std::this_thread::sleep_for(std::chrono::milliseconds(10));
        }
    }

    DatabaseServer server_{GetParam()};  // of its own: others would suffer
    const std::string url_ = server_.new_database();
    const system::SystemClock clock_;
    std::unique_ptr<coordinator::CoordinatorRuntime> coordinator_;
    std::unique_ptr<coordinator::Session> session_;
};

// They have no revision that would tell that they have changed.
TEST_P(StaleReads, KnowOfLocksThatWereTakenSinceTheLastRevision) {
    open();
    const coordinator::Execution made = run("CREATE SINK a (x INT8) TYPE Void");
    ASSERT_FALSE(made.error) << to_string(*made.error);
    wait_for_copy(*made.results.back().revision);
    ASSERT_FALSE(run("ACQUIRE LOCK l OWNER 'a' TTL 1 HOUR").error);
    const auto locks = views::ViewQuery::everything(**views::find_view("LOCKS"));
    const Instant deadline = clock_.now() + kStalePatience;
    while (coordinator_->ask_stale(locks)->rows.size() != 2) {  // and `leader`
        ASSERT_LT(clock_.now(), deadline);
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    const auto remaining = (*views::find_view("LOCKS"))->column("REMAINING_US");
    const auto left = [&] {
        return std::get<std::int64_t>(coordinator_->ask_stale(locks)->rows[0][*remaining]);
    };
    const std::int64_t before = left();
    while (left() >= before) {  // an hour grows shorter, whether it is looked at or not
        ASSERT_LT(clock_.now(), deadline);
    }
    EXPECT_GT(before, 3'500'000'000);
}

TEST_P(StaleReads, AreOfTheLastRevisionAndSayHowOldTheyAreUntilTheServerIsBack) {
    open();
    const coordinator::Execution made =
        run("CREATE SINK a (x INT8) TYPE Void; CREATE SINK b (x INT8) TYPE Void");
    ASSERT_FALSE(made.error) << to_string(*made.error);
    const Revision revision = *made.results.back().revision;
    EXPECT_FALSE(table("SHOW SINKS").stale);
    wait_for_copy(revision);
    server_.kill();

    const views::Table stale = table("SELECT NAME FROM baton.sinks WHERE NAME > 'A'");
    ASSERT_TRUE(stale.stale);
    EXPECT_EQ(stale.stale->revision, revision);
    EXPECT_EQ(stale.rows, (std::vector<SqlRow>{{std::string("B")}}));
    EXPECT_NE(stale.note.find("revision " + to_string(revision)), std::string::npos) << stale.note;
    EXPECT_EQ(table("SELECT NAME FROM baton.sinks LIMIT 1").rows.size(), 1U);
    EXPECT_EQ(table("SHOW QUERIES").rows.size(), 0U);
    EXPECT_GE(table("SHOW SINKS").stale->age, stale.stale->age) << "it grows older";

    // What is more than a look is refused.
    for (const std::string text :
         {"CREATE SINK c (x INT8) TYPE Void", "EXPLAIN SELECT * FROM s INTO a", "SHOW STATEMENTS",
          "WAIT FOR QUERY q", "BEGIN; SHOW SINKS"}) {
        const auto error = run(text).error;
        ASSERT_TRUE(error) << text;
        EXPECT_EQ(error->code, ErrorCode::catalog_unavailable) << text << to_string(*error);
    }
    (void)run("ROLLBACK");

    server_.start();
    const views::Table fresh = table("SHOW SINKS");
    EXPECT_FALSE(fresh.stale);
    EXPECT_TRUE(fresh.note.empty());
    EXPECT_EQ(fresh.rows.size(), 2U);
}

TEST_P(StaleReads, WhatIsTooLargeIsNotKept) {
    open({.interval = std::chrono::milliseconds(20), .rest = 1, .bytes_max = 10});
    ASSERT_FALSE(run("CREATE SINK a (x INT8) TYPE Void").error);
    server_.kill();
    const auto error = run("SHOW SINKS").error;
    ASSERT_TRUE(error);
    EXPECT_EQ(error->code, ErrorCode::catalog_unavailable);
}

INSTANTIATE_TEST_SUITE_P(Servers, StaleReads,
                         ::testing::Values(ServerKind::postgres, ServerKind::mariadb),
                         [](const auto& each) {
                             return each.param == ServerKind::postgres ? "Postgres" : "Mariadb";
                         });

}  // namespace
}  // namespace baton::testing
