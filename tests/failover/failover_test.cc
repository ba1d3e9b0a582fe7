// Coordinators die, stand still and are asked to leave, and so does their database; one leads
// again, nothing that was accepted is lost, and what runs goes on running.
#include <csignal>
#include <thread>

#include <gtest/gtest.h>

#include "failover/cluster.h"

namespace baton::failover {
namespace {

using std::chrono::steady_clock;
using testing::ServerKind;

class Failover : public ::testing::TestWithParam<ServerKind> {
protected:
    static constexpr int kTtl = 2;

    // Everything that was accepted is there, on this coordinator.
    void expect_nothing_lost(std::size_t at) {
        const cli::Ended ended = cluster_.ask(at, "SELECT NAME FROM baton.logical_sources");
        ASSERT_EQ(ended.status, 0) << ended.errors;
        for (const std::string& name : cluster_.accepted()) {
            EXPECT_NE(ended.out.find("\n" + name + "\n"), std::string::npos) << name;
        }
    }
    // The query was neither stopped nor started again, and rows go on leaving it.
    void expect_still_running(std::size_t leader) {
        const cli::Ended ended = cluster_.ask(leader, "SELECT STATE, RUN FROM baton.queries");
        EXPECT_EQ(ended.out, "STATE,RUN\nRUNNING,1\n") << ended.errors;
        const auto deadline = steady_clock::now() + cli::kPatience;
        const auto later = [&] {
            std::this_thread::sleep_for(std::chrono::milliseconds(50));
            return steady_clock::now() > deadline;
        };
        while (cluster_.rows_out(leader) == 0) ASSERT_FALSE(later()) << "nothing is counted";
        const std::int64_t rows = cluster_.rows_out(leader);
        while (cluster_.rows_out(leader) == rows) ASSERT_FALSE(later()) << "rows stand still";
    }

    Cluster cluster_{GetParam(), kTtl, 3, 2};
};

TEST_P(Failover, WhenTheLeaderIsKilledAnotherLeadsAndQueriesRunOn) {
    auto leader = cluster_.leader_of({0, 1, 2});
    ASSERT_TRUE(leader);
    cluster_.run_a_query(*leader);
    for (int round = 0; round < 3; ++round) {
        cluster_.signal(*leader, SIGKILL);
        EXPECT_EQ(cluster_.wait(*leader), 128 + SIGKILL);
        const auto killed = steady_clock::now();
        const auto next = cluster_.leader_of({(*leader + 1) % 3, (*leader + 2) % 3});
        ASSERT_TRUE(next);
        const std::chrono::duration<double> took = steady_clock::now() - killed;
        EXPECT_LT(took.count(), kTtl + 5.0) << "on a busy machine";
        expect_nothing_lost(*next);
        expect_still_running(*next);
        cluster_.start(*leader);
        leader = next;
    }
}

TEST_P(Failover, OneThatIsToldToLeaveHandsOver) {
    const auto leader = cluster_.leader_of({0, 1, 2});
    ASSERT_TRUE(leader);
    cluster_.run_a_query(*leader);
    cluster_.signal(*leader, SIGTERM);
    EXPECT_EQ(cluster_.wait(*leader), 0) << cluster_.log(*leader);
    const auto next = cluster_.leader_of({(*leader + 1) % 3, (*leader + 2) % 3});
    ASSERT_TRUE(next);
    expect_nothing_lost(*next);
    expect_still_running(*next);
}

TEST_P(Failover, OneThatStoodStillDoesNothingWhenItGoesOn) {
    const auto leader = cluster_.leader_of({0, 1, 2});
    ASSERT_TRUE(leader);
    cluster_.run_a_query(*leader);
    cluster_.signal(*leader, SIGSTOP);
    const auto next = cluster_.leader_of({(*leader + 1) % 3, (*leader + 2) % 3});
    ASSERT_TRUE(next);
    std::this_thread::sleep_for(std::chrono::seconds(kTtl));
    cluster_.signal(*leader, SIGCONT);
    const cli::Ended refused = cluster_.ask(*leader, "CREATE LOGICAL SOURCE stale (x INT8)");
    EXPECT_EQ(refused.status, 1) << "a leader of the past has changed something";
    EXPECT_NE(refused.errors.find("error 6007"), std::string::npos) << refused.errors;
    expect_nothing_lost(*next);
    expect_nothing_lost(*leader);
    expect_still_running(*next);
}

TEST_P(Failover, WhoFollowsAnswersReadsAndNamesTheLeader) {
    const auto leader = cluster_.leader_of({0, 1, 2});
    ASSERT_TRUE(leader);
    const std::size_t follower = (*leader + 1) % 3;
    const auto deadline = steady_clock::now() + cli::kPatience;
    cli::Ended refused;
    do {  // it learns who leads within moments
        refused = cluster_.ask(follower, "CREATE LOGICAL SOURCE never (x INT8)");
        EXPECT_EQ(refused.status, 1);
        ASSERT_LT(steady_clock::now(), deadline) << refused.errors;
    } while (refused.errors.find(cluster_.address(*leader)) == std::string::npos);
    cli::Process watching({BATON_PROGRAMS "/baton", "shell", "--connect",
                           cluster_.address(follower), "-c",
                           "WATCH SELECT NAME FROM baton.logical_sources"});
    ASSERT_TRUE(watching.says("row"));
    ASSERT_EQ(cluster_.ask(*leader, "CREATE LOGICAL SOURCE seen (x INT8)").status, 0);
    EXPECT_TRUE(watching.says("CREATE  NAME=SEEN"));
}

TEST_P(Failover, ACatalogThatIsLedIsNotCopied) {
    const auto leader = cluster_.leader_of({0, 1, 2});
    ASSERT_TRUE(leader);
    const std::vector<std::string> copy = {BATON_PROGRAMS "/baton",
                                           "catalog",
                                           "migrate",
                                           "--from",
                                           cluster_.url(),
                                           "--to",
                                           "sqlite:" + cluster_.directory() + "/copy.db"};
    const cli::Ended refused = cli::run(copy);
    EXPECT_EQ(refused.status, 1);
    EXPECT_NE(refused.errors.find(cluster_.address(*leader) + " leads, under epoch"),
              std::string::npos)
        << refused.errors;
    EXPECT_NE(cli::run({"/usr/bin/ls", cluster_.directory() + "/copy.db"}).status, 0);
    for (std::size_t i = 0; i < 3; ++i) cluster_.signal(i, SIGTERM);
    for (std::size_t i = 0; i < 3; ++i) EXPECT_EQ(cluster_.wait(i), 0);
    EXPECT_EQ(cli::run(copy).status, 0);
}

TEST_P(Failover, ADatabaseThatWasRestartedCostsNothingThatWasAccepted) {
    const auto leader = cluster_.leader_of({0, 1, 2});
    ASSERT_TRUE(leader);
    cluster_.run_a_query(*leader);
    cluster_.server().kill();
    EXPECT_EQ(cluster_.ask(*leader, "CREATE LOGICAL SOURCE lost (x INT8)").status, 1);
    cluster_.server().start();
    const auto next = cluster_.leader_of({0, 1, 2});
    ASSERT_TRUE(next);
    expect_nothing_lost(*next);
    expect_still_running(*next);
}

INSTANTIATE_TEST_SUITE_P(Servers, Failover,
                         ::testing::Values(ServerKind::postgres, ServerKind::mariadb),
                         [](const auto& each) {
                             return each.param == ServerKind::postgres ? "Postgres" : "Mariadb";
                         });

}  // namespace
}  // namespace baton::failover
