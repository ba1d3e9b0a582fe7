// psql, as people use it.
#include <csignal>
#include <fstream>
#include <thread>

#include "pgwire/server_test_base.h"

namespace baton {
namespace {

using namespace std::chrono_literals;

class Psql : public ServerTest {
protected:
    void SetUp() override {
        if (!has("command -v psql", "psql")) {
            GTEST_SKIP() << "psql is not installed; scripts/setup gets it";
        }
        ServerTest::SetUp();
    }
};

TEST_F(Psql, ShowsRowsAndTags) {
    EXPECT_EQ(psql({"SELECT name, used, draining FROM baton.workers", "SHOW LINKS",
                    "CREATE LOGICAL SOURCE s (a INT8)", "DROP LOGICAL SOURCE s"}),
              "EDGE|0|f\nHUB|0|f\nEDGE|HUB\nCREATE LOGICAL SOURCE\nDROP LOGICAL SOURCE\n");
}

TEST_F(Psql, RunsSeveralStatementsOfAText) {
    EXPECT_EQ(psql({"SELECT 1; SHOW LINKS; BEGIN; CREATE LOGICAL SOURCE s (a INT8); COMMIT;"
                    "SELECT name FROM baton.logical_sources WHERE name = 'S'"}),
              "1\nEDGE|HUB\nBEGIN\nCREATE LOGICAL SOURCE\nCOMMIT\nS\n");
}

TEST_F(Psql, PointsAtErrors) {
    EXPECT_EQ(psql({"SELECT 1;\nSHOW WORKERS WHERE name = 'ä' AND nme = 'x'"}),
              "1\n"
              "ERROR:  unknown column \"NME\" of WORKERS\n"
              "LINE 2: SHOW WORKERS WHERE name = 'ä' AND nme = 'x'\n"
              "                                          ^\n"
              "HINT:  did you mean \"NAME\"?\n");
    EXPECT_EQ(psql({"SHOW LINKS; SELECT nme FROM baton.workers"}),
              "EDGE|HUB\n"
              "ERROR:  unknown column \"NME\" of BATON.WORKERS\n"
              "LINE 1: SHOW LINKS; SELECT nme FROM baton.workers\n"
              "                           ^\n"
              "HINT:  did you mean \"NAME\"?\n");
}

TEST_F(Psql, IsCountedWithTheOutcomeOfEachText) {
    (void)psql({"SHOW LINKS", "SELECT 1", "SHOW NOTHING AT ALL"});
    EXPECT_TRUE(eventually([&] {
        const std::string page = metrics_.text({});
        return page.find("baton_connections{door=\"pg\"} 0\n") != std::string::npos;
    }));
    const std::string page = metrics_.text({});
    for (const char* line :
         {"baton_requests_total{door=\"pg\",kind=\"simple\",outcome=\"00000\"} 2\n",
          "baton_requests_total{door=\"pg\",kind=\"simple\",outcome=\"42601\"} 1\n",
          "baton_request_seconds_count{door=\"pg\",kind=\"simple\"} 3\n"}) {
        EXPECT_NE(page.find(line), std::string::npos) << line << page;
    }
}

TEST_F(Psql, IsToldThatNothingWasChanged) {
    EXPECT_EQ(psql({"CREATE LOGICAL SOURCE IF NOT EXISTS readings (a INT8)",
                    "DROP SINK IF EXISTS nowhere", "DROP QUERY IF EXISTS nowhere"}),
              "NOTICE:  CREATE LOGICAL SOURCE READINGS: it exists already, nothing was done\n"
              "CREATE LOGICAL SOURCE\n"
              "NOTICE:  DROP SINK: nothing to drop\n"
              "DROP SINK\n"
              "NOTICE:  DROP QUERY: nothing to drop\n"
              "DROP QUERY\n");
}

TEST_F(Psql, PointsAtAParameterThatThereIsNot) {
    EXPECT_EQ(psql({"SHOW LINKS; SHOW nothing"}),
              "EDGE|HUB\n"
              "ERROR:  unknown parameter \"nothing\"\n"
              "LINE 1: SHOW LINKS; SHOW nothing\n"
              "                         ^\n"
              "HINT:  SHOW also lists QUERIES, FRAGMENTS, WORKERS, LINKS, SINKS, STATEMENTS, "
              "COUNTERS, PARTITIONS, LOCKS, TABLES, SEGMENTS, VERSION, LOGICAL SOURCES, PHYSICAL "
              "SOURCES, "
              "TASK LISTS, SOURCE TYPES, SINK TYPES and FORMAT TYPES\n");
}

TEST_F(Psql, KnowsThatATransactionHasFailed) {
    EXPECT_EQ(psql_script("\\set PROMPT1 x\n"
                          "BEGIN;\nCREATE LOGICAL SOURCE s (a INT8);\n"
                          "SELECT nme FROM baton.workers;\nSHOW LINKS;\nSELECT 1;\nROLLBACK;\n"
                          "SELECT name FROM baton.logical_sources;\nROLLBACK;\n"),
              "BEGIN\nCREATE LOGICAL SOURCE\n"
              "ERROR:  unknown column \"NME\" of BATON.WORKERS\n"
              "LINE 1: SELECT nme FROM baton.workers;\n"
              "               ^\n"
              "HINT:  did you mean \"NAME\"?\n"
              "ERROR:  the transaction has failed\n"
              "LINE 1: SHOW LINKS;\n"
              "        ^\n"
              "HINT:  ROLLBACK ends it\n"
              "ERROR:  the transaction has failed\n"
              "HINT:  ROLLBACK ends it\n"
              "ROLLBACK\nREADINGS\n"
              "WARNING:  no transaction is open\nROLLBACK\n");
}

TEST_F(Psql, WhatTheSessionDoesNotSeeFailsATransactionToo) {
    EXPECT_EQ(
        psql_script("BEGIN;\nCREATE LOGICAL SOURCE s (a INT8);\nSET client_encoding = latin1;\n"
                    "SHOW LINKS;\nROLLBACK;\nSELECT name FROM baton.logical_sources;\n"),
        "BEGIN\nCREATE LOGICAL SOURCE\n"
        "ERROR:  parameter \"client_encoding\" cannot be \"latin1\"\n"
        "HINT:  use UTF8\n"
        "ERROR:  the transaction has failed\n"
        "LINE 1: SHOW LINKS;\n"
        "        ^\n"
        "HINT:  ROLLBACK ends it\n"
        "ROLLBACK\nREADINGS\n");
}

TEST_F(Psql, DescribesWhatThereIs) {
    const std::string relations = psql({"\\d"});
    EXPECT_NE(relations.find("baton|workers|view|ann\n"), std::string::npos) << relations;
    EXPECT_NE(relations.find("public|readings|table|ann\n"), std::string::npos) << relations;
    EXPECT_EQ(psql({"\\dt"}), "public|alerts|table|ann\npublic|readings|table|ann\n");
    EXPECT_EQ(psql({"\\d readings"}), "id|numeric||not null|\nvalue|double precision|||\n");
    EXPECT_EQ(psql({"\\d nope"}), "Did not find any relation named \"nope\".\n");
    EXPECT_EQ(psql({"\\l"}), "baton|ann|UTF8|C|C.UTF-8||libc|\n");
    EXPECT_EQ(psql({"\\dn"}), "baton|ann\npublic|ann\n");
    for (const char* command : {"\\d+ workers", "\\dv+", "\\dt+", "\\du", "\\df", "\\df+", "\\dp",
                                "\\dx", "\\db", "\\dT", "\\dC", "\\do", "\\dd", "\\l+", "\\dn+"}) {
        const std::string told = psql({command});
        EXPECT_EQ(told.find("ERROR"), std::string::npos) << command << "\n" << told;
    }
}

TEST_F(Psql, IsToldWhatItCannotHave) {
    EXPECT_EQ(psql({"SELECT * FROM pg_nothing"}).substr(0, 8), "ERROR:  ");
    EXPECT_NE(psql({"SELECT generate_subscripts(x, 1) FROM pg_class"}).find("not supported"),
              std::string::npos);
    EXPECT_NE(psql({"WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r) "
                    "SELECT count(*) FROM r, pg_class"})
                  .find("takes too long"),
              std::string::npos);
    EXPECT_NE(psql({"SAVEPOINT a"}).find("savepoints are not supported"), std::string::npos);
    EXPECT_NE(psql({"SET standard_conforming_strings = on"}).find("cannot be"), std::string::npos);
}

TEST_F(Psql, SetsAndShowsParameters) {
    EXPECT_EQ(psql({"SET search_path TO a, b", "SHOW search_path", "RESET search_path",
                    "SHOW search_path", "SHOW server_version_num",
                    "SHOW TRANSACTION ISOLATION LEVEL", "DISCARD ALL"}),
              "SET\na, b\nRESET\nbaton, public\n150000\nserializable\nDISCARD ALL\n");
    EXPECT_EQ(psql({"SELECT current_database(), current_user, current_schema()"}),
              "baton|ann|baton\n");
}

TEST_F(Psql, Copies) {
    EXPECT_EQ(
        psql({"\\copy (SELECT name, capacity, kind FROM baton.workers) to stdout csv header"}),
        "NAME,CAPACITY,KIND\nEDGE,,REMOTE\nHUB,,REMOTE\n");
    EXPECT_EQ(psql({"COPY (SHOW LINKS) TO STDOUT", "COPY baton.query_sinks TO STDOUT"}),
              "EDGE\tHUB\n");
    EXPECT_NE(psql({"COPY baton.links FROM STDIN"}).find("cannot be written"), std::string::npos);
}

TEST_F(Psql, WatchesUntilItIsInterrupted) {
    cli::Process watch({"/bin/sh", "-c", "exec stdbuf -o0 psql -X -At \"$@\" 2>&1", "psql",
                        address(), "-c",
                        "COPY (WATCH SELECT name FROM baton.logical_sources) TO STDOUT"});
    ASSERT_TRUE(watch.says("READINGS"));
    run("CREATE LOGICAL SOURCE fresh (a INT8)");
    ASSERT_TRUE(watch.says("FRESH"));
    run("DROP LOGICAL SOURCE fresh");
    ASSERT_TRUE(watch.says("drop"));
    watch.signal(SIGINT);
    EXPECT_NE(watch.wait(), -1);
    EXPECT_NE(watch.out().find("ERROR:  the statement was cancelled"), std::string::npos)
        << watch.out();
    EXPECT_TRUE(eventually([&] { return desk_->load().visitors == 0; }));
}

TEST_F(Psql, CancelsAWaitAndGoesOn) {
    cli::Process waits({"/bin/sh", "-c", "exec stdbuf -o0 psql -X -At \"$@\" 2>&1", "psql",
                        address(), "-c", "CREATE QUERY q AS SELECT id FROM readings INTO alerts",
                        "-c", "WAIT FOR QUERY q", "-c", "SELECT 5"});
    ASSERT_TRUE(waits.says("CREATE QUERY"));
    std::this_thread::sleep_for(1s);  // until it waits
    waits.signal(SIGINT);
    EXPECT_NE(waits.wait(), -1);
    EXPECT_NE(waits.out().find("ERROR:"), std::string::npos) << waits.out();
}

TEST_F(Psql, ProvesItsPassword) {
    serve({.users = true});
    EXPECT_EQ(psql({"SHOW LINKS"}), "EDGE|HUB\n");
    EXPECT_EQ(psql({"SHOW LINKS"}, "user=rob password='r\\'b\\\\'"), "EDGE|HUB\n");
    const std::string wrong = "password authentication failed for user";
    EXPECT_NE(psql({"SHOW LINKS"}, "password=wrong").find(wrong), std::string::npos);
    EXPECT_NE(psql({"SHOW LINKS"}, "user=nobody").find(wrong), std::string::npos);
    EXPECT_NE(psql({"CREATE LOGICAL SOURCE s (a INT8)"}, "user=rob password='r\\'b\\\\'")
                  .find("needs the role writer"),
              std::string::npos);
}

TEST_F(Psql, SpeaksTls) {
    serve({.users = true, .tls = true, .tls_required = true});
    const std::string verified = "sslmode=verify-full sslrootcert=" + (directory_ / "cert.pem");
    EXPECT_EQ(psql({"SHOW LINKS"}, verified), "EDGE|HUB\n");
    EXPECT_NE(psql({"SHOW LINKS"}, "sslmode=disable").find("connections without TLS"),
              std::string::npos);
    cli::Process watch({"/bin/sh", "-c", "exec stdbuf -o0 psql -X -At \"$@\" 2>&1", "psql",
                        address(verified), "-c", "COPY (WATCH SHOW LINKS) TO STDOUT"});
    ASSERT_TRUE(watch.says("HUB"));
    watch.signal(SIGINT);
    EXPECT_NE(watch.wait(), -1);
    EXPECT_NE(watch.out().find("cancelled"), std::string::npos) << watch.out();
}

TEST_F(Psql, IsToldThatTheServerStops) {
    cli::Process idle({"/bin/sh", "-c", "exec stdbuf -o0 psql -X -At \"$@\" 2>&1", "psql",
                       address(), "-c", "SELECT 'here'", "-c", "\\! sleep 1", "-c", "SHOW LINKS"});
    ASSERT_TRUE(idle.says("here"));
    cli::Process watch({"/bin/sh", "-c", "exec stdbuf -o0 psql -X -At \"$@\" 2>&1", "psql",
                        address(), "-c", "COPY (WATCH SHOW LINKS) TO STDOUT"});
    ASSERT_TRUE(watch.says("HUB"));
    const auto began = std::chrono::steady_clock::now();
    server_->stop(20s);
    EXPECT_LT(std::chrono::steady_clock::now() - began, 10s);
    EXPECT_EQ(server_->load().connections, 0U);
    EXPECT_NE(watch.wait(), -1);
    EXPECT_NE(watch.out().find("the coordinator is shutting down"), std::string::npos)
        << watch.out();
    EXPECT_NE(idle.wait(), -1);
    EXPECT_NE(idle.out().find("the coordinator is shutting down"), std::string::npos) << idle.out();
}

// ---- the log ------------------------------------------------------------------------------------

TEST_F(Psql, LoginsAreLoggedWithWhoAndWhereAndNotWithPasswords) {
    serve({.users = true});
    EXPECT_NE(psql({"SHOW SINKS"}, "password=Wv8x").find("failed"), std::string::npos);
    EXPECT_NE(psql({"SHOW SINKS"}, "user=eve").find("failed"), std::string::npos);
    EXPECT_EQ(log_.count("warn: a login was refused door=pg user=ann reason=wrong password "
                         "peer=127.0.0.1:"),
              1U)
        << log_.text();
    EXPECT_EQ(log_.count("warn: a login was refused door=pg user=eve reason=no such user "), 1U);
    EXPECT_EQ(log_.count("info: "), 0U);
    (void)psql({"SHOW SINKS", "SHOW SINKS", "SHOW SINKS"});
    EXPECT_EQ(log_.count("info: a client logged in door=pg user=ann role=writer proof=password "
                         "peer=127.0.0.1:"),
              1U)
        << log_.text();
    EXPECT_EQ(log_.count("Wv8x") + log_.count("secret"), 0U);
}

}  // namespace
}  // namespace baton
