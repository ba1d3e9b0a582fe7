// Names of locks that reach for the row by which coordinators elect their leader.
#include <string>

#include <gtest/gtest.h>

#include "hostile/daemon.h"
#include "testing/servers/database_server.h"

namespace baton::hostile {
namespace {

// A catalog of each kind, as `baton serve --catalog` has it; empty: a file.
std::vector<std::string> catalogs() {
    using testing::DatabaseServer;
    return {"", DatabaseServer::shared(testing::ServerKind::postgres).new_database(),
            DatabaseServer::shared(testing::ServerKind::mariadb).new_database()};
}

std::vector<std::string> options_for(const std::string& catalog) {
    if (catalog.empty()) return {};
    return {"--catalog", catalog, "--lease-ttl", "2"};
}

TEST(HostileLocks, NoNameReachesTheLeadersRow) {
    for (const std::string& catalog : catalogs()) {
        Daemon daemon(options_for(catalog));
        ASSERT_TRUE(daemon.takes_a_write()) << catalog;
        const std::string leads =
            "SELECT OWNER, EPOCH, STATUS FROM baton.locks WHERE NAME = 'leader'";
        const std::string before = daemon.psql(leads).out;
        for (const std::string name :
             {"leader", "leader ", "LEADER  ", " leader", "leader\t", "leader\u00a0", "Leader"}) {
            for (const std::string act : {"DISABLE LOCK ", "DROP LOCK ", "ENABLE LOCK "}) {
                EXPECT_NE(daemon.psql(act + "\"" + name + "\"").status, 0) << name;
            }
            const cli::Ended taken =
                daemon.psql("ACQUIRE LOCK \"" + name + "\" OWNER 'thief' TTL 1 HOUR");
            EXPECT_EQ(taken.status != 0, name != "leader\u00a0") << name;  // which is another name
            EXPECT_NE(daemon.psql("RELEASE LOCK \"" + name + " \" OWNER '' EPOCH 0").status, 0);
        }
        EXPECT_EQ(daemon.psql(leads).out, before) << catalog;
        EXPECT_TRUE(daemon.takes_a_write()) << catalog;
    }
}

TEST(HostileLocks, NamesThatLookLikeOthersAreRefusedWhereTheyAreGiven) {
    Daemon daemon;
    for (const std::string statement :
         {"CREATE LOGICAL SOURCE \"s \" (a INT8)", "CREATE LOGICAL SOURCE \" s\" (a INT8)",
          "CREATE LOGICAL SOURCE \"s\u0085\" (a INT8)", "CREATE TASK LIST \"t\tx\" PARTITIONS 2",
          "ACQUIRE LOCK \"n \" OWNER 'a' TTL 1 MINUTE"}) {
        const cli::Ended refused = daemon.psql(statement);
        EXPECT_NE(refused.status, 0) << statement;
        EXPECT_NE(refused.errors.find("give a name without blanks at its ends"), std::string::npos)
            << refused.errors;
    }
    EXPECT_EQ(daemon.psql("CREATE LOGICAL SOURCE \"s s\" (a INT8)").status, 0);
    EXPECT_TRUE(daemon.takes_a_write());
}

}  // namespace
}  // namespace baton::hostile
