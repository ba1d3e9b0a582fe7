// Clients that wait, or leave transactions open, and what is left for the others.
#include <algorithm>
#include <chrono>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "hostile/daemon.h"

namespace baton::hostile {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

// Of PostgreSQL's protocol: a length of four bytes that counts itself.
std::string with_length(const std::string& body) {
    const auto size = static_cast<std::uint32_t>(body.size() + 4);
    std::string bytes;
    for (const unsigned shift : {24U, 16U, 8U, 0U}) bytes += static_cast<char>(size >> shift);
    return bytes + body;
}

class PgClient {
public:
    explicit PgClient(const Daemon& daemon) : socket_(daemon.pg_port()) {
        using namespace std::string_literals;
        const std::string startup = "\0\3\0\0user\0ann\0database\0baton\0\0"s;
        EXPECT_TRUE(socket_.send(with_length(startup)));
        EXPECT_NE(socket_.read_until("Z"s + with_length("I"), 10s).find('Z'), std::string::npos);
    }
    void say(const std::string& statement) const {
        EXPECT_TRUE(socket_.send("Q" + with_length(statement + '\0')));
    }
    // Until the server is ready for the next: I idle, T in a transaction, E in one that failed.
    [[nodiscard]] std::string hear(char state, std::chrono::milliseconds within = 10s) const {
        return socket_.read_until("Z" + with_length(std::string(1, state)), within);
    }
    [[nodiscard]] std::string hear_until(const std::string& text,
                                         std::chrono::milliseconds within) const {
        return socket_.read_until(text, within);
    }

private:
    Socket socket_;
};

// A query that nobody can run: its worker is not there.
void make_a_query_that_never_runs(const Daemon& daemon) {
    const cli::Ended made = daemon.psql(
        "CREATE WORKER '127.0.0.1:1' SET ('away' AS NAME);"
        "CREATE LOGICAL SOURCE src (a INT64);"
        "CREATE PHYSICAL SOURCE FOR src TYPE Generator SET ('away' AS SOURCE.HOST, "
        "'SEQUENCE INT64 0 10 1' AS SOURCE.GENERATOR_SCHEMA);"
        "CREATE SINK out (a INT64) TYPE Void SET ('away' AS SINK.HOST);"
        "CREATE QUERY stuck AS SELECT a FROM src INTO out");
    ASSERT_EQ(made.status, 0) << made.errors;
}

std::chrono::microseconds slowest_of_reads(const Daemon& daemon, int reads) {
    const PgClient client(daemon);
    std::chrono::microseconds slowest{};
    for (int i = 0; i < reads; ++i) {
        const auto begun = Clock::now();
        client.say("SHOW WORKERS");
        EXPECT_NE(client.hear('I').find('Z'), std::string::npos);
        slowest = std::max(
            slowest, std::chrono::duration_cast<std::chrono::microseconds>(Clock::now() - begun));
    }
    return slowest;
}

TEST(HostileWaits, HundredsThatWaitHoldNobodyUp) {
    Daemon daemon;
    make_a_query_that_never_runs(daemon);
    std::vector<Socket> waiting;
    for (int i = 0; i < 300; ++i) {
        waiting.emplace_back(daemon.http_port());
        ASSERT_TRUE(waiting.back().send(
            "POST /v1/sql HTTP/1.1\r\nHost: localhost\r\nContent-Type: text/plain\r\n"
            "Content-Length: 20\r\n\r\nWAIT FOR QUERY stuck"));
    }
    const auto deadline = Clock::now() + 30s;
    std::string metrics;
    do {
        metrics = daemon.curl("/metrics").out;
    } while (metrics.find("baton_desk_standing 300") == std::string::npos &&
             Clock::now() < deadline);
    EXPECT_NE(metrics.find("baton_desk_standing 300"), std::string::npos);
    EXPECT_TRUE(daemon.curl("/readyz").out.ends_with("\n200\n"));
    EXPECT_LT(slowest_of_reads(daemon, 100), 2s);
    EXPECT_TRUE(daemon.takes_a_write());
    EXPECT_EQ(daemon.psql("DROP QUERY stuck").status, 0);
    for (const Socket& socket : waiting) {
        EXPECT_NE(socket.read_until("dropped", 20s).find("dropped"), std::string::npos);
    }
}

TEST(HostileWaits, HundredsOfIdleTransactionsHoldNobodyUp) {
    Daemon daemon;
    std::vector<std::unique_ptr<PgClient>> idle;
    for (int i = 0; i < 300; ++i) {
        idle.push_back(std::make_unique<PgClient>(daemon));
        idle.back()->say("BEGIN; SHOW WORKERS");
        ASSERT_NE(idle.back()->hear('T').find('Z'), std::string::npos);
    }
    EXPECT_TRUE(daemon.curl("/readyz").out.ends_with("\n200\n"));
    EXPECT_LT(slowest_of_reads(daemon, 100), 2s);
    EXPECT_TRUE(daemon.takes_a_write());
    // What they have read is as it was: they can go on.
    idle.front()->say("SHOW WORKERS");
    EXPECT_NE(idle.front()->hear('T').find('Z'), std::string::npos);
}

TEST(HostileWaits, ATransactionThatIsLeftOpenIsEnded) {
    Daemon daemon;
    const PgClient client(daemon);
    client.say("SET idle_in_transaction_session_timeout = '300ms'");
    EXPECT_NE(client.hear('I').find('Z'), std::string::npos);
    client.say("BEGIN; CREATE LOGICAL SOURCE never (a INT8)");
    EXPECT_NE(client.hear('T').find('Z'), std::string::npos);
    EXPECT_NE(client.hear_until("25P03", 20s).find("25P03"), std::string::npos);
    EXPECT_EQ(daemon.psql("SELECT name FROM baton.logical_sources").out, "");
    EXPECT_EQ(daemon.psql("SHOW idle_in_transaction_session_timeout").out, "1min\n");
    EXPECT_TRUE(daemon.takes_a_write());
}

}  // namespace
}  // namespace baton::hostile
