// What followers hear of a catalog in PostgreSQL: they look because they were told, not because it
// was time to.
#include "adapters/postgres/signals.h"

#include <condition_variable>
#include <mutex>

#include <gtest/gtest.h>

#include "adapters/system/system_clock.h"
#include "catalog/lease.h"
#include "catalog/lease_schema.h"
#include "catalog/schema.h"
#include "coordinator/coordinator_runtime.h"
#include "coordinator/sessions/session.h"
#include "testing/servers/database_server.h"

namespace baton::testing {
namespace {

constexpr std::chrono::seconds kPatience{30};

class Signals : public ::testing::Test {
protected:
    void SetUp() override {
        leader_ = open({});
        signals_ = postgres::listen_to_postgres(url_);
        coordinator::CoordinatorOptions options;
        options.follows = true;
        options.following.signals = signals_.get();
        options.following.interval_with_signals = std::chrono::minutes(10);
        follower_ = open(options);
        session_ = std::make_unique<coordinator::Session>(*leader_, "tester");
    }
    void TearDown() override { session_.reset(); }

    std::unique_ptr<coordinator::CoordinatorRuntime> open(
        const coordinator::CoordinatorOptions& options) {
        auto database = open_server_database(ServerKind::postgres, url_, catalog::migrate);
        CHECK(database);
        auto opened = coordinator::CoordinatorRuntime::open(*std::move(database), clock_, options);
        CHECK(opened);
        return *std::move(opened);
    }
    // Until it happened: a server that was restarted is connected to again.
    void create(const std::string& name) {
        const Instant deadline = clock_.now() + kPatience;
        while (
            session_->execute("CREATE LOGICAL SOURCE IF NOT EXISTS " + name + " (x INT8)").error) {
            ASSERT_LT(clock_.now(), deadline);
        }
    }
    // Whether the follower publishes a revision like the leader's, and after how long.
    bool arrives() {
        std::mutex mutex;
        std::condition_variable woken;
        const auto woke = follower_->feed().wake_on(coordinator::EntitySet{}.set(), [&] {
            const std::lock_guard lock(mutex);
            woken.notify_all();
        });
        std::unique_lock lock(mutex);
        return woken.wait_for(lock, kPatience,
                              [&] { return follower_->feed().last() == leader_->feed().last(); });
    }

    DatabaseServer server_{ServerKind::postgres};  // of its own: it is restarted
    const std::string url_ = server_.new_database();
    const system::SystemClock clock_;
    std::unique_ptr<SqlSignals> signals_;
    std::unique_ptr<coordinator::CoordinatorRuntime> leader_;
    std::unique_ptr<coordinator::CoordinatorRuntime> follower_;
    std::unique_ptr<coordinator::Session> session_;
};

TEST_F(Signals, ACommitIsSeenThoughNobodyWouldHaveLooked) {
    for (int i = 0; i < 20; ++i) {
        create("S" + std::to_string(i));
        ASSERT_TRUE(arrives()) << i;
    }
}

TEST_F(Signals, AfterARestartOfTheServerItListensAgainAndMissesNothing) {
    create("BEFORE");
    ASSERT_TRUE(arrives());
    server_.kill();
    server_.start();
    create("AFTER");
    EXPECT_TRUE(arrives());
    server_.kill();
    server_.start();
    create("AGAIN");
    EXPECT_TRUE(arrives());
    create("LATER");
    EXPECT_TRUE(arrives());
}

TEST_F(Signals, ALeaseThatIsTakenOrGivenUpIsHeard) {
    const auto signals = postgres::listen_to_postgres(url_);
    ASSERT_TRUE(signals->wait(kPatience)) << "anything may have happened before";
    auto database = open_server_database(ServerKind::postgres, url_);
    ASSERT_TRUE(database);
    auto sql = (*database)->connect(Access::write);
    ASSERT_TRUE(sql);
    catalog::Leases leases(**sql);
    const auto taken = leases.acquire("other", "me", std::chrono::seconds(30));
    ASSERT_TRUE(taken && std::holds_alternative<catalog::lease::Taken>(*taken));
    auto heard = signals->wait(kPatience);
    ASSERT_TRUE(heard);
    EXPECT_TRUE(heard->lease);
    ASSERT_TRUE(leases.renew("other", "me", std::get<catalog::lease::Taken>(*taken).epoch,
                             std::chrono::seconds(30)));
    ASSERT_TRUE(leases.release("other", "me", std::get<catalog::lease::Taken>(*taken).epoch));
    heard = signals->wait(kPatience);
    ASSERT_TRUE(heard);
    EXPECT_TRUE(heard->lease);
    heard = signals->wait(std::chrono::milliseconds(50));
    ASSERT_TRUE(heard);
    EXPECT_FALSE(heard->lease) << "a renewal is no news";
}

TEST_F(Signals, AWaitCanBeEndedFromElsewhere) {
    const auto signals = postgres::listen_to_postgres(url_);
    ASSERT_TRUE(signals->wait(kPatience));
    signals->interrupt();
    const auto heard = signals->wait(std::chrono::hours(1));
    ASSERT_TRUE(heard);
    EXPECT_FALSE(heard->commit || heard->lease);
}

}  // namespace
}  // namespace baton::testing
