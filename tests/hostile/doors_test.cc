// Any bytes at the doors of the real program, and at the port of a worker; after each case a write
// by a well-behaved client succeeds. The bytes are variants of what the fuzzers start from.
//
// BATON_DOOR_SECONDS=600 makes each door suffer for that long; BATON_DOOR_SEED chooses the
// variants.
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

#include <gtest/gtest.h>

#include "base/prng.h"
#include "fuzz/variant.h"
#include "hostile/daemon.h"
#include "testing/free_port.h"

namespace baton::hostile {
namespace {

constexpr std::size_t kCaseBytesMax = 4'000;

std::uint64_t number_from(const char* variable, std::uint64_t fallback) {
    const char* const text = std::getenv(variable);
    return text == nullptr ? fallback : std::strtoull(text, nullptr, 10);
}

std::vector<std::string> corpus_of(const std::string& name) {
    std::vector<std::string> texts;
    for (const auto& entry : std::filesystem::directory_iterator(BATON_CORPUS "/" + name)) {
        std::ifstream file(entry.path(), std::ios::binary);
        texts.emplace_back(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
    }
    return texts;
}

// A client that stays, and writes.
class WellBehaved {
public:
    explicit WellBehaved(const std::string& port) : socket_(port) {
        (void)socket_.send(std::string("\0\0\0\x12\0\3\0\0user\0ann\0\0", 18));
        heard_ = socket_.read_until(ready(), cli::kPatience);
    }

    [[nodiscard]] bool writes() {
        const std::string statement =
            "CREATE LOGICAL SOURCE WELL_BEHAVED (a INT8); DROP LOGICAL SOURCE WELL_BEHAVED";
        std::string message = std::string("Q\0\0\0", 4);
        message += static_cast<char>(statement.size() + 5);
        if (!socket_.send(message + statement + std::string(1, '\0'))) return false;
        heard_ = socket_.read_until(ready(), cli::kPatience);
        return heard_.ends_with(ready()) && heard_.find("ERROR") == std::string::npos;
    }
    [[nodiscard]] const std::string& heard() const { return heard_; }

private:
    static std::string ready() { return {"Z\0\0\0\5I", 6}; }

    Socket socket_;
    std::string heard_;
};

class HostileDoors : public ::testing::Test {
protected:
    // Each case is sent to `port`, with `before` in front of every second one.
    void suffer(const std::string& corpus, const std::string& port,
                const std::string& before = {}) {
        const auto texts = corpus_of(corpus);
        ASSERT_FALSE(texts.empty());
        const std::uint64_t seed = number_from("BATON_DOOR_SEED", 1);
        const auto until = std::chrono::steady_clock::now() +
                           std::chrono::seconds(number_from("BATON_DOOR_SECONDS", 4));
        WellBehaved client(daemon_.pg_port());
        std::uint64_t cases = 0;
        for (; std::chrono::steady_clock::now() < until; ++cases) {
            Prng dice(seed * 1'000'003 + cases);
            const std::string& text = texts[dice.between(0, texts.size() - 1)];
            const std::string& other = texts[dice.between(0, texts.size() - 1)];
            const std::string bytes = fuzz::variant_of(shaped(corpus, text), other,
                                                       dice.between(0, UINT32_MAX), kCaseBytesMax);
            {
                const Socket socket(port);
                (void)socket.send(cases % 2 == 0 ? bytes : before + bytes);
                if (dice.chance(1, 2)) {  // some wait for an answer, and some are gone
                    (void)socket.read_until("\r\n\r\n", std::chrono::milliseconds(2));
                }
            }
            ASSERT_TRUE(client.writes()) << corpus << ", seed " << seed << ", case " << cases
                                         << ": " << client.heard() << "\n"
                                         << ::testing::PrintToString(bytes);
        }
        RecordProperty("cases", std::to_string(cases));
        std::printf("%s: %llu cases, a write after each\n", corpus.c_str(),
                    static_cast<unsigned long long>(cases));
        EXPECT_TRUE(daemon_.takes_a_write());
    }

    Daemon daemon_{{"--set", "log.level=error"}};  // its log is not read before its end

private:
    // The fuzzers' inputs as a client would send them.
    static std::string shaped(const std::string& corpus, const std::string& text) {
        if (corpus == "pgwire") return text.substr(std::min<std::size_t>(text.size(), 3));
        if (corpus != "http") return text;
        std::size_t method = text.find('\n');
        if (method == std::string::npos) return text;
        std::size_t target = text.find('\n', method + 1);
        if (target == std::string::npos) target = text.size();
        const std::size_t end = std::min(text.find("\n\n", target), text.size());
        const std::string body = text.substr(std::min(text.size(), end + 2));
        std::string headers = text.substr(target, end - target);
        return text.substr(0, method) + " " + text.substr(method + 1, target - method - 1) +
               " HTTP/1.1\r\nHost: localhost\r\nContent-Length: " + std::to_string(body.size()) +
               headers + "\r\n\r\n" + body;
    }
};

TEST_F(HostileDoors, AnyBytesAtTheDoorOfPostgres) {
    suffer("pgwire", daemon_.pg_port(), std::string("\0\0\0\x12\0\3\0\0user\0eve\0\0", 18));
}

TEST_F(HostileDoors, AnyBytesAtTheDoorOfHttp) {
    suffer("http", daemon_.http_port());
}

TEST_F(HostileDoors, AnyStatementsAtTheDoorOfHttp) {
    suffer("session", daemon_.http_port(),
           "POST /v1/sql?timeout_ms=1 HTTP/1.1\r\nHost: localhost\r\nContent-Type: text/plain\r\n"
           "Content-Length: 150\r\n\r\n");
}

// Each login is a line, and nobody reads them: the pipe is full after some hundred.
TEST(HostileLogs, ALogThatNobodyReadsStopsNothing) {
    Daemon daemon;
    for (int i = 0; i < 1'500; ++i) {
        const Socket socket(daemon.pg_port());
        (void)socket.send(std::string("\0\0\0\x12\0\3\0\0user\0eve\0\0", 18));
        ASSERT_FALSE(socket.read_until(std::string("Z\0\0\0\5I", 6), cli::kPatience).empty()) << i;
    }
    EXPECT_TRUE(daemon.takes_a_write());
}

TEST_F(HostileDoors, AnyBytesAtAWorker) {
    const std::string port = std::to_string(testing::free_port());
    cli::Process worker({BATON_PROGRAMS "/baton", "worker", "--name", "W", "--listen",
                         "127.0.0.1:" + port, "--data-dir", daemon_.path("worker")});
    EXPECT_EQ(daemon_.psql("CREATE WORKER '127.0.0.1:" + port + "' SET ('W' AS NAME)").status, 0);
    suffer("control", port, "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n");
    EXPECT_NE(worker.state(), 'Z') << worker.errors();
    worker.signal(SIGTERM);
    EXPECT_EQ(worker.wait(), 0) << worker.errors();
}

}  // namespace
}  // namespace baton::hostile
