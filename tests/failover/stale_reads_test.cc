// Every door says that what it shows is old while the database is away, and no longer when it is
// back.
#include <thread>

#include <gtest/gtest.h>

#include "failover/cluster.h"

namespace baton::failover {
namespace {

using std::chrono::steady_clock;
using testing::ServerKind;

class StaleDoors : public ::testing::TestWithParam<ServerKind> {
protected:
    Cluster cluster_{GetParam(), 2, 2, 0, Writes::forwarded};

    [[nodiscard]] cli::Ended psql(std::size_t at, const std::string& text) const {
        return cli::run({"psql", "-X", "-q", "-A", "-t",
                         "postgres://ann@" + cluster_.address(at) + "/baton", "-c", text});
    }
    [[nodiscard]] cli::Ended get(std::size_t at, const std::string& path) const {
        return cli::run({"curl", "-s", "-i", "http://" + cluster_.http_address(at) + path});
    }
};

TEST_P(StaleDoors, MarkWhatTheyShowWhileTheDatabaseIsAway) {
    const auto deadline = steady_clock::now() + cli::kPatience;
    while (cluster_.ask(0, "CREATE LOGICAL SOURCE IF NOT EXISTS s (x INT8)").status != 0 ||
           cluster_.ask(1, "SHOW VERSION").status != 0) {
        ASSERT_LT(steady_clock::now(), deadline);
    }
    // The copy is taken every second, and more seldom on a busy machine.
    const auto is_kept = [&](std::size_t at) {
        return psql(at, "SELECT NAME FROM baton.logical_sources").out == "S\n";
    };
    for (;;) {
        ASSERT_LT(steady_clock::now(), deadline);
        std::this_thread::sleep_for(std::chrono::seconds(3));
        cluster_.server().kill();
        if (is_kept(0) && is_kept(1)) break;
        cluster_.server().start();
    }
    for (std::size_t at = 0; at < 2; ++at) {
        const cli::Ended shown = psql(at, "SELECT NAME FROM baton.logical_sources");
        EXPECT_EQ(shown.out, "S\n") << shown.errors;
        EXPECT_NE(shown.errors.find("WARNING"), std::string::npos) << shown.errors;
        EXPECT_NE(shown.errors.find("is away"), std::string::npos) << shown.errors;
        const cli::Ended list = get(at, "/v1/logical-sources");
        EXPECT_NE(list.out.find("Baton-Stale: "), std::string::npos) << list.out;
        EXPECT_NE(list.out.find("\"S\""), std::string::npos) << list.out;
        const cli::Ended shell = cluster_.ask(at, "SELECT NAME FROM baton.logical_sources");
        EXPECT_EQ(shell.out, "NAME\nS\n");
        EXPECT_NE(shell.errors.find("warning: the database"), std::string::npos) << shell.errors;
        const cli::Ended status =
            cli::run({BATON_PROGRAMS "/baton", "status", "--connect", cluster_.address(at)});
        EXPECT_EQ(status.status, 3) << status.errors;
        EXPECT_NE(status.out.find("is away"), std::string::npos) << status.out;
        const cli::Ended refused = cluster_.ask(at, "CREATE LOGICAL SOURCE t (x INT8)");
        EXPECT_NE(refused.errors.find("error 6000"), std::string::npos) << refused.errors;
    }
    cluster_.server().start();
    for (std::size_t at = 0; at < 2; ++at) {
        const cli::Ended shown = psql(at, "SELECT NAME FROM baton.logical_sources");
        EXPECT_EQ(shown.out, "S\n");
        EXPECT_EQ(shown.errors, "");
        EXPECT_EQ(get(at, "/v1/logical-sources").out.find("Baton-Stale"), std::string::npos);
    }
    while (cluster_.ask(1, "CREATE LOGICAL SOURCE IF NOT EXISTS t (x INT8)").status != 0) {
        ASSERT_LT(steady_clock::now(), deadline + cli::kPatience);
    }
}

INSTANTIATE_TEST_SUITE_P(Servers, StaleDoors,
                         ::testing::Values(ServerKind::postgres, ServerKind::mariadb),
                         [](const auto& each) {
                             return each.param == ServerKind::postgres ? "Postgres" : "Mariadb";
                         });

}  // namespace
}  // namespace baton::failover
