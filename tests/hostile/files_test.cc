// Plans that reach for what is not theirs: files of the machine, the catalog, ports of the daemon.
#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <string>

#include <gtest/gtest.h>
#include <unistd.h>

#include "hostile/daemon.h"
#include "testing/free_port.h"

namespace baton::hostile {
namespace {

namespace fs = std::filesystem;

std::string bytes_of(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}

std::string source(const std::string& path, const std::string& host, const std::string& format) {
    return "File('" + path + "' AS SOURCE.FILE_PATH" +
           (host.empty() ? "" : ", '" + host + "' AS SOURCE.HOST") + ", '" + format +
           "' AS INPUT_FORMATTER.TYPE, SCHEMA(a VARSIZED) AS SOURCE.SCHEMA)";
}

std::string sink(const std::string& type, const std::string& path, const std::string& host) {
    return type + "('" + path + "' AS SINK.FILE_PATH" +
           (host.empty() ? "" : ", '" + host + "' AS SINK.HOST") + ")";
}

// A daemon whose files lie around its own data: the most that anybody should allow. Its log is
// short, since nobody reads it meanwhile.
class HostileFiles : public ::testing::Test {
protected:
    // The directory of the daemon, which is made before it.
    struct Home {
        Home() {
            fs::create_directories(directory / "rows/data");
            std::ofstream(directory / "rows/good.csv") << "canary\n";
            std::ofstream(directory / "outside") << "secret\n";
            fs::create_symlink("/etc/passwd", directory / "rows/to_passwd");
            fs::create_symlink("../outside", directory / "rows/to_outside");
            fs::create_directory_symlink("/etc", directory / "rows/etc");
        }
        testing::TemporaryDirectory directory;
    };

    [[nodiscard]] std::string rows() const { return home_.directory / "rows"; }
    [[nodiscard]] std::string data() const { return rows() + "/data"; }

    // The rows come, or the words that say why not; the canary lives in any case.
    static void expect_refused(const cli::Ended& ended, const std::string& what,
                               const std::string& why) {
        EXPECT_NE(ended.status, 0) << what << ended.out;
        EXPECT_NE(ended.errors.find(why), std::string::npos) << what << ": " << ended.errors;
        EXPECT_EQ(ended.out.find("root:"), std::string::npos) << what;
        EXPECT_EQ(ended.out.find("secret"), std::string::npos) << what;
    }

