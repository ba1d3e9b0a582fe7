// The daemon as systemd and people start it.
#include <array>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include "cli/process.h"
#include "testing/free_port.h"
#include "testing/temporary_directory.h"

namespace baton::cli {
namespace {

// What systemd listens on for Type=notify.
class NotifySocket {
public:
    explicit NotifySocket(const std::string& path)
        : socket_(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0)) {
        sockaddr_un address{};
        address.sun_family = AF_UNIX;
        std::strncpy(address.sun_path, path.c_str(), sizeof(address.sun_path) - 1);
        EXPECT_EQ(bind(socket_, reinterpret_cast<sockaddr*>(&address), sizeof(address)), 0);
        const timeval patience{.tv_sec = kPatience.count(), .tv_usec = 0};
        setsockopt(socket_, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
    }
    ~NotifySocket() { close(socket_); }
    NotifySocket(const NotifySocket&) = delete;
    NotifySocket& operator=(const NotifySocket&) = delete;

    [[nodiscard]] std::string heard() const {
        std::array<char, 256> buffer{};
        const ssize_t size = recv(socket_, buffer.data(), buffer.size(), 0);
        return size < 0 ? "nothing" : std::string(buffer.data(), static_cast<std::size_t>(size));
    }

private:
    int socket_;
};

class Serve : public ::testing::Test {
protected:
    [[nodiscard]] std::vector<std::string> serve(const std::vector<std::string>& more = {}) const {
        std::vector<std::string> arguments = {"/usr/bin/env",
                                              "NOTIFY_SOCKET=" + (directory_ / "notify"),
                                              BATON_PROGRAMS "/baton",
                                              "serve",
                                              "--data",
                                              directory_ / "d",
                                              "--pg",
                                              "127.0.0.1:0",
                                              "--http",
                                              "127.0.0.1:0"};
        arguments.insert(arguments.end(), more.begin(), more.end());
        return arguments;
    }

