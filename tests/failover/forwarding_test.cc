// Clients keep working through any coordinator: one that follows passes on what only the leader can
// do, and gives back what the leader says.
#include <atomic>
#include <csignal>
#include <thread>

#include <gtest/gtest.h>

#include "failover/cluster.h"

namespace baton::failover {
namespace {

using std::chrono::steady_clock;
using testing::ServerKind;

class Forwarding : public ::testing::TestWithParam<ServerKind> {
protected:
    static constexpr int kTtl = 2;

    void SetUp() override {
        // One that answers says that all of it works; who leads is known from the logs.
        const auto deadline = steady_clock::now() + cli::kPatience;
        while (cluster_.ask(0, "CREATE LOGICAL SOURCE IF NOT EXISTS first (x INT8)").status != 0 ||
               !cluster_.last_to_lead()) {
            ASSERT_LT(steady_clock::now(), deadline) << cluster_.log(0);
        }
        for (std::size_t i = 1; i < 3; ++i) {
            while (cluster_.ask(i, "SHOW VERSION").status != 0) {
                ASSERT_LT(steady_clock::now(), deadline) << cluster_.log(i);
            }
        }
        leader_ = *cluster_.last_to_lead();
        follower_ = (leader_ + 1) % 3;
    }

    // What psql says at that coordinator.
    [[nodiscard]] cli::Ended psql(std::size_t at, const std::string& text,
                                  const std::string& more = {}) const {
        return cli::run({"/usr/bin/env", "PGCONNECT_TIMEOUT=5", "psql", "-X", "-q", "-A", "-t",
                         "postgres://ann@" + cluster_.address(at) + "/baton" + more, "-c", text});
    }
    [[nodiscard]] cli::Ended curl(std::size_t at, const std::string& path,
                                  const std::string& body) const {
        return cli::run({"curl", "-s", "-i", "-X", "POST", "-H", "Content-Type: application/json",
                         "-d", body, "http://" + cluster_.http_address(at) + path});
    }