    // The end of a query that reads the canary into the sink.
    std::string end_of_writing(const Daemon& daemon, const std::string& into,
                               const std::string& host) {
        const std::string name = "W" + std::to_string(++queries_);
        const cli::Ended made = daemon.psql("CREATE QUERY " + name +
                                            " SET ('FAIL' AS QUERY.ON_FAILURE) AS SELECT a FROM " +
                                            source("good.csv", host, "CSV") + " INTO " + into);
        EXPECT_EQ(made.status, 0) << made.errors;
        const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(20);
        cli::Ended seen;
        while (std::chrono::steady_clock::now() < deadline) {
            if (made.status != 0) break;
            seen =
                daemon.psql("SELECT STATE, REASON FROM baton.QUERIES WHERE NAME = '" + name + "'");
            if (seen.out.starts_with("FAILED") || seen.out.starts_with("STOPPED") ||
                seen.out.starts_with("TERMINATED")) {
                break;
            }
            ::usleep(200'000);
        }
        return seen.out;
    }

    void attack(Daemon& daemon, const std::string& catalog, const std::string& host) {
        const auto read = [&](const std::string& path, const std::string& format = "CSV") {
            return daemon.psql("SELECT a FROM " + source(path, host, format));
        };
        const cli::Ended good = read("good.csv");
        EXPECT_EQ(good.out, "canary\n") << good.errors;
        fs::create_hard_link(catalog, rows() + "/hard");
        fs::create_symlink(fs::relative(catalog, rows()), rows() + "/soft");
        for (const std::string format : {"CSV", "Parquet"}) {
            for (const std::string& out :
                 {std::string("/etc/passwd"), std::string("../outside"), rows() + "/../outside",
                  home_.directory / "outside", std::string("to_passwd"), std::string("to_outside"),
                  std::string("etc/passwd"), std::string("/proc/self/environ")}) {
                expect_refused(read(out, format), out, "its worker allows");
            }
            for (const std::string& own : {catalog, catalog + "-wal", std::string("hard"),
                                           std::string("soft"), rows() + "/hard"}) {
                expect_refused(read(own, format), own, "it belongs to Baton itself");
            }
        }
        const std::string header = bytes_of(catalog).substr(0, 100);
        for (const std::string type : {"File", "Checksum", "Parquet"}) {
            for (const std::string& own :
                 {catalog, data() + "/new", std::string("data/new"), std::string("hard")}) {
                if (type == "Parquet" && own == "hard") continue;  // replaces the name alone
                const std::string end = end_of_writing(daemon, sink(type, own, host), host);
                EXPECT_TRUE(end.starts_with("FAILED")) << type << " " << own << ": " << end;
                EXPECT_NE(end.find("it belongs to Baton itself"), std::string::npos) << end;
            }
            for (const std::string& out : {std::string("../outside"), std::string("to_outside"),
                                           std::string("etc/baton-was-here")}) {
                if (type == "Parquet" && out == "to_outside") continue;  // the same
                const std::string end = end_of_writing(daemon, sink(type, out, host), host);
                EXPECT_TRUE(end.starts_with("FAILED")) << type << " " << out << ": " << end;
            }
        }
        EXPECT_EQ(bytes_of(catalog).substr(0, 100), header);
        EXPECT_EQ(bytes_of(home_.directory / "outside"), "secret\n");
        EXPECT_FALSE(fs::exists(data() + "/new"));
        EXPECT_FALSE(fs::exists("/etc/baton-was-here"));
        for (const std::string type : {"File", "Parquet"}) {
            const std::string end = end_of_writing(daemon, sink(type, type + ".out", host), host);
            EXPECT_FALSE(end.starts_with("FAILED")) << end;
            EXPECT_GT(fs::file_size(rows() + "/" + type + ".out"), 0U);
        }
    }

    static std::string tcp(const std::string& address, const std::string& port,
                           const std::string& host) {
        return "SELECT a FROM TCP('" + address + "' AS SOURCE.SOCKET_HOST, " + port +
               " AS SOURCE.SOCKET_PORT, 3 AS SOURCE.CONNECT_TIMEOUT_SECONDS" +
               (host.empty() ? "" : ", '" + host + "' AS SOURCE.HOST") +
               ", SCHEMA(a VARSIZED) AS SOURCE.SCHEMA)";
    }

    Home home_;
    int queries_ = 0;
};

TEST_F(HostileFiles, ADaemonOpensNoFilesUnlessToldWhich) {
    Daemon daemon;
    for (const std::string& path : {std::string("/etc/passwd"), daemon.data() + "/catalog.db"}) {
        const cli::Ended read = daemon.psql("SELECT a FROM " + source(path, "", "CSV"));
        expect_refused(read, path, "start the worker with --files DIR");
    }
    EXPECT_TRUE(daemon.takes_a_write());
}

TEST_F(HostileFiles, APlanOfTheDaemonStaysInItsDirectories) {
    Daemon daemon({"--files", rows(), "--data", data(), "--set", "log.level=error"});
    attack(daemon, data() + "/catalog.db", "");
    EXPECT_TRUE(daemon.takes_a_write());
    daemon.restart();
    EXPECT_TRUE(daemon.takes_a_write());
}

// The catalog is another process's: the worker knows it by its first bytes alone.
TEST_F(HostileFiles, APlanOfAWorkerStaysInItsDirectories) {
    Daemon daemon({"--data", data(), "--set", "log.level=error"});
    const std::string port = std::to_string(testing::free_port());
    cli::Process worker({BATON_PROGRAMS "/baton", "worker", "--name", "EDGE", "--listen",
                         "127.0.0.1:" + port, "--data-dir", rows() + "/edge", "--files", rows(),
                         "--files-except", data()});
    ASSERT_EQ(daemon.psql("CREATE WORKER '127.0.0.1:" + port + "' SET ('EDGE' AS NAME)").status, 0);
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(30);
    while (std::chrono::steady_clock::now() < deadline &&
           daemon.psql("SELECT INCARNATION FROM baton.WORKERS WHERE NAME = 'EDGE'").out.size() <
               3) {
        ::usleep(50'000);
    }
    attack(daemon, data() + "/catalog.db", "EDGE");
    const std::string own = rows() + "/edge/own";
    std::ofstream(own) << "secret\n";
    expect_refused(daemon.psql("SELECT a FROM " + source(own, "EDGE", "CSV")), own,
                   "it belongs to Baton itself");
    expect_refused(daemon.psql(tcp("127.0.0.1", port, "EDGE")), "its own port", "may not connect");
    expect_refused(daemon.psql(tcp("169.254.169.254", "80", "EDGE")), "metadata",
                   "may not connect");
    EXPECT_TRUE(daemon.takes_a_write());
    worker.signal(SIGTERM);
    (void)worker.wait();
}

TEST_F(HostileFiles, APlanOfTheDaemonConnectsNeitherToItNorToTheCloudsSecrets) {
    for (const std::string& rule : {std::string(), std::string("*"), std::string("127.0.0.0/8")}) {
        std::vector<std::string> more;
        if (!rule.empty()) more = {"--connect-to", rule};
        Daemon daemon(more);
        for (const char* const address : {"127.0.0.1", "localhost", "0.0.0.0", "127.1.2.3"}) {
            expect_refused(daemon.psql(tcp(address, daemon.pg_port(), "")), address,
                           "may not connect");
            expect_refused(daemon.psql(tcp(address, daemon.http_port(), "")), address,
                           "may not connect");
        }
        expect_refused(daemon.psql(tcp("169.254.169.254", "80", "")), "metadata",
                       "may not connect");
        const cli::Ended mqtt = daemon.psql(
            "SELECT a FROM MQTT('tcp://127.0.0.1:" + daemon.http_port() +
            "' AS SOURCE.SERVER_URI, 't' AS SOURCE.TOPIC, SCHEMA(a VARSIZED) AS SOURCE.SCHEMA)");
        expect_refused(mqtt, "mqtt", "may not connect");
        EXPECT_TRUE(daemon.takes_a_write());
    }
}

TEST_F(HostileFiles, AWriterNamesNoFilesWithoutTheRight) {
    const auto account = [](const std::string& name, bool files) {
        std::vector<std::string> words = {
            BATON_PROGRAMS "/baton", "config", "token", name, "--role", "writer"};
        if (files) words.emplace_back("--files");
        return cli::run(words);
    };
    const cli::Ended plain = account("plain", false);
    const cli::Ended trusted = account("trusted", true);
    const auto token_of = [](const cli::Ended& made) {
        std::string token = made.errors.substr(made.errors.rfind(' ') + 1);
        while (token.ends_with('\n')) token.pop_back();
        return token;
    };
    const std::string settings = home_.directory / "baton.yaml";
    std::ofstream(settings) << plain.out << trusted.out.substr(trusted.out.find('\n') + 1)
                            << "files: [" << rows() << "]\n";
    fs::permissions(settings, fs::perms::owner_read | fs::perms::owner_write);
    Daemon daemon({"--config", settings});
    const auto say = [&](const cli::Ended& who, const std::string& statement) {
        return daemon
            .curl("/v1/sql", {"-H", "Content-Type: text/plain", "-H",
                              "Authorization: Bearer " + token_of(who), "--data-binary", statement})
            .out;
    };
    const std::string create =
        "CREATE SINK k (a VARSIZED) TYPE File SET ('k.csv' AS SINK.FILE_PATH)";
    const std::string refused = say(plain, create);
    EXPECT_NE(refused.find("it needs the right to files of workers"), std::string::npos) << refused;
    EXPECT_TRUE(refused.ends_with("\n403\n")) << refused;
    EXPECT_TRUE(say(plain, "SELECT a FROM " + source("good.csv", "", "CSV")).ends_with("\n403\n"));
    const std::string made = say(trusted, create);
    EXPECT_TRUE(made.ends_with("\n200\n")) << made;
    EXPECT_TRUE(say(plain, "DROP SINK k").ends_with("\n200\n"));
}

}  // namespace
}  // namespace baton::hostile