    testing::TemporaryDirectory directory_;
    NotifySocket systemd_{directory_ / "notify"};
};

TEST_F(Serve, SystemdIsToldWhenItIsReadyAndWhenItLeaves) {
    Process daemon(serve());
    EXPECT_EQ(systemd_.heard(), "READY=1");
    daemon.signal(SIGTERM);
    EXPECT_EQ(systemd_.heard(), "STOPPING=1");
    EXPECT_EQ(daemon.wait(), 0) << daemon.errors();
    EXPECT_NE(daemon.errors().find(" ready "), std::string::npos) << daemon.errors();
}

TEST_F(Serve, ASecondOneOnTheSameDataIsToldWhoHoldsIt) {
    Process first(serve());
    EXPECT_EQ(systemd_.heard(), "READY=1");
    const Ended second = run(serve());
    EXPECT_EQ(second.status, 1);
    EXPECT_NE(second.errors.find("6005"), std::string::npos) << second.errors;
    EXPECT_NE(second.errors.find("process " + std::to_string(first.pid()) + " holds it"),
              std::string::npos)
        << second.errors;
    first.signal(SIGTERM);
    EXPECT_EQ(first.wait(), 0);
}

TEST_F(Serve, TheCatalogMayBeAFileOfAnyName) {
    const std::string where = "sqlite:" + (directory_ / "my.db");
    Process daemon(serve({"--catalog", where}));
    ASSERT_EQ(systemd_.heard(), "READY=1") << daemon.errors();
    daemon.signal(SIGTERM);
    EXPECT_EQ(daemon.wait(), 0) << daemon.errors();
    EXPECT_EQ(run({BATON_PROGRAMS "/baton", "check", where}).status, 0);
    EXPECT_FALSE(std::filesystem::exists(directory_ / "d/catalog.db"));
    const Ended elsewhere = run(serve({"--catalog", "oracle://x"}));
    EXPECT_EQ(elsewhere.status, 1);
    EXPECT_NE(elsewhere.errors.find("1000"), std::string::npos) << elsewhere.errors;
}

TEST_F(Serve, PsqlSeesRowsOfStreamsAndCurlSeesTheSameCatalog) {
    const std::string pg = std::to_string(testing::free_port());
    const std::string http = std::to_string(testing::free_port());
    Process daemon(serve({"--pg", "127.0.0.1:" + pg, "--http", "127.0.0.1:" + http}));
    ASSERT_EQ(systemd_.heard(), "READY=1");
    const auto psql = [&](const std::string& statement) {
        return run({"/usr/bin/psql", "-X", "-A", "-t", "-h", "127.0.0.1", "-p", pg, "-U", "ann",
                    "-d", "baton", "-c", statement});
    };
    const std::string generator =
        "SELECT a, a * 2 AS b FROM Generator('SEQUENCE UINT64 0 1000000 1' AS "
        "SOURCE.GENERATOR_SCHEMA, SCHEMA(a UINT64 NOT NULL) AS SOURCE.SCHEMA)";
    const Ended rows = psql(generator + " LIMIT 3");
    EXPECT_EQ(rows.out, "0|0\n1|2\n2|4\n") << rows.errors;
    EXPECT_EQ(psql("CREATE LOGICAL SOURCE s (a INT8)").status, 0);
    const Ended seen =
        run({"/usr/bin/curl", "-s", "http://127.0.0.1:" + http + "/v1/logical-sources"});
    EXPECT_NE(seen.out.find("\"S\""), std::string::npos) << seen.out;
    EXPECT_EQ(run({"/usr/bin/curl", "-sf", "http://127.0.0.1:" + http + "/readyz"}).status, 0);
    daemon.signal(SIGTERM);
    EXPECT_EQ(daemon.wait(), 0) << daemon.errors();
}

TEST_F(Serve, CurlSeesRowsOfStreamsAsEvents) {
    const std::string url = "http://127.0.0.1:" + std::to_string(testing::free_port());
    Process daemon(serve({"--http", url.substr(7)}));
    ASSERT_EQ(systemd_.heard(), "READY=1");
    const auto arguments = [&](const std::string& more) {
        return std::vector<std::string>{
            "/usr/bin/curl",
            "-sN",
            "-H",
            "Accept: text/event-stream",
            "-H",
            "Content-Type: text/plain",
            "--data-binary",
            "SELECT a FROM Generator('SEQUENCE UINT64 0 1000000 1' AS SOURCE.GENERATOR_SCHEMA, "
            "SCHEMA(a UINT64 NOT NULL) AS SOURCE.SCHEMA)" +
                more,
            url + "/v1/sql"};
    };
    const Ended few = run(arguments(" LIMIT 2"));
    EXPECT_EQ(few.out,
              "event: columns\ndata: [{\"name\":\"A\",\"type\":\"unsigned\"}]\n\n"
              "event: rows\ndata: [[0],[1]]\n\nevent: end\ndata: {\"rows\":2}\n\n")
        << few.errors;
    {
        Process endless(arguments(""));
        EXPECT_TRUE(endless.says("event: rows\n")) << endless.errors();
    }
    // It was killed, and so nobody wants its query.
    std::string left;
    const auto deadline = std::chrono::steady_clock::now() + kPatience;
    do {
        left = run({"/usr/bin/curl", "-s", url + "/v1/queries"}).out;
    } while (left != "{\"items\":[]}" && std::chrono::steady_clock::now() < deadline);
    EXPECT_EQ(left, "{\"items\":[]}");
    daemon.signal(SIGTERM);
    EXPECT_EQ(daemon.wait(), 0) << daemon.errors();
}

TEST_F(Serve, WhoListensBeyondThisMachineAsksWhoComes) {
    const Ended open = run(serve({"--http", "0.0.0.0:0"}));
    EXPECT_EQ(open.status, 1);
    EXPECT_NE(open.errors.find("auth.trust_remote"), std::string::npos) << open.errors;
}

TEST_F(Serve, AnObjectPerLineIsLoggedIfItIsAskedFor) {
    Process daemon(serve({"--set", "log.format=json"}));
    EXPECT_EQ(systemd_.heard(), "READY=1");
    daemon.signal(SIGTERM);
    EXPECT_EQ(daemon.wait(), 0);
    std::istringstream lines(daemon.errors());
    std::size_t count = 0;
    for (std::string line; std::getline(lines, line); ++count) {
        const auto object = nlohmann::json::parse(line, nullptr, false);
        ASSERT_TRUE(object.is_object()) << line;
        EXPECT_TRUE(object.contains("time") && object.contains("level")) << line;
    }
    EXPECT_GT(count, 1U);
}

TEST_F(Serve, WhatCannotBeSetIsRefusedBeforeAnythingIsMade) {
    const Ended ended = run(serve({"--set", "threads=none"}));
    EXPECT_EQ(ended.status, 1);
    EXPECT_NE(ended.errors.find("--set threads: \"none\" does not fit threads"), std::string::npos)
        << ended.errors;
    EXPECT_NE(run({"/usr/bin/ls", directory_ / "d"}).status, 0);
}

// A variable of a script that was not set: it would lead a catalog of its own.
TEST_F(Serve, AnEmptyCatalogIsRefused) {
    for (const std::vector<std::string>& given :
         {serve({"--catalog", ""}), serve({"--set", "catalog="})}) {
        const Ended ended = run(given);
        EXPECT_EQ(ended.status, 1);
        EXPECT_NE(ended.errors.find(": the catalog is empty"), std::string::npos) << ended.errors;
    }
    EXPECT_NE(run({"/usr/bin/ls", directory_ / "d"}).status, 0);
}

TEST_F(Serve, APasswordOfTheCatalogIsNotShown) {
    const std::string url = "postgres://ann:s3cret@127.0.0.1:9/baton";
    const Ended shown = run({"baton", "config", "show", "--catalog", url});
    EXPECT_NE(shown.out.find("postgres://ann@127.0.0.1:9/baton"), std::string::npos) << shown.out;
    EXPECT_EQ(shown.out.find("s3cret"), std::string::npos) << shown.out;
    const Ended checked = run({"baton", "check", url});
    EXPECT_EQ((checked.out + checked.errors).find("s3cret"), std::string::npos) << checked.errors;
}

TEST_F(Serve, WhatIsShownOfTheSettingsIsAFileOfThem) {
    const Ended shown = run({"baton", "config", "show", "--http", "127.0.0.1:9"});
    ASSERT_EQ(shown.status, 0) << shown.errors;
    EXPECT_NE(shown.out.find("listen: '127.0.0.1:9'  # --http: "), std::string::npos) << shown.out;
    std::ofstream(directory_ / "all.yaml") << shown.out;
    const Ended checked = run({"baton", "config", "check", "--config", directory_ / "all.yaml"});
    EXPECT_EQ(checked.status, 0) << checked.errors;
}

TEST_F(Serve, UsersAndTokensAreMadeForTheFile) {
    const Ended user = run({"baton", "config", "user", "ann", "--role", "admin"}, "secret\n");
    ASSERT_EQ(user.status, 0) << user.errors;
    EXPECT_EQ(user.out.find("secret"), std::string::npos);
    const Ended token = run({"baton", "config", "token", "ci"});
    ASSERT_EQ(token.status, 0) << token.errors;
    std::ofstream(directory_ / "c.yaml") << user.out << token.out;
    EXPECT_EQ(run({"baton", "config", "check", "--config", directory_ / "c.yaml"}).status, 0);
    std::ofstream(directory_ / "c.yaml") << "users: [{name: a, role: king, verifier: x}]\n";
    const Ended king = run({"baton", "config", "check", "--config", directory_ / "c.yaml"});
    EXPECT_EQ(king.status, 1);
    EXPECT_NE(king.errors.find("c.yaml:1: \"king\" is no role"), std::string::npos) << king.errors;
}

}  // namespace
}  // namespace baton::cli
