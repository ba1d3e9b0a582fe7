// Partitions over failovers: who has one keeps it, and there is never a second.
#include <csignal>
#include <thread>

#include <gtest/gtest.h>

#include "failover/cluster.h"

namespace baton::failover {
namespace {

using std::chrono::steady_clock;
using testing::ServerKind;

class Partitions : public ::testing::TestWithParam<ServerKind> {
protected:
    // What the coordinator says of them, when it says what is wanted; or the last it said.
    std::string partitions(std::size_t at, const std::string& wanted) {
        std::string said;
        const auto deadline = steady_clock::now() + cli::kPatience;
        while (steady_clock::now() < deadline) {
            said = cluster_.ask(at, "SELECT NUMBER, STATE, OWNER, EPOCH FROM baton.partitions").out;
            if (said == wanted) return said;
            std::this_thread::sleep_for(std::chrono::milliseconds(50));
        }
        return said;
    }

    Cluster cluster_{GetParam(), 2, 2, 2};
};

TEST_P(Partitions, AreKeptWhenAnotherLeads) {
    const auto leader = cluster_.leader_of({0, 1});
    ASSERT_TRUE(leader);
    ASSERT_EQ(cluster_.ask(*leader, cluster_.create_workers()).status, 0);
    ASSERT_EQ(cluster_.ask(*leader, "CREATE TASK LIST l PARTITIONS 3").status, 0);
    const std::string shared =
        "NUMBER,STATE,OWNER,EPOCH\n0,OWNED,w1,1\n1,OWNED,w2,1\n2,OWNED,w1,1\n";
    ASSERT_EQ(partitions(*leader, shared), shared);
    cluster_.signal(*leader, SIGKILL);
    (void)cluster_.wait(*leader);
    const auto next = cluster_.leader_of({1 - *leader});
    ASSERT_TRUE(next);
    EXPECT_EQ(partitions(*next, shared), shared);
    // What moves now moves under the new epoch.
    ASSERT_EQ(cluster_.ask(*next, "DRAIN WORKER 'w2'").status, 0);
    const std::string moved =
        "NUMBER,STATE,OWNER,EPOCH\n0,OWNED,w1,1\n1,OWNED,w1,2\n2,OWNED,w1,1\n";
    EXPECT_EQ(partitions(*next, moved), moved);
    ASSERT_EQ(cluster_.ask(*next, "DROP TASK LIST l").status, 0);
    const std::string none = "NUMBER,STATE,OWNER,EPOCH\n";
    EXPECT_EQ(partitions(*next, none), none);
}

INSTANTIATE_TEST_SUITE_P(Servers, Partitions,
                         ::testing::Values(ServerKind::postgres, ServerKind::mariadb),
                         [](const auto& about) {
                             return about.param == ServerKind::postgres ? "Postgres" : "Mariadb";
                         });

}  // namespace
}  // namespace baton::failover
