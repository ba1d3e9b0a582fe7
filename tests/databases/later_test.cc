// The contract of ports/sql_later.h on real servers, and what it is there for: few trips.
#include <future>

#include <gtest/gtest.h>

#include "adapters/system/system_clock.h"
#include "catalog/schema.h"
#include "coordinator/coordinator_runtime.h"
#include "coordinator/sessions/session.h"
#include "ports/sql_later.h"
#include "testing/servers/database_server.h"
#include "testing/servers/relay.h"

namespace baton::testing {
namespace {

class LaterTest : public ::testing::TestWithParam<ServerKind> {
protected:
    void SetUp() override {
        ASSERT_NE(later_, nullptr);
        ASSERT_TRUE(sql_->run_script(
            "CREATE TABLE t (id BIGINT PRIMARY KEY, x VARCHAR(200), d DOUBLE PRECISION)"));
    }
    Result<Done> insert_later(std::int64_t id, const SqlValue& text = {},
                              const SqlValue& real = {}) {
        const std::array<SqlValue, 3> values = {id, text, real};
        return later_->run_later("INSERT INTO t VALUES (?, ?, ?)", values);
    }
    std::vector<SqlRow> rows() {
        const auto found = sql_->query("SELECT id, x, d FROM t ORDER BY id");
        EXPECT_TRUE(found) << to_string(found.error());
        return found ? *found : std::vector<SqlRow>();
    }

    DatabaseServer& server_ = DatabaseServer::shared(GetParam());
    const std::string url_ = server_.new_database();
    Relay relay_{server_.port()};
    std::unique_ptr<SqlDatabase> database_ =
        *open_server_database(GetParam(), relay_.instead_in(url_));
    std::unique_ptr<Sql> sql_ = *database_->connect(Access::write);
    SqlLater* later_ = later_of(*sql_);
};

TEST_P(LaterTest, WhatWasPutOffIsDoneWhenSomethingIsReadAndComesBackAsItWas) {
    const std::vector<SqlRow> expected = {
        {std::int64_t{-9'223'372'036'854'775'807}, SqlValue(), SqlValue()},
        {std::int64_t{1}, std::string("it's \\ \"?\" -- \n\t;"), 0.1},
        {std::int64_t{2}, std::string("\xE2\x82\xAC \xF0\x9F\x98\x80 %_"), -1e300},
        {std::int64_t{9'223'372'036'854'775'807}, std::string(), 5e-324},
    };
    ASSERT_TRUE(later_->begin_later());
    for (const SqlRow& row : expected) {
        ASSERT_TRUE(insert_later(std::get<std::int64_t>(row[0]), row[1], row[2]));
    }
    const auto counted =
        sql_->query("SELECT COUNT(*), SUM(id), MAX(x) FROM t WHERE id < ?", {std::int64_t{3}});
    ASSERT_TRUE(counted) << to_string(counted.error());
    EXPECT_EQ((*counted)[0][0], SqlValue(std::int64_t{3}));
    EXPECT_EQ((*counted)[0][1], SqlValue(std::int64_t{-9'223'372'036'854'775'804}));
    EXPECT_EQ((*counted)[0][2], expected[2][1]);
    ASSERT_TRUE(sql_->commit());
    EXPECT_EQ(rows(), expected);
}

TEST_P(LaterTest, AllOfATransactionCanGoWithItsCommit) {
    ASSERT_TRUE(later_->begin_later());
    for (std::int64_t i = 0; i < 200; ++i) ASSERT_TRUE(insert_later(i));  // more than are put off
    ASSERT_TRUE(sql_->commit());
    EXPECT_EQ(rows().size(), 200U);
}

TEST_P(LaterTest, AnErrorOfWhatWasPutOffCostsTheTransaction) {
    ASSERT_TRUE(later_->begin_later());
    ASSERT_TRUE(insert_later(1));
    ASSERT_TRUE(insert_later(1));
    for (int i = 0; i < 2; ++i) {
        const auto read = sql_->query("SELECT 1");
        ASSERT_FALSE(read);
        EXPECT_EQ(read.error().code, ErrorCode::unique_violation) << to_string(read.error());
    }
    EXPECT_FALSE(insert_later(2));
    const auto committed = sql_->commit();
    ASSERT_FALSE(committed);
    EXPECT_EQ(committed.error().code, ErrorCode::unique_violation);
    sql_->rollback();
    EXPECT_TRUE(rows().empty());
}

TEST_P(LaterTest, AnErrorOfWhatWentWithTheCommitLeavesNothing) {
    ASSERT_TRUE(later_->begin_later());
    ASSERT_TRUE(insert_later(1));
    ASSERT_TRUE(insert_later(1));
    const auto committed = sql_->commit();
    ASSERT_FALSE(committed);
    EXPECT_EQ(committed.error().code, ErrorCode::unique_violation) << to_string(committed.error());
    EXPECT_TRUE(rows().empty());
    ASSERT_TRUE(sql_->begin(Access::write));
    ASSERT_TRUE(sql_->commit());
}

TEST_P(LaterTest, ATransactionThatIsRolledBackBeforeItBeganNeverWas) {
    const std::uint64_t before = relay_.round_trips();
    ASSERT_TRUE(later_->begin_later());
    ASSERT_TRUE(insert_later(1));
    sql_->rollback();
    ASSERT_TRUE(later_->begin_later());
    ASSERT_TRUE(sql_->commit());
    EXPECT_EQ(relay_.round_trips(), before);
    EXPECT_TRUE(rows().empty());
}

// It could not go there together with the others, and must not go before them.
TEST_P(LaterTest, NoScriptOvertakesWhatWasPutOff) {
    ASSERT_TRUE(later_->begin_later());
    ASSERT_TRUE(insert_later(1));
    const auto script = sql_->run_script("DELETE FROM t");
    ASSERT_FALSE(script);
    EXPECT_EQ(script.error().code, ErrorCode::defect);
    ASSERT_TRUE(sql_->commit());
    EXPECT_EQ(rows().size(), 1U);
}

TEST_P(LaterTest, ALostAnswerToACommitWithWhatWasPutOffIsOfUnknownOutcome) {
    ASSERT_TRUE(later_->begin_later());
    ASSERT_TRUE(insert_later(1));
    relay_.cut_at("COMMIT", Relay::Loss::answer);
    const auto committed = sql_->commit();
    ASSERT_FALSE(committed);
    EXPECT_EQ(committed.error().code, ErrorCode::unknown_outcome) << to_string(committed.error());
    EXPECT_EQ(rows().size(), 1U);
}

TEST_P(LaterTest, AConnectionThatWasLostBeforeTheTransactionBeganIsMadeAgain) {
    ASSERT_TRUE(rows().empty());
    ASSERT_TRUE(later_->begin_later());
    ASSERT_TRUE(insert_later(1));
    relay_.cut_at("SELECT", Relay::Loss::question);
    const auto read = sql_->query("SELECT COUNT(*) FROM t");
    ASSERT_TRUE(read) << to_string(read.error());
    EXPECT_EQ((*read)[0][0], SqlValue(std::int64_t{1}));
    ASSERT_TRUE(sql_->commit());
    EXPECT_EQ(rows().size(), 1U);
}

// ---- a coordinator ------------------------------------------------------------------------------

class TripsTest : public ::testing::TestWithParam<ServerKind> {
protected:
    void run(const std::string& statement) {
        const coordinator::Execution done = session_.execute(statement);
        ASSERT_FALSE(done.error) << to_string(*done.error);
    }
    std::uint64_t trips_of(const std::string& statement) {
        const std::uint64_t before = relay_.round_trips();
        run(statement);
        return relay_.round_trips() - before;
    }

