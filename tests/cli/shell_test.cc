// What a transcript cannot show: signals, two processes at once, and input of any kind.
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <sys/resource.h>

#include "adapters/sqlite/sqlite.h"
#include "catalog/schema.h"
#include "cli/process.h"
#include "testing/temporary_directory.h"

namespace baton::cli {
namespace {

namespace fs = std::filesystem;

class Shell : public ::testing::Test {
protected:
    [[nodiscard]] std::vector<std::string> shell(const std::string& statements) const {
        return {"baton", "shell", "--offline", "--data", directory_ / "d", "-c", statements};
    }
    [[nodiscard]] Ended shell_with(const std::string& input) const {
        return run({"baton", "shell", "--offline", "--data", directory_ / "d", "-f", "-"}, input);
    }
    void must(const std::string& statements) const {
        const Ended ended = run(shell(statements));
        ASSERT_EQ(ended.status, 0) << ended.errors;
    }

    testing::TemporaryDirectory directory_;
};

constexpr const char* kCreate = "CREATE SINK a (x INT8) TYPE Void";

// ---- one at a time ------------------------------------------------------------------------------

TEST_F(Shell, ASecondOneIsToldWhoHoldsTheCatalog) {
    Process first(shell(std::string(kCreate) + "; WATCH SHOW SINKS"));
    ASSERT_TRUE(first.says("(1 row)"));
    const Ended second = run(shell("SHOW SINKS"));
    EXPECT_EQ(second.status, 1);
    EXPECT_EQ(second.out, "");
    EXPECT_NE(second.errors.find("error 6005"), std::string::npos) << second.errors;
    EXPECT_NE(second.errors.find("process " + std::to_string(first.pid()) + " holds it"),
              std::string::npos)
        << second.errors;
    first.signal(SIGKILL);
    EXPECT_EQ(first.wait(), 128 + SIGKILL);
    EXPECT_EQ(run(shell("SHOW SINKS")).status, 0) << "a lock ends with its process";
}

TEST_F(Shell, ARestoreDoesNotReplaceACatalogInUse) {
    must(kCreate);
    ASSERT_EQ(run({"baton", "backup", "--data", directory_ / "d", directory_ / "copy"}).status, 0);
    Process watching(shell("WATCH SHOW SINKS"));
    ASSERT_TRUE(watching.says("(1 row)"));
    const Ended restore =
        run({"baton", "restore", "--force", "--data", directory_ / "d", directory_ / "copy"});
    EXPECT_EQ(restore.status, 1);
    EXPECT_NE(restore.errors.find("error 6005"), std::string::npos) << restore.errors;
    watching.signal(SIGINT);
    EXPECT_EQ(watching.wait(), 0);
}

TEST_F(Shell, ABackupAndACheckWorkBesideOneThatWrites) {
    std::string load;
    for (int i = 0; i < 2'000; ++i) {
        const std::string name = "s" + std::to_string(i);
        load += "CREATE SINK " + name + " (x INT8) TYPE Void; ";
        if (i % 3 == 0)
            load += "BEGIN; DROP SINK " + name + "; CREATE SINK " + name +
                    "b (x INT8) TYPE Void; COMMIT; ";
    }
    Process loading({"baton", "shell", "--offline", "--data", directory_ / "d", "-f", "-"}, load);
    ASSERT_TRUE(loading.says("CREATE SINK S10\n"));
    for (int i = 0; i < 5; ++i) {
        const std::string copy = directory_ / ("copy" + std::to_string(i));
        const Ended backup = run({"baton", "backup", "--data", directory_ / "d", copy});
        ASSERT_EQ(backup.status, 0) << backup.errors;
        const Ended check = run({"baton", "check", copy});
        EXPECT_EQ(check.status, 0) << check.out << check.errors;
        const Ended beside = run({"baton", "check", directory_ / "d"});
        EXPECT_EQ(beside.status, 0) << beside.out << beside.errors;
    }
    EXPECT_EQ(loading.wait(), 0) << loading.errors();
    ASSERT_EQ(run({"baton", "restore", "--data", directory_ / "e", directory_ / "copy4"}).status,
              0);
    EXPECT_EQ(
        run({"baton", "shell", "--offline", "--data", directory_ / "e", "-c", kCreate}).status, 0);
}

// ---- signals ------------------------------------------------------------------------------------

TEST_F(Shell, AnInterruptEndsAWatchAndTheRestIsRun) {
    must(kCreate);
    Process watching(shell("WATCH SHOW SINKS; SHOW VERSION"));
    ASSERT_TRUE(watching.says("(1 row)"));
    watching.signal(SIGINT);
    EXPECT_EQ(watching.wait(), 0) << watching.errors();
    EXPECT_NE(watching.out().find("-- ended at revision 1\nVERSION\n"), std::string::npos)
        << watching.out();
}

TEST_F(Shell, AnInterruptEndsTheRowsOfASelectAndTheRestIsRun) {
    const std::string select =
        "SELECT a FROM Generator('SEQUENCE UINT64 0 1000000000 1' AS SOURCE.GENERATOR_SCHEMA, "
        "SCHEMA(a UINT64 NOT NULL) AS SOURCE.SCHEMA)";
    const auto with_worker = [&](const std::string& statements) -> std::vector<std::string> {
        return {"baton", "shell", "--data", directory_ / "d", "-c", statements};
    };
    Process selecting(with_worker(select + "; SHOW VERSION"));
    ASSERT_TRUE(selecting.says("\n100\n"));
    selecting.signal(SIGINT);
    EXPECT_EQ(selecting.wait(), 0) << selecting.errors();
    EXPECT_NE(selecting.out().find(" rows)\nVERSION\n"), std::string::npos);
    // One that is killed leaves its query to the next one, who drops it.
    Process killed(with_worker(select));
    ASSERT_TRUE(killed.says("\n100\n"));
    killed.signal(SIGKILL);
    EXPECT_EQ(killed.wait(), 128 + SIGKILL);
    const Ended after =
        run(with_worker("SELECT name FROM baton.queries WHERE desired <> 'DROPPED'"));
    EXPECT_NE(after.out.find("(0 rows)"), std::string::npos) << after.out;
}

TEST_F(Shell, ATerminationEndsAWatchAtOnce) {
    Process watching(shell("WATCH SHOW SINKS; CREATE SINK a (x INT8) TYPE Void"));
    ASSERT_TRUE(watching.says("(0 rows)"));
    watching.signal(SIGTERM);
    EXPECT_EQ(watching.wait(), 128 + SIGTERM);
    EXPECT_EQ(run(shell("SELECT name FROM baton.sinks FORMAT JSON")).out, "");
}

TEST_F(Shell, AWaitThatNobodyEndsCanBeEnded) {
    must(
        "CREATE LOGICAL SOURCE r (id INT8); CREATE PHYSICAL SOURCE FOR r TYPE File SET ('f' AS "
        "SOURCE.FILE_PATH); CREATE SINK a (id INT8) TYPE Void; CREATE QUERY q AS SELECT id FROM r "
        "INTO a");
    for (const int signal : {SIGINT, SIGTERM}) {
        Process waiting(shell("SHOW VERSION; WAIT FOR QUERY q"));
        ASSERT_TRUE(waiting.says("(1 row)"));
        waiting.signal(signal);
        EXPECT_EQ(waiting.wait(), 128 + signal);
    }
}

// ---- WATCH --------------------------------------------------------------------------------------

TEST_F(Shell, AWatchResumesFromARevision) {
    must("CREATE SINK a (x INT8) TYPE Void; CREATE SINK b (x INT8) TYPE Void; DROP SINK a");
    Process watching(shell("WATCH SHOW SINKS FORMAT JSON SINCE REVISION 1"));
    ASSERT_TRUE(watching.says("\"op\":\"DROP\""));
    watching.signal(SIGINT);
    EXPECT_EQ(watching.wait(), 0) << watching.errors();
    std::vector<std::string> events;
    std::istringstream lines(watching.out());
    for (std::string line; std::getline(lines, line);) {
        const auto event = nlohmann::json::parse(line);
        events.push_back(event.at("op").get<std::string>() + " " +
                         event.at("key").get<std::string>() + " " +
                         std::to_string(event.at("revision").get<int>()));
    }
    EXPECT_EQ(events, (std::vector<std::string>{"CREATE B 2", "DROP A 3"}));
}

TEST_F(Shell, EveryLineForProgramsIsAnObject) {
    must(
        "CREATE LOGICAL SOURCE \"a\"\"b\\c d\" (x INT8, \"ü\n\" VARSIZED); CREATE SINK s (x INT8) "
        "TYPE Print; CREATE WORKER 'h:1'");
    const std::vector<std::string> shows = {
        "WORKERS", "LINKS",     "LOGICAL SOURCES", "SINKS",      "QUERIES",     "PHYSICAL SOURCES",
        "VERSION", "FRAGMENTS", "STATEMENTS",      "SINK TYPES", "SOURCE TYPES"};
    for (const std::string& what : shows) {
        const Ended ended = run(shell("SHOW " + what + " FORMAT JSON"));
        EXPECT_EQ(ended.status, 0) << what << ended.errors;
        std::istringstream lines(ended.out);
        for (std::string line; std::getline(lines, line);) {
            EXPECT_TRUE(nlohmann::json::parse(line, nullptr, false).is_object()) << line;
        }
    }
}

// ---- input of any kind --------------------------------------------------------------------------

TEST_F(Shell, LargeAndBrokenInputIsAnErrorAndNeverACrash) {
    std::string deep = "SELECT ";
    constexpr std::size_t kMany = 100'000;
    deep += std::string(kMany, '(') + "1" + std::string(kMany, ')') + " FROM a INTO b";
    std::string rubbish;
    for (unsigned i = 0; i < 100'000; ++i)
        rubbish += static_cast<char>(i * i * 2'654'435'761U >> 13U);
    constexpr std::size_t kLarge = 10'000'000;
    const std::vector<std::string> inputs = {
        deep,
        rubbish,
        "CREATE SINK a (x INT8) TYPE Void SET ('" + std::string(kLarge, 'x') + "' AS SINK.HOST)",
        "SELECT " + std::string(kLarge, 'x') + " FROM a INTO b",
        "SHOW SINKS WHERE name = '" + std::string(kLarge, 'x'),
        std::string(kLarge, '\''),
        std::string(kMany, '\0'),
        "/*" + std::string(kMany, '/') + std::string(kMany, '*'),
        "CREATE SINK \"\xff\xfe\" (x INT8) TYPE Void",
        "SHOW SINKS WHERE name = '\xc3\x28'",
        "\xef\xbb\xbfSHO SINKS",
        std::string(kMany, ';') + "x",
        "CREATE SINK a (x INT8" + std::string(kMany, ',') + ") TYPE Void",
    };
    for (const std::string& input : inputs) {
        const Ended ended = shell_with(input);
        EXPECT_EQ(ended.status, 1) << input.substr(0, 50);
        EXPECT_NE(ended.errors.find("error 2"), std::string::npos) << ended.errors.substr(0, 500);
        constexpr std::size_t kReadable = 2'000;
        EXPECT_LT(ended.errors.size(), kReadable) << input.substr(0, 50);
    }
    EXPECT_EQ(run({"baton", "check", directory_ / "d"}).status, 0);
}

TEST_F(Shell, ManyStatementsAtOnceAreAllRun) {
    std::string many;
    for (int i = 0; i < 20'000; ++i) many += "SHOW VERSION FORMAT JSON;\n";
    const Ended ended = shell_with(many);
    EXPECT_EQ(ended.status, 0);
    EXPECT_EQ(std::count(ended.out.begin(), ended.out.end(), '\n'), 20'000);
}

// ---- files --------------------------------------------------------------------------------------

TEST_F(Shell, ADirectoryThatCannotBeWrittenToIsRefused) {
    must(kCreate);
    // Root can write everywhere; somebody else has to try.
    const std::string somebody =
        ::geteuid() == 0 ? "setpriv --reuid=65534 --regid=65534 --clear-groups " : "";
    const auto no_writing = fs::perms::owner_read | fs::perms::owner_exec | fs::perms::others_read |
                            fs::perms::others_exec;
    for (const std::string& path : {directory_.path(), directory_ / "d"}) {
        fs::permissions(path, no_writing);
    }
    fs::permissions(directory_ / "d/catalog.db", fs::perms::others_read, fs::perm_options::add);
    if (run({"sh", "-c", somebody + "baton --version"}).status != 0) {
        GTEST_SKIP() << "nobody else can run the program";
    }
    for (const std::string name : {"d", "new"}) {
        const Ended ended = run({"sh", "-c",
                                 somebody + "baton shell --offline --data " + (directory_ / name) +
                                     " -c 'SHOW SINKS'"});
        EXPECT_EQ(ended.status, 1);
        EXPECT_NE(ended.errors.find("error 6000"), std::string::npos) << ended.errors;
        EXPECT_NE(ended.errors.find("Permission denied"), std::string::npos) << ended.errors;
    }
    fs::permissions(directory_.path(), fs::perms::owner_all);
    fs::permissions(directory_ / "d", fs::perms::owner_all);
    EXPECT_FALSE(fs::exists(directory_ / "new"));
}

TEST_F(Shell, AFullDiskIsSaidSoAndCostsNothingThatWasThere) {
    must(kCreate);
    std::string load;
    for (int i = 0; i < 3'000; ++i)
        load += "CREATE SINK s" + std::to_string(i) + " (x INT8) TYPE Void; ";
    std::ofstream(directory_ / "load.sql") << load;
    const Ended full = run({"sh", "-c",
                            "trap '' XFSZ; ulimit -f 1200; exec baton shell --offline --data " +
                                (directory_ / "d") + " -f " + (directory_ / "load.sql")});
    EXPECT_EQ(full.status, 1);
    EXPECT_NE(full.errors.find("error 6002"), std::string::npos) << full.errors;
    const auto done = std::count(full.out.begin(), full.out.end(), '\n');
    EXPECT_GT(done, 0);
    const Ended after =
        run(shell("SELECT name FROM baton.sinks; CREATE SINK z (x INT8) TYPE Void"));
    EXPECT_EQ(after.status, 0) << after.errors;
    EXPECT_NE(after.out.find("(" + std::to_string(done + 1) + " rows)"), std::string::npos);
    EXPECT_EQ(run({"baton", "check", directory_ / "d"}).status, 0);
}

TEST_F(Shell, NoSpaceForANewCatalogLeavesNone) {
    const Ended full = run({"sh", "-c",
                            "trap '' XFSZ; ulimit -f 20; exec baton shell --offline --data " +
                                (directory_ / "d") + " -c 'SHOW SINKS'"});
    EXPECT_EQ(full.status, 1);
    EXPECT_NE(full.errors.find("error 6002"), std::string::npos) << full.errors;
    EXPECT_FALSE(fs::exists(directory_ / "d/catalog.db"));
    EXPECT_EQ(run(shell(kCreate)).status, 0);
}

TEST_F(Shell, ACatalogOfAnOlderVersionIsBroughtUpToDateWithAWord) {
    const std::string file = directory_ / "d/catalog.db";
    ASSERT_EQ(run(shell("SHOW SINKS")).status, 0);
    fs::remove(file);
    {
        const auto old =
            sqlite::open_sqlite({.path = file, .create = true, .initialise = [](Sql& sql) {
                                     return catalog::migrate_up_to(sql, 2);
                                 }});
        ASSERT_TRUE(old) << to_string(old.error());
    }
    const std::vector<std::string> status = {"baton", "status", "--data", directory_ / "d"};
    const Ended first = run(status);
    EXPECT_NE(first.errors.find("brought the catalog in"), std::string::npos) << first.errors;
    EXPECT_EQ(run(status).errors, "");
}

TEST(Help, SaysOfACommandOnlyWhatIsSoForIt) {
    for (const std::vector<std::string>& words : std::vector<std::vector<std::string>>{
             {"query", "drop"}, {"config"}, {"catalog", "migrate"}, {"worker", "list"}}) {
        std::vector<std::string> command = {"baton"};
        command.insert(command.end(), words.begin(), words.end());
        command.emplace_back("--help");
        const Ended help = run(command);
        EXPECT_EQ(help.status, 0);
        EXPECT_EQ(help.out.find("Without a command"), std::string::npos) << help.out;
        EXPECT_EQ(help.out.find("SIGTERM"), std::string::npos) << help.out;
    }
    EXPECT_NE(run({"baton", "--help"}).out.find("Without a command"), std::string::npos);
}

}  // namespace
}  // namespace baton::cli
