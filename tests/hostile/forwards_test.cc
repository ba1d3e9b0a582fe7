// Changes that wait at a follower while the leader says nothing, and what is left for its readers.
#include <chrono>
#include <csignal>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "failover/cluster.h"
#include "hostile/daemon.h"

namespace baton::hostile {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

std::string port_of(const std::string& address) {
    return address.substr(address.rfind(':') + 1);
}

std::string post(const std::string& statement) {
    return "POST /v1/sql HTTP/1.1\r\nHost: localhost\r\nContent-Type: text/plain\r\n"
           "Content-Length: " +
           std::to_string(statement.size()) + "\r\n\r\n" + statement;
}

TEST(HostileForwards, HundredsThatWaitForAStoppedLeaderDoNotDelayReads) {
    failover::Cluster cluster(testing::ServerKind::postgres, 5, 2, 0, failover::Writes::forwarded);
    const auto deadline = Clock::now() + cli::kPatience;
    for (const std::size_t one : {0U, 1U}) {
        while (cluster.ask(one, "CREATE LOGICAL SOURCE IF NOT EXISTS first (x INT8)").status != 0 ||
               !cluster.last_to_lead()) {
            ASSERT_LT(Clock::now(), deadline) << cluster.log(one);
        }
    }
    const std::size_t leader = *cluster.last_to_lead();
    const std::string http = port_of(cluster.http_address(1 - leader));
    cluster.signal(leader, SIGSTOP);
    std::vector<Socket> writers;
    for (int i = 0; i < 300; ++i) {
        writers.emplace_back(http);
        ASSERT_TRUE(
            writers.back().send(post("CREATE LOGICAL SOURCE s" + std::to_string(i) + " (x INT8)")));
    }
    const Socket reader(http);
    std::chrono::milliseconds slowest{};
    for (int i = 0; i < 50; ++i) {
        const auto begun = Clock::now();
        ASSERT_TRUE(reader.send(post("SHOW WORKERS")));
        EXPECT_NE(reader.read_until("\"results\"", 10s).find("200 OK"), std::string::npos);
        slowest = std::max(
            slowest, std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now() - begun));
    }
    EXPECT_LT(slowest, 2s);
    EXPECT_EQ(cli::run({"/usr/bin/curl", "-sf", "http://127.0.0.1:" + http + "/readyz"}).status, 0);
    // The lease ends, the follower leads, and each writer is told something, most of them success.
    int made = 0;
    for (const Socket& writer : writers) {
        const std::string answer = writer.read_until("\r\n\r\n", 60s);
        EXPECT_TRUE(answer.starts_with("HTTP/1.1 ")) << answer;
        if (answer.starts_with("HTTP/1.1 200")) made += 1;
    }
    EXPECT_GE(made, 200);
    cluster.signal(leader, SIGCONT);
}

}  // namespace
}  // namespace baton::hostile
