// Commands that talk to a daemon, and people at a terminal.
#include <csignal>
#include <filesystem>
#include <fstream>
#include <optional>
#include <thread>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "cli/process.h"
#include "cli/terminal.h"
#include "testing/free_port.h"
#include "testing/temporary_directory.h"

namespace baton::cli {
namespace {

constexpr const char* kRows =
    "Generator('SEQUENCE UINT64 0 1000000000 1' AS SOURCE.GENERATOR_SCHEMA, "
    "SCHEMA(a UINT64 NOT NULL) AS SOURCE.SCHEMA)";

class Remote : public ::testing::Test {
protected:
    void SetUp() override { start(); }

    void start() {
        daemon_.emplace(std::vector<std::string>{BATON_PROGRAMS "/baton", "serve", "--data",
                                                 directory_ / "d", "--pg", address_, "--http", ""});
        const auto deadline = std::chrono::steady_clock::now() + kPatience;
        while (ask({"status"}).status == 1) {
            ASSERT_LT(std::chrono::steady_clock::now(), deadline) << "the daemon does not answer";
            std::this_thread::sleep_for(std::chrono::milliseconds(20));
        }
    }
    [[nodiscard]] Ended ask(std::vector<std::string> words, const std::string& input = "") const {
        words.insert(words.begin(), "baton");
        words.insert(words.end(), {"--connect", address_});
        return run(words, input);
    }
    [[nodiscard]] Ended shell(const std::string& statements,
                              const std::vector<std::string>& more = {}) const {
        std::vector<std::string> words = {"shell", "-c", statements};
        words.insert(words.end(), more.begin(), more.end());
        return ask(words);
    }
    [[nodiscard]] std::string file(const std::string& name, const std::string& text) const {
        std::ofstream(directory_ / name) << text;
        return directory_ / name;
    }
    [[nodiscard]] std::vector<std::string> conversation() const {
        return {BATON_PROGRAMS "/baton", "shell", "--connect", address_};
    }