    DatabaseServer& server_ = DatabaseServer::shared(GetParam());
    const std::string url_ = server_.new_database();
    Relay relay_{server_.port()};
    system::SystemClock clock_;
    std::unique_ptr<coordinator::CoordinatorRuntime> coordinator_ =
        *coordinator::CoordinatorRuntime::open(
            *open_server_database(GetParam(), relay_.instead_in(url_), catalog::migrate), clock_);
    coordinator::Session session_{*coordinator_, "tester"};
};

TEST_P(TripsTest, ARequestByItselfTakesThreeTripsToTheServer) {
    run("CREATE LOGICAL SOURCE first (x INT8)");  // prepares its statements
    EXPECT_LE(trips_of("CREATE LOGICAL SOURCE second (x INT8)"), 3U);
}

// The look before the write passes, and only the constraint refuses.
TEST_P(TripsTest, WhatAConstraintRefusesIsRefusedToWhoAskedForItAndToNobodyElse) {
    const auto sql = *(*open_server_database(GetParam(), url_))->connect(Access::write);
    ASSERT_TRUE(
        sql->run_script("ALTER TABLE logical_source ADD CONSTRAINT no_bad CHECK (name <> 'BAD')"));
    std::vector<std::string> names = {"GOOD1", "BAD", "GOOD2", "GOOD3"};
    std::vector<std::promise<coordinator::Outcome>> answers(names.size());
    for (std::size_t i = 0; i < names.size(); ++i) {
        coordinator::Bundle bundle;
        bundle.steps.push_back({.what = catalog::Request(catalog::request::CreateLogicalSource{
                                    .name = names[i], .schema = {.columns = {{.name = "X"}}}}),
                                .statement = "CREATE"});
        ASSERT_TRUE(coordinator_->commits().submit(
            std::move(bundle),
            [&, i](coordinator::Outcome o) { answers[i].set_value(std::move(o)); }));
    }
    for (std::size_t i = 0; i < names.size(); ++i) {
        const coordinator::Outcome outcome = answers[i].get_future().get();
        EXPECT_EQ(std::holds_alternative<coordinator::Accepted>(outcome), names[i] != "BAD")
            << names[i];
        if (const auto* refused = std::get_if<coordinator::Refused>(&outcome)) {
            EXPECT_EQ(refused->error.code, ErrorCode::write_rejected) << to_string(refused->error);
        }
    }
}

const auto kServers = ::testing::Values(ServerKind::postgres, ServerKind::mariadb);
const auto kNames = [](const ::testing::TestParamInfo<ServerKind>& each) {
    return each.param == ServerKind::postgres ? "Postgres" : "Mariadb";
};
INSTANTIATE_TEST_SUITE_P(Servers, LaterTest, kServers, kNames);
INSTANTIATE_TEST_SUITE_P(Servers, TripsTest, kServers, kNames);

}  // namespace
}  // namespace baton::testing
