// How long nobody can write when a leader dies, or hands over:  failover_measure SERVER TTL ROUNDS
#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "base/check.h"
#include "failover/cluster.h"

namespace {

using std::chrono::steady_clock;

void report(const char* what, std::vector<double> seconds) {
    std::sort(seconds.begin(), seconds.end());
    std::printf("%s: %zu rounds, p50 %.2f s, max %.2f s\n", what, seconds.size(),
                seconds[seconds.size() / 2], seconds.back());
}

std::vector<double> measure(baton::failover::Cluster& cluster, int signal, int rounds) {
    std::vector<double> seconds;
    auto leader = cluster.leader_of({0, 1, 2});
    for (int i = 0; i < rounds; ++i) {
        CHECK(leader);
        const auto before = steady_clock::now();
        cluster.signal(*leader, signal);
        const auto next = cluster.leader_of({(*leader + 1) % 3, (*leader + 2) % 3});
        seconds.push_back(std::chrono::duration<double>(steady_clock::now() - before).count());
        (void)cluster.wait(*leader);
        cluster.start(*leader);
        leader = next;
    }
    return seconds;
}

}  // namespace

int main(int argc, char** argv) {
    if (argc != 4) return std::fprintf(stderr, "failover_measure postgres|mariadb TTL ROUNDS\n"), 2;
    const bool postgres = std::string(argv[1]) == "postgres";
    baton::failover::Cluster cluster(
        postgres ? baton::testing::ServerKind::postgres : baton::testing::ServerKind::mariadb,
        std::atoi(argv[2]), 3, 0);
    const int rounds = std::atoi(argv[3]);
    report("killed", measure(cluster, SIGKILL, rounds));
    report("told to leave", measure(cluster, SIGTERM, rounds));
    return 0;
}
