// Leadership on real servers that stand still, die and come back.
#include <chrono>
#include <memory>
#include <string>

#include <gtest/gtest.h>

#include "base/check.h"
#include "catalog/schema.h"
#include "election/arena.h"
#include "election/candidate.h"
#include "testing/servers/database_server.h"

namespace baton::testing {
namespace {

using namespace std::chrono_literals;

class LeadershipOnServer : public ::testing::TestWithParam<ServerKind> {
protected:
    LeadershipOnServer() : server_(GetParam()), url_(server_.new_database()) {
        auto database = open_server_database(GetParam(), url_, catalog::migrate);
        CHECK(database);
        database_ = *std::move(database);
    }

    DatabaseServer server_;  // of its own: others would suffer
    const std::string url_;
    std::unique_ptr<SqlDatabase> database_;
};

TEST_P(LeadershipOnServer, OneLeadsAndHandsOver) {
    Candidate first(*database_, "first");
    ASSERT_TRUE(first.is_told("lead 1"));
    Candidate second(*database_, "second");
    first->leave();
    ASSERT_TRUE(first.is_told("left"));
    ASSERT_TRUE(second.is_told("lead 2"));
    EXPECT_EQ(second->acting(), Epoch(2));
}

// Only MariaDB is one process: of PostgreSQL, those that serve us would go on.
TEST_P(LeadershipOnServer, WhileItStandsStillTheTermEndsInTimeAndThenAnotherBegins) {
    if (GetParam() != ServerKind::mariadb) GTEST_SKIP();
    Candidate leader(*database_, "leader");
    ASSERT_TRUE(leader.is_told("lead 1"));
    server_.pause();
    const bool stepped_down = leader.is_told("step down from 1");
    const auto acting = leader->acting();
    server_.resume();
    EXPECT_TRUE(stepped_down);
    EXPECT_EQ(acting, std::nullopt);
    EXPECT_TRUE(leader.is_told("lead 2") || leader.is_told("lead 3"));
}

TEST_P(LeadershipOnServer, OneThatDiedAndCameBackIsAskedAgain) {
    Candidate leader(*database_, "leader");
    ASSERT_TRUE(leader.is_told("lead 1"));
    server_.kill();
    ASSERT_TRUE(leader.is_told("step down from 1"));
    server_.start();
    EXPECT_TRUE(leader.is_told("lead 2"));
}

INSTANTIATE_TEST_SUITE_P(Servers, LeadershipOnServer,
                         ::testing::Values(ServerKind::postgres, ServerKind::mariadb),
                         name_of_server);

}  // namespace
}  // namespace baton::testing
