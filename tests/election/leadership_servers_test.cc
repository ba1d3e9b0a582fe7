// Leadership on real servers that stand still, die and come back.
#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "adapters/system/system_clock.h"
#include "base/check.h"
#include "catalog/lease_schema.h"
#include "catalog/schema.h"
#include "runtime/leadership/leadership.h"
#include "testing/servers/database_server.h"

namespace baton::testing {
namespace {

using namespace std::chrono_literals;

class Candidate final : public LeadershipListener {
public:
    Candidate(SqlDatabase& database, const std::string& owner)
        : leadership_({.timers = *ElectionTimers::of(2s),
                       .lock = std::string(kLeaderLock),
                       .owner = owner,
                       .seed = std::hash<std::string>()(owner)},
                      database, clock_, *this) {
        leadership_.start();
    }

    void lead(Epoch epoch) override { note("lead " + to_string(epoch)); }
    void step_down(Epoch epoch, election::Reason /*reason*/, const std::string& /*why*/) override {
        leadership_.drained(epoch);
        note("step down from " + to_string(epoch));
    }
    void left() override { note("left"); }

    [[nodiscard]] bool is_told(const std::string& what) {
        std::unique_lock lock(mutex_);
        return noted_.wait_for(lock, 30s, [&] {
            return std::find(notes_.begin(), notes_.end(), what) != notes_.end();
        });
    }
    Leadership* operator->() { return &leadership_; }

private:
    void note(const std::string& what) {
        {
            const std::lock_guard lock(mutex_);
            notes_.push_back(what);
        }
        noted_.notify_all();
    }

    const SystemClock clock_;
    std::mutex mutex_;
    std::condition_variable noted_;
    std::vector<std::string> notes_;
    Leadership leadership_;
};

class LeadershipOnServer : public ::testing::TestWithParam<ServerKind> {
protected:
    LeadershipOnServer() : server_(GetParam()), url_(server_.new_database()) {
        auto database = open_server_database(GetParam(), url_, migrate);
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
                         [](const auto& each) {
                             return each.param == ServerKind::postgres ? "Postgres" : "Mariadb";
                         });

}  // namespace
}  // namespace baton::testing