    testing::TemporaryDirectory directory_;
    const std::string address_ = "127.0.0.1:" + std::to_string(testing::free_port());
    std::optional<Process> daemon_;
};

const std::string kQuery =
    std::string(
        "CREATE SINK s (x UINT64 NOT NULL) TYPE Void;\nCREATE QUERY q AS SELECT a AS x FROM ") +
    kRows + " INTO s;\n";

// ---- the shell over a connection ----------------------------------------------------------------

TEST_F(Remote, TheShellSaysTheSameAsOneInItsOwnProcess) {
    const std::string statements =
        "CREATE SINK s (x UINT64 NOT NULL) TYPE Void; DROP SINK IF EXISTS z; SHOW SINKS;"
        "SHOW SINKS FORMAT JSON; BEGIN; CREATE SINK t (x INT8) TYPE Void; COMMIT;"
        "SELECT NAME, QUERIES FROM baton.sinks; EXPLAIN SELECT a AS x FROM " +
        std::string(kRows) + " INTO s; DROP SINK t; CREATE SINK s (x INT8) TYPE Void; SHOW VERSION";
    const Ended far = shell(statements);
    const Ended near = run({"baton", "shell", "--data", directory_ / "near", "-c", statements});
    EXPECT_EQ(far.out, near.out);
    EXPECT_EQ(far.status, near.status);
    EXPECT_EQ("created a new catalog in " + (directory_ / "near") + "/catalog.db\n" + far.errors,
              near.errors);
}

TEST_F(Remote, StatementsWaitForTheirQueriesAsTold) {
    const Ended ended = shell(kQuery +
                                  "SHOW QUERIES FORMAT JSON; STOP QUERY q; SELECT STATE FROM "
                                  "baton.queries",
                              {"--wait", "running", "--timeout", "60"});
    EXPECT_EQ(ended.status, 0) << ended.errors;
    EXPECT_NE(ended.out.find("\"STATE\":\"RUNNING\""), std::string::npos) << ended.out;
    EXPECT_NE(ended.out.find("\nSTOPPED\n"), std::string::npos) << ended.out;
}

TEST_F(Remote, RowsOfStreamsComeAndAnInterruptEndsThem) {
    const Ended limited =
        shell("SELECT a FROM " + std::string(kRows) + " LIMIT 3", {"--format", "csv"});
    EXPECT_EQ(limited.out, "A\n0\n1\n2\n") << limited.errors;
    Process endless({"baton", "shell", "--connect", address_, "-c",
                     "SELECT a FROM " + std::string(kRows) + "; SHOW VERSION"});
    ASSERT_TRUE(endless.says("\n100\n"));
    endless.signal(SIGINT);
    EXPECT_EQ(endless.wait(), 0) << endless.errors();
    EXPECT_NE(endless.out().find(" rows)\nVERSION\n"), std::string::npos);
    EXPECT_EQ(shell("SELECT NAME FROM baton.queries WHERE DESIRED = 'RUNNING'").out,
              "NAME\n----\n(0 rows)\n");
}

TEST_F(Remote, AWatchShowsChangesAndSaysWhereToResume) {
    ASSERT_EQ(shell("CREATE SINK a (x INT8) TYPE Void").status, 0);
    Process watching(
        {"baton", "shell", "--connect", address_, "-c", "WATCH SELECT NAME FROM baton.sinks"});
    ASSERT_TRUE(watching.says("A\n(1 row)\n"));
    ASSERT_EQ(shell("CREATE SINK b (x INT8) TYPE Void").status, 0);
    ASSERT_TRUE(watching.says("  CREATE  NAME=B\n"));
    watching.signal(SIGINT);
    EXPECT_EQ(watching.wait(), 0) << watching.errors();
    EXPECT_NE(watching.out().find("-- ended at revision "), std::string::npos);
}

TEST_F(Remote, WithOnErrorContinueTheRestIsRunAndTheStatusTellsOfTheFailure) {
    const std::string statements = "SELEC 1; CREATE SINK a (x INT8) TYPE Void; DROP SINK z";
    const Ended stopped = shell(statements);
    EXPECT_EQ(stopped.status, 1);
    EXPECT_EQ(stopped.out, "");
    const Ended went_on = shell(statements, {"--on-error", "continue"});
    EXPECT_EQ(went_on.status, 1);
    EXPECT_EQ(went_on.out, "CREATE SINK A\n");
    EXPECT_NE(went_on.errors.find("error 2000 at 1:1"), std::string::npos) << went_on.errors;
    EXPECT_NE(went_on.errors.find("error 2033 at 1:44"), std::string::npos) << went_on.errors;
}

TEST_F(Remote, ALostCoordinatorIsToldAndFoundAgain) {
    Terminal terminal(conversation(), directory_.path());
    ASSERT_TRUE(terminal.shows("baton> ")) << terminal.shown();
    daemon_->signal(SIGKILL);
    EXPECT_EQ(daemon_->wait(), 128 + SIGKILL);
    terminal.type("SHOW VERSION;\n");
    ASSERT_TRUE(terminal.shows("connection")) << terminal.shown();
    ASSERT_TRUE(terminal.shows("baton> ")) << terminal.shown();
    start();
    terminal.type("SHOW VERSION;\n");
    ASSERT_TRUE(terminal.shows("(1 row)")) << terminal.shown();
    terminal.type("\\q\n");
    EXPECT_EQ(terminal.wait(), 0);
}

TEST_F(Remote, WhoCannotConnectIsToldWhere) {
    const Ended ended = run({"baton", "shell", "--connect", "127.0.0.1:1", "-c", "SHOW VERSION"});
    EXPECT_EQ(ended.status, 1);
    EXPECT_NE(ended.errors.find("error 4004"), std::string::npos) << ended.errors;
    EXPECT_NE(ended.errors.find("port 1"), std::string::npos) << ended.errors;
}

TEST_F(Remote, AFlagWinsOverTheEnvironmentForEveryCommand) {
    ASSERT_EQ(shell(kQuery + "CREATE WORKER 'w:1'").status, 0);
    const std::string statements = file("more.sql", "CREATE LOGICAL SOURCE t (x INT8);");
    const std::vector<std::vector<std::string>> commands = {{"status"},
                                                            {"top", "--once"},
                                                            {"query", "list"},
                                                            {"query", "logs", "q"},
                                                            {"query", "stop", "q"},
                                                            {"query", "drop", "q"},
                                                            {"worker", "list"},
                                                            {"worker", "drain", "w:1"},
                                                            {"worker", "resume", "w:1"},
                                                            {"apply", "-f", statements},
                                                            {"shell", "-c", "SHOW VERSION"}};
    for (const auto& words : commands) {
        std::vector<std::string> line = {"env", "BATON_CONNECT=127.0.0.1:1", "baton"};
        line.insert(line.end(), words.begin(), words.end());
        line.insert(line.end(), {"--connect", address_});
        const Ended ended = run(line);
        EXPECT_NE(ended.status, 1) << words[0] << " " << words.back() << ": " << ended.errors;
    }
    const Ended far = run({"env", "BATON_CONNECT=127.0.0.1:1", "baton", "query", "list"});
    EXPECT_EQ(far.status, 1) << "without a flag the environment holds";
    EXPECT_NE(far.errors.find("error 4004"), std::string::npos) << far.errors;
}

TEST_F(Remote, ACommandThatChangesSomethingSaysWhere) {
    ASSERT_EQ(shell(kQuery).status, 0);
    const Ended dropped = ask({"query", "drop", "q"});
    EXPECT_EQ(dropped.status, 0);
    EXPECT_EQ(dropped.errors, "at " + address_ + "\n");
    EXPECT_EQ(ask({"query", "list"}).errors, "");
}

// ---- at a terminal ------------------------------------------------------------------------------

TEST_F(Remote, TheTabKeyCompletesWordsAndNames) {
    ASSERT_EQ(shell("CREATE SINK alerts (x INT8) TYPE Void").status, 0);
    Terminal terminal(conversation(), directory_.path());
    ASSERT_TRUE(terminal.shows("baton> "));
    terminal.type("dro\tsin\tal\t;\n");
    ASSERT_TRUE(terminal.shows("DROP SINK ALERTS")) << terminal.shown();
    terminal.type("\\q\n");
    EXPECT_EQ(terminal.wait(), 0);
}

TEST_F(Remote, CtrlCEndsAWatchAndNotTheShell) {
    ASSERT_EQ(shell(kQuery, {"--wait", "running"}).status, 0);
    Terminal terminal(conversation(), directory_.path());
    ASSERT_TRUE(terminal.shows("baton> "));
    terminal.type("WATCH SHOW QUERIES;\n");
    ASSERT_TRUE(terminal.shows("(1 row)"));
    terminal.type("\x03");
    ASSERT_TRUE(terminal.shows("-- ended at revision")) << terminal.shown();
    ASSERT_TRUE(terminal.shows("baton> "));
    terminal.type("\\dq\n");
    ASSERT_TRUE(terminal.shows("(1 row)")) << terminal.shown();
    terminal.type("\\q\n");
    EXPECT_EQ(terminal.wait(), 0);
}

TEST_F(Remote, WhoWaitsForADeploymentIsToldWhatItWaitsForAndMayGiveUp) {
    const std::string nobody = "127.0.0.1:" + std::to_string(testing::free_port());
    ASSERT_EQ(shell("CREATE WORKER '" + nobody +
                    "' SET ('away' AS NAME);"
                    "CREATE SINK s (x UINT64 NOT NULL) TYPE Void SET ('away' AS SINK.HOST)")
                  .status,
              0);
    std::vector<std::string> words = conversation();
    words.insert(words.end(), {"--wait", "running"});
    Terminal terminal(words, directory_.path());
    ASSERT_TRUE(terminal.shows("baton> "));
    terminal.type(
        "CREATE QUERY q AS SELECT a AS x FROM Generator('SEQUENCE UINT64 0 9 1' AS "
        "SOURCE.GENERATOR_SCHEMA, SCHEMA(a UINT64 NOT NULL) AS SOURCE.SCHEMA, "
        "'away' AS SOURCE.HOST) INTO s;\n");
    ASSERT_TRUE(terminal.shows("Q: ")) << terminal.shown();
    ASSERT_TRUE(terminal.shows("of 1 fragment runs")) << terminal.shown();
    terminal.type("\x03");
    ASSERT_TRUE(terminal.shows("5002")) << terminal.shown();
    terminal.type("\\q\n");
    EXPECT_EQ(terminal.wait(), 0);
}

TEST_F(Remote, ErrorsAreColouredAtATerminalAlone) {
    Terminal terminal(conversation(), directory_.path());
    ASSERT_TRUE(terminal.shows("baton> "));
    terminal.type("SHOW NOTHING OF THIS;\n");
    ASSERT_TRUE(terminal.shows("\x1b[1;31merror 2000")) << terminal.shown();
    terminal.type("\\q\n");
    EXPECT_EQ(terminal.wait(), 0);
    const Ended plain = shell("SHOW NOTHING OF THIS");
    EXPECT_EQ(plain.errors.find('\x1b'), std::string::npos) << plain.errors;
}

// ---- one command, one answer --------------------------------------------------------------------

TEST_F(Remote, ADryRunShowsWhatWouldChangeAndChangesNothing) {
    const std::string sql = file("a.sql", kQuery);
    const Ended dry = ask({"apply", "-f", sql, "--dry-run"});
    EXPECT_EQ(dry.status, 0) << dry.errors;
    EXPECT_EQ(dry.out,
              "CREATE SINK S\nCREATE QUERY Q (id 1)\n"
              "QUERY_NAME  WORKER    STAGE  SLOTS\n----------  --------  -----  -----\n"
              "Q           embedded  0      1\n(1 row)\ndry run: nothing was changed\n");
    EXPECT_EQ(shell("SELECT NAME FROM baton.sinks").out, "NAME\n----\n(0 rows)\n");
    const Ended applied = ask({"apply", "-f", sql, "--wait", "running"});
    EXPECT_EQ(applied.status, 0) << applied.errors;
    const Ended again = ask({"apply", "-f", sql, "--dry-run"});
    EXPECT_EQ(again.status, 1);
    EXPECT_NE(again.errors.find("error 2034 at 1:1"), std::string::npos) << again.errors;
}

TEST_F(Remote, AllOfAFileHappensOrNothingOfIt) {
    const std::string sql = file("b.sql",
                                 "CREATE SINK a (x INT8) TYPE Void;\n\n"
                                 "CREATE QUERY q AS SELECT x FROM nowhere INTO a;\n");
    const Ended ended = ask({"apply", "-f", sql});
    EXPECT_EQ(ended.status, 1);
    EXPECT_NE(ended.errors.find("error 2030"), std::string::npos) << ended.errors;
    EXPECT_EQ(shell("SELECT NAME FROM baton.sinks").out, "NAME\n----\n(0 rows)\n");
}

TEST_F(Remote, TheStatusTellsWhatIsNotAsItShouldBe) {
    EXPECT_EQ(ask({"status"}).status, 0);
    const std::string nobody = "127.0.0.1:" + std::to_string(testing::free_port());
    ASSERT_EQ(shell("CREATE WORKER '" + nobody + "' SET ('away' AS NAME)").status, 0);
    const auto deadline = std::chrono::steady_clock::now() + kPatience;
    Ended ended;
    do {
        ended = ask({"status", "--format", "json"});
        ASSERT_LT(std::chrono::steady_clock::now(), deadline) << ended.out;
    } while (ended.status != 3);
    const auto json = nlohmann::json::parse(ended.out);
    EXPECT_EQ(json["workers"]["UNREACHABLE"], 1) << ended.out;
    EXPECT_EQ(json["problems"].size(), 1U) << ended.out;
}

TEST_F(Remote, QueriesAreListedStoppedDroppedAndTheirStoryIsKept) {
    ASSERT_EQ(shell(kQuery, {"--wait", "running"}).status, 0);
    EXPECT_NE(ask({"query", "list"}).out.find("RUNNING"), std::string::npos);
    const Ended stopped = ask({"query", "stop", "1", "--wait", "ended"});
    EXPECT_EQ(stopped.status, 0) << stopped.errors;
    EXPECT_EQ(ask({"query", "drop", "q"}).status, 0);
    const Ended unknown = ask({"query", "logs", "q"});
    EXPECT_EQ(unknown.status, 1);
    EXPECT_NE(unknown.errors.find("known by its number"), std::string::npos) << unknown.errors;
    const Ended logs = ask({"query", "logs", "1", "--format", "csv"});
    EXPECT_EQ(logs.status, 0) << logs.errors;
    for (const char* state : {"PENDING", "DEPLOYING", "RUNNING", "STOPPED", "DROP"}) {
        EXPECT_NE(logs.out.find(state), std::string::npos) << state << "\n" << logs.out;
    }
}

TEST_F(Remote, TopShowsWhatQueriesDoPerSecond) {
    ASSERT_EQ(shell(kQuery, {"--wait", "running"}).status, 0);
    const Ended ended = ask({"top", "--once", "--interval", "2"});
    EXPECT_EQ(ended.status, 0) << ended.errors;
    EXPECT_NE(ended.out.find("WORKER"), std::string::npos) << ended.out;
    EXPECT_NE(ended.out.find("Q      RUNNING"), std::string::npos) << ended.out;
    Terminal terminal({BATON_PROGRAMS "/baton", "top", "--connect", address_}, directory_.path());
    ASSERT_TRUE(terminal.shows("q leaves")) << terminal.shown();
    terminal.type("q");
    EXPECT_EQ(terminal.wait(), 0) << terminal.shown();
}

TEST_F(Remote, WorkersAreDrainedAndResumed) {
    const std::string nobody = "127.0.0.1:" + std::to_string(testing::free_port());
    ASSERT_EQ(shell("CREATE WORKER '" + nobody + "' SET ('w1' AS NAME)").status, 0);
    EXPECT_EQ(ask({"worker", "drain", "w1"}).status, 0);
    EXPECT_EQ(
        shell("SELECT DRAINING FROM baton.workers WHERE NAME = 'w1'", {"--format", "csv"}).out,
        "DRAINING\ntrue\n");
    EXPECT_EQ(ask({"worker", "resume", "w1"}).status, 0);
    EXPECT_NE(ask({"worker", "list"}).out.find("w1"), std::string::npos);
    EXPECT_EQ(ask({"worker", "drain", "w2"}).status, 1);
}

TEST(Completion, BashCompletesCommandsBelowCommandsAndOptions) {
    const auto completed = [](const std::string& words, int at) {
        return run({"/bin/bash", "-c",
                    "source <(" BATON_PROGRAMS "/baton completion bash); COMP_WORDS=(" + words +
                        "); COMP_CWORD=" + std::to_string(at) + "; _baton; echo ${COMPREPLY[@]}"})
            .out;
    };
    EXPECT_EQ(completed("baton q", 1), "query\n");
    EXPECT_EQ(completed("baton query st", 2), "stop\n");
    EXPECT_EQ(completed("baton query stop q1 --fo", 4), "--forceful\n");
}

TEST(Manual, IsAPageThatManCanShow) {
    const Ended ended = run(
        {"/bin/sh", "-c", BATON_PROGRAMS "/baton manual | groff -man -Tascii -ww 2>&1 >/dev/null"});
    if (ended.status == 127) GTEST_SKIP() << "there is no groff here";
    EXPECT_EQ(ended.out + ended.errors, "");
}

}  // namespace
}  // namespace baton::cli
