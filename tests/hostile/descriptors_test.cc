// Connections that are opened and say nothing, more than there are descriptors for.
#include <gtest/gtest.h>
#include <sys/resource.h>

#include "hostile/daemon.h"

namespace baton::hostile {
namespace {

constexpr std::size_t kSilent = 1'000;  // at each door

class HostileConnections : public ::testing::Test {
protected:
    HostileConnections() {
        rlimit limit{};
        (void)::getrlimit(RLIMIT_NOFILE, &limit);
        limit.rlim_cur = limit.rlim_max;
        (void)::setrlimit(RLIMIT_NOFILE, &limit);
        enough_ = limit.rlim_cur > 3 * kSilent;
    }

    static std::vector<Socket> come(const std::string& port, const std::string& word) {
        std::vector<Socket> sockets;
        for (std::size_t i = 0; i < kSilent; ++i) {
            sockets.emplace_back(port);
            if (!word.empty()) (void)sockets.back().send(word);
        }
        return sockets;
    }

    bool enough_ = false;
    Daemon daemon_{{}, {"/usr/bin/prlimit", "--nofile=1024:1024"}};
};

TEST_F(HostileConnections, AThousandThatSayNothingKeepNobodyOut) {
    if (!enough_) GTEST_SKIP() << "too few descriptors for the test itself";
    EXPECT_TRUE(daemon_.takes_a_write());
    const auto silent_pg = come(daemon_.pg_port(), "");
    const auto silent_http = come(daemon_.http_port(), "");
    for (int i = 0; i < 3; ++i) EXPECT_TRUE(daemon_.takes_a_write());
    EXPECT_TRUE(daemon_.curl("/readyz").out.ends_with("\n200\n"));
}

TEST_F(HostileConnections, AThousandThatBeginKeepNobodyOut) {
    if (!enough_) GTEST_SKIP() << "too few descriptors for the test itself";
    const auto slow_pg = come(daemon_.pg_port(), std::string("\0\0\0", 3));
    const auto slow_http = come(daemon_.http_port(), "GET /readyz HT");
    for (int i = 0; i < 3; ++i) EXPECT_TRUE(daemon_.takes_a_write());
    EXPECT_TRUE(daemon_.curl("/readyz").out.ends_with("\n200\n"));
}

TEST_F(HostileConnections, AUserWithAllConnectionsKeepsNoOtherOut) {
    if (!enough_) GTEST_SKIP() << "too few descriptors for the test itself";
    const std::string startup("\0\0\0\x15\0\3\0\0user\0greedy\0\0", 21);
    const std::string ready("Z\0\0\0\5I", 6);
    std::vector<Socket> greedy;
    bool refused = false;
    for (std::size_t i = 0; i < kSilent && !refused; ++i) {
        greedy.emplace_back(daemon_.pg_port());
        (void)greedy.back().send(startup);
        const std::string heard = greedy.back().read_until(ready, cli::kPatience);
        refused = heard.find("53300") != std::string::npos;
        EXPECT_TRUE(refused || heard.ends_with(ready)) << heard;
    }
    EXPECT_TRUE(refused);
    EXPECT_TRUE(daemon_.takes_a_write());
    EXPECT_TRUE(daemon_.curl("/readyz").out.ends_with("\n200\n"));
}

}  // namespace
}  // namespace baton::hostile