    Cluster cluster_{GetParam(), kTtl, 3, 2, Writes::forwarded};
    std::size_t leader_ = 0;
    std::size_t follower_ = 0;
};

TEST_P(Forwarding, WhatPsqlSaysIsTheSameAtEveryCoordinator) {
    ASSERT_EQ(psql(follower_, "CREATE LOGICAL SOURCE made (x INT8)").status, 0);
    EXPECT_EQ(psql(follower_, "SELECT NAME FROM baton.logical_sources WHERE NAME = 'MADE'").out,
              "MADE\n");
    EXPECT_EQ(psql(leader_, "SELECT PRINCIPAL FROM baton.statements WHERE PRINCIPAL = 'ann'").out,
              "ann\n");
    for (const std::string wrong :
         {"CREATE LOGICAL SOURCE made (x INT8)", "CREATE QUERY q AS SELECT nosuch FROM made INTO t",
          "DROP SINK nosuch", "CREAT SINK x", "STOP QUERY 99"}) {
        const cli::Ended here = psql(follower_, "\\set VERBOSITY verbose\n" + wrong);
        const cli::Ended there = psql(leader_, "\\set VERBOSITY verbose\n" + wrong);
        EXPECT_EQ(here.status, there.status) << wrong;
        EXPECT_EQ(here.errors, there.errors) << wrong;
        EXPECT_FALSE(here.errors.empty()) << wrong;
    }
    EXPECT_EQ(psql(follower_, "BEGIN; CREATE LOGICAL SOURCE t1 (x INT8); ROLLBACK").status, 0);
    EXPECT_EQ(psql(follower_, "DROP LOGICAL SOURCE made").status, 0);
    EXPECT_EQ(psql(leader_, "SELECT NAME FROM baton.logical_sources").out, "FIRST\n");
}

TEST_P(Forwarding, AQueryIsMadeWaitedForCountedAndEndedThroughAFollower) {
    cluster_.run_a_query(follower_);  // with its workers and its WAIT
    const auto deadline = steady_clock::now() + cli::kPatience;
    while (cluster_.rows_out(follower_) == 0) {
        ASSERT_LT(steady_clock::now(), deadline) << "nothing is counted";
        std::this_thread::sleep_for(std::chrono::milliseconds(50));
    }
    const cli::Ended rows = cli::run(
        {BATON_PROGRAMS "/baton", "shell", "--connect", cluster_.address(follower_), "--format",
         "csv", "-c",
         "SELECT a FROM Generator('SEQUENCE UINT64 0 1000 1' AS SOURCE.GENERATOR_SCHEMA, SCHEMA(a "
         "UINT64 NOT NULL) AS SOURCE.SCHEMA, 'w1' AS SOURCE.HOST) LIMIT 3"});
    EXPECT_EQ(rows.out, "A\n0\n1\n2\n") << rows.errors;
    EXPECT_EQ(psql(follower_, "SET baton.wait = 'ended'; DROP QUERY q").status, 0);
    // The query behind the rows goes with its client.
    while (psql(follower_, "SELECT NAME FROM baton.queries").out != "") {
        ASSERT_LT(steady_clock::now(), deadline) << psql(leader_, "SHOW QUERIES").out;
        std::this_thread::sleep_for(std::chrono::milliseconds(50));
    }
}

TEST_P(Forwarding, HttpIsAnsweredAsByTheLeader) {
    const cli::Ended made =
        curl(follower_, "/v1/sql", R"j({"sql":"CREATE LOGICAL SOURCE web (x INT8)"})j");
    EXPECT_NE(made.out.find("200 OK"), std::string::npos) << made.out;
    EXPECT_NE(made.out.find("\"revision\""), std::string::npos) << made.out;
    const std::string again = R"j({"sql":"CREATE LOGICAL SOURCE web (x INT8)"})j";
    const cli::Ended here = curl(follower_, "/v1/sql", again);
    EXPECT_NE(here.out.find("409"), std::string::npos) << here.out;
    EXPECT_NE(here.out.find("2031"), std::string::npos) << here.out;
}

// The value of a metric without labels at that coordinator.
double metric(const Cluster& cluster, std::size_t at, const std::string& name) {
    const cli::Ended page =
        cli::run({"curl", "-s", "http://" + cluster.http_address(at) + "/metrics"});
    const std::size_t found = page.out.find("\n" + name + " ");
    if (found == std::string::npos) return -1;
    return std::stod(page.out.substr(found + name.size() + 2));
}

TEST_P(Forwarding, EveryCoordinatorTellsWhoLeadsSinceWhenAndForHowLong) {
    for (std::size_t i = 0; i < 3; ++i) {
        const cli::Ended status =
            cli::run({BATON_PROGRAMS "/baton", "status", "--connect", cluster_.address(i)});
        const std::size_t line = status.out.find("\nleader   ");
        ASSERT_NE(line, std::string::npos) << status.out << status.errors;
        const std::string leader = status.out.substr(line + 1, status.out.find('\n', line + 1));
        EXPECT_NE(leader.find(" " + cluster_.address(leader_) + ", epoch 1 since 20"),
                  std::string::npos)
            << leader;
        EXPECT_NE(leader.find(" s left"), std::string::npos) << leader;
        EXPECT_EQ(metric(cluster_, i, "baton_leading"), i == leader_ ? 1 : 0);
        EXPECT_EQ(metric(cluster_, i, "baton_leader_epoch"), 1);
        EXPECT_GT(metric(cluster_, i, "baton_leader_since_seconds"), 1'700'000'000);
        const double remaining = metric(cluster_, i, "baton_leader_remaining_seconds");
        EXPECT_GT(remaining, 0);
        EXPECT_LE(remaining, std::chrono::duration<double>(kTtl).count());
    }
}

TEST_P(Forwarding, ADriverWritesIsToldOfErrorsAndCancelsThroughAFollower) {
    if (cli::run({"/usr/bin/python3", "-c", "import psycopg2"}).status != 0) {
        GTEST_SKIP() << "psycopg2 is not installed";
    }
    const std::string script = R"py(
import psycopg2, sys, threading, time
db = psycopg2.connect(sys.argv[1])
db.autocommit = True
do = db.cursor()
do.execute("CREATE WORKER '127.0.0.1:9' SET (%s AS NAME)", ("GONE",))
do.execute("CREATE SINK out (a INT8) TYPE Void SET ('GONE' AS SINK.HOST)")
try:
    do.execute("CREATE SINK out (a INT8) TYPE Void SET ('GONE' AS SINK.HOST)")
except psycopg2.Error as error:
    print(error.pgcode, error.diag.source_line)
db.autocommit = False
do.execute("CREATE LOGICAL SOURCE one (x INT8)")
do.execute("SELECT name FROM baton.logical_sources")
print(do.fetchall())
db.rollback()
db.autocommit = True
do.execute("SET baton.wait = 'running'")
threading.Timer(1.0, db.cancel).start()
try:
    do.execute("CREATE QUERY q AS SELECT a FROM Generator('SEQUENCE UINT64 0 9 1' AS "
               "SOURCE.GENERATOR_SCHEMA, SCHEMA(a INT8) AS SOURCE.SCHEMA, 'GONE' AS "
               "SOURCE.HOST) INTO out")
except psycopg2.Error as error:
    print(error.pgcode)
do.execute("SELECT name FROM baton.queries")
print(do.fetchall())
)py";
    const cli::Ended ended = cli::run({"/usr/bin/python3", "-c", script,
                                       "postgres://ann@" + cluster_.address(follower_) + "/baton"});
    EXPECT_EQ(ended.out, "42P07 2034\n[('FIRST',), ('ONE',)]\n57014\n[('Q',)]\n") << ended.errors;
}

TEST_P(Forwarding, ClientsThatAskForTheLeaderFindIt) {
    EXPECT_EQ(psql(follower_, "SHOW in_hot_standby").out, "on\n");
    EXPECT_EQ(psql(follower_, "SELECT pg_is_in_recovery()").out, "1\n");
    EXPECT_EQ(psql(leader_, "SHOW in_hot_standby").out, "off\n");
    EXPECT_NE(psql(follower_, "SELECT 1", "?target_session_attrs=read-write").status, 0);
    EXPECT_EQ(psql(leader_, "SHOW VERSION", "?target_session_attrs=primary").status, 0);
    EXPECT_EQ(psql(follower_, "SHOW VERSION", "?target_session_attrs=standby").status, 0);
    EXPECT_EQ(psql(follower_, "CREATE LOGICAL SOURCE any (x INT8)").status, 0)
        << "who does not ask writes through it";
}

TEST_P(Forwarding, NobodyCanBringOrdersWhoDoesNotKnowTheSecret) {
    const cli::Ended without =
        cli::run({"psql", "-X", "-w",
                  "host=127.0.0.1 port=" + cluster_.address(leader_).substr(10) +
                      " user='baton coordinator' dbname=baton",
                  "-c", "SHOW VERSION"});
    EXPECT_NE(without.status, 0);
    const cli::Ended wrong =
        cli::run({"/usr/bin/env", "PGPASSWORD=guess", "psql", "-X", "-w",
                  "host=127.0.0.1 port=" + cluster_.address(leader_).substr(10) +
                      " user='baton coordinator' dbname=baton",
                  "-c", "SHOW VERSION"});
    EXPECT_NE(wrong.status, 0);
    EXPECT_NE(wrong.errors.find("password authentication failed"), std::string::npos)
        << wrong.errors;
}

TEST_P(Forwarding, WhoWritesThroughAFollowerOutlivesTheLeader) {
    // Each is either accepted, or told that it is not known; then it may be there or not.
    std::vector<std::string> accepted;
    std::vector<std::string> unknown;
    std::vector<std::string> others;
    std::atomic<bool> over = false;
    steady_clock::duration longest{};
    std::thread client([&] {
        for (int i = 0; !over; ++i) {
            const std::string name = "N" + std::to_string(i);
            const auto before = steady_clock::now();
            const cli::Ended ended =
                cluster_.ask(follower_, "CREATE LOGICAL SOURCE " + name + " (x INT8)");
            longest = std::max(longest, steady_clock::now() - before);
            if (ended.status == 0) {
                accepted.push_back(name);
            } else if (ended.errors.find("error 6006") != std::string::npos) {
                unknown.push_back(name);
            } else {
                others.push_back(ended.errors);
            }
        }
    });
    for (int round = 0; round < 2; ++round) {
        const std::size_t killed = *cluster_.last_to_lead();
        if (killed == follower_) break;  // it leads by now: nobody is between
        std::this_thread::sleep_for(std::chrono::milliseconds(300));
        cluster_.signal(killed, SIGKILL);
        (void)cluster_.wait(killed);
        const auto deadline = steady_clock::now() + cli::kPatience;
        while (cluster_.last_to_lead() == killed && steady_clock::now() < deadline) {
            std::this_thread::sleep_for(std::chrono::milliseconds(20));
        }
        cluster_.start(killed);
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(500));
    over = true;
    client.join();
    EXPECT_TRUE(others.empty()) << others.front();
    EXPECT_LT(longest, std::chrono::seconds(kTtl + 5));
    EXPECT_GT(accepted.size(), 2U);
    EXPECT_LE(unknown.size(), 2U) << "at most what was under way";
    const std::string all = psql(follower_, "SELECT NAME FROM baton.logical_sources").out;
    for (const std::string& name : accepted) {
        EXPECT_NE(("\n" + all).find("\n" + name + "\n"), std::string::npos) << name;
    }
}

TEST_P(Forwarding, ALeaderThatStandsStillIsGivenUpAndItsAnswerIsUnknown) {
    cluster_.signal(leader_, SIGSTOP);
    const auto before = steady_clock::now();
    // What is sent to it now may still be read when it goes on.
    const cli::Ended first = cluster_.ask(follower_, "CREATE LOGICAL SOURCE s1 (x INT8)");
    EXPECT_LT(steady_clock::now() - before, std::chrono::seconds(kTtl + 10));
    if (first.status != 0) {
        EXPECT_TRUE(first.errors.find("error 6006") != std::string::npos ||
                    first.errors.find("error 6007") != std::string::npos)
            << first.errors;
    }
    EXPECT_EQ(cluster_.ask(follower_, "CREATE LOGICAL SOURCE s2 (x INT8)").status, 0);
    cluster_.signal(leader_, SIGCONT);
    EXPECT_EQ(cluster_.ask(leader_, "CREATE LOGICAL SOURCE s3 (x INT8)").status, 0)
        << "by now it follows, and passes on";
}

INSTANTIATE_TEST_SUITE_P(Servers, Forwarding,
                         ::testing::Values(ServerKind::postgres, ServerKind::mariadb),
                         [](const auto& each) {
                             return each.param == ServerKind::postgres ? "Postgres" : "Mariadb";
                         });

}  // namespace
}  // namespace baton::failover
