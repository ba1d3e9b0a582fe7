// Locks for clients, where several coordinators share a catalog.
#include <csignal>

#include <gtest/gtest.h>

#include "failover/cluster.h"

namespace baton::failover {
namespace {

using testing::ServerKind;

class ClientLocks : public ::testing::TestWithParam<ServerKind> {
protected:
    Cluster cluster_{GetParam(), 2, 2, 0};
};

TEST_P(ClientLocks, AreTheSameAtEveryCoordinatorAlsoWhenNoneLeads) {
    const auto leader = cluster_.leader_of({0, 1});
    ASSERT_TRUE(leader);
    const std::size_t other = 1 - *leader;
    EXPECT_EQ(cluster_.ask(*leader, "ACQUIRE LOCK l OWNER 'a' TTL 1 HOUR").out,
              "NAME,OWNER,EPOCH,TTL_US\nL,a,1,3600000000\n");
    const cli::Ended refused = cluster_.ask(other, "ACQUIRE LOCK l OWNER 'b' TTL 1 HOUR");
    EXPECT_NE(refused.errors.find("error 2061"), std::string::npos) << refused.errors;
    cluster_.signal(*leader, SIGKILL);
    (void)cluster_.wait(*leader);
    EXPECT_EQ(cluster_.ask(other, "RENEW LOCK l OWNER 'a' EPOCH 1 TTL 1 MIN").out,
              "NAME,OWNER,EPOCH,TTL_US\nL,a,1,60000000\n");
    ASSERT_EQ(cluster_.ask(other, "RELEASE LOCK l OWNER 'a' EPOCH 1").status, 0);
    EXPECT_EQ(cluster_.ask(other, "ACQUIRE LOCK l OWNER 'b' TTL 1 HOUR").out,
              "NAME,OWNER,EPOCH,TTL_US\nL,b,2,3600000000\n");
}

INSTANTIATE_TEST_SUITE_P(Servers, ClientLocks,
                         ::testing::Values(ServerKind::postgres, ServerKind::mariadb),
                         [](const auto& about) {
                             return about.param == ServerKind::postgres ? "Postgres" : "Mariadb";
                         });

}  // namespace
}  // namespace baton::failover
