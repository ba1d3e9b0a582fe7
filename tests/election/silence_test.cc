// Connections to the database that are there and carry nothing, and answers that are lost.
#include <atomic>
#include <chrono>
#include <memory>
#include <string>
#include <thread>

#include <gtest/gtest.h>

#include "catalog/lease.h"
#include "catalog/schema.h"
#include "coordinator/coordinator_runtime.h"
#include "election/arena.h"
#include "election/candidate.h"
#include "testing/servers/relay.h"

namespace baton::testing {
namespace {

using namespace std::chrono_literals;
using std::chrono::steady_clock;

class SilenceTest : public ::testing::TestWithParam<ServerKind> {
protected:
    // Until something is so, of a process that does it by itself.
    template <class Condition>
    static bool becomes(const Condition& so) {
        const auto deadline = steady_clock::now() + 60s;
        while (!so()) {
            if (steady_clock::now() > deadline) return false;
            std::this_thread::sleep_for(10ms);
        }
        return true;
    }

    DatabaseServer& server_ = DatabaseServer::shared(GetParam());
    const std::string url_ = server_.new_database();
    Relay relay_{server_.port()};
    std::unique_ptr<SqlDatabase> direct_ =
        *open_server_database(GetParam(), url_, catalog::migrate);
    std::unique_ptr<SqlDatabase> relayed_ =
        *open_server_database(GetParam(), relay_.instead_in(url_));
};

// ---- half open ----------------------------------------------------------------------------------

TEST_P(SilenceTest, ALeaderThatHearsNothingStopsBeforeAnotherBeginsAndComesBack) {
    Candidate silent(*relayed_, "silent");
    ASSERT_TRUE(silent.leads_above(Epoch(0)));
    const Epoch first = silent->status().leader->epoch;
    std::atomic<bool> acted{false};
    Candidate other(*direct_, "other", 2s, [&] { acted = silent->acting().has_value(); });
    relay_.fall_silent(Relay::Whom::all);
    EXPECT_TRUE(other.leads_above(first));
    EXPECT_FALSE(acted) << "two led at once";
    EXPECT_TRUE(silent.was_told("step down from " + to_string(first)));
    relay_.speak_again();
    other->leave();
    EXPECT_TRUE(silent.leads_above(first));
}

TEST_P(SilenceTest, ALeaderWhoseConnectionIsHalfOpenGoesOnWithAnother) {
    Candidate leader(*relayed_, "leader", 4s);
    ASSERT_TRUE(leader.leads_above(Epoch(0)));
    const auto epoch = leader->acting();
    const auto before = steady_clock::now();
    relay_.fall_silent(Relay::Whom::those_here);
    // Longer than a lease lasts.
    while (steady_clock::now() < before + 5s) {
        ASSERT_EQ(leader->acting(), epoch);
        std::this_thread::sleep_for(50ms);
    }
    relay_.speak_again();
}

TEST_P(SilenceTest, AFollowerWhoseConnectionIsHalfOpenStillTakesOver) {
    Candidate leader(*direct_, "leader");
    ASSERT_TRUE(leader.leads_above(Epoch(0)));
    Candidate follower(*relayed_, "follower");
    ASSERT_TRUE(becomes([&] { return follower->status().leader.has_value(); }));
    relay_.fall_silent(Relay::Whom::those_here);
    leader->leave();
    EXPECT_TRUE(follower.leads_above(Epoch(1)));
    relay_.speak_again();
}

// ---- lost answers -------------------------------------------------------------------------------

class LossTest : public SilenceTest {
protected:
    Result<catalog::Answer> make_source(coordinator::CoordinatorRuntime& coordinator) {
        return coordinator.execute(catalog::request::CreateLogicalSource{
            .name = "S", .schema = {.columns = {{.name = "X", .type = DataType::int64}}}});
    }
    bool is_there() {
        const auto sql = *direct_->connect(Access::read);
        const auto rows = sql->query("SELECT name FROM logical_source");
        return rows && rows->size() == 1;
    }
    const system::SystemClock clock_;
};

TEST_P(LossTest, AnAcquisitionWhoseCommitIsNotAnsweredIsNoTerm) {
    for (const Relay::Loss loss : {Relay::Loss::answer, Relay::Loss::question}) {
        const auto sql = *direct_->connect(Access::write);
        ASSERT_TRUE(sql->execute("UPDATE lease SET epoch = 0, expires_at = 0"));
        ASSERT_TRUE(sql->execute("UPDATE fence SET epoch = 0"));
        relay_.cut_at("COMMIT", loss);
        Candidate candidate(*relayed_, "candidate", 10s);
        EXPECT_TRUE(candidate.leads_above(Epoch(1)));
        EXPECT_FALSE(candidate.was_told("lead 1"));
        EXPECT_TRUE(relay_.has_cut());
        candidate->leave();
        EXPECT_TRUE(candidate.is_told("left"));
    }
}

TEST_P(LossTest, AChangeWhoseCommitIsNotAnsweredIsOfUnknownOutcomeAndPublishedIfItHappened) {
    auto coordinator = *coordinator::CoordinatorRuntime::open(std::move(relayed_), clock_);
    const Revision before = coordinator->feed().last();
    relay_.cut_at("COMMIT", Relay::Loss::answer);
    const auto made = make_source(*coordinator);
    ASSERT_FALSE(made);
    EXPECT_EQ(made.error().code, ErrorCode::unknown_outcome) << to_string(made.error());
    EXPECT_TRUE(becomes([&] { return is_there(); })) << "the server had all of it";
    EXPECT_TRUE(becomes([&] { return coordinator->feed().last() > before; }))
        << "whoever watches is not told";
}

TEST_P(LossTest, AChangeWhoseCommitIsLostIsOfUnknownOutcomeAndCanBeMadeAgain) {
    auto coordinator = *coordinator::CoordinatorRuntime::open(std::move(relayed_), clock_);
    relay_.cut_at("COMMIT", Relay::Loss::question);
    const auto made = make_source(*coordinator);
    ASSERT_FALSE(made);
    EXPECT_EQ(made.error().code, ErrorCode::unknown_outcome) << to_string(made.error());
    EXPECT_FALSE(is_there());
    EXPECT_TRUE(make_source(*coordinator));
    EXPECT_TRUE(is_there());
}

const auto kServers = ::testing::Values(ServerKind::postgres, ServerKind::mariadb);
INSTANTIATE_TEST_SUITE_P(On, SilenceTest, kServers, name_of_server);
INSTANTIATE_TEST_SUITE_P(On, LossTest, kServers, name_of_server);

}  // namespace
}  // namespace baton::testing
