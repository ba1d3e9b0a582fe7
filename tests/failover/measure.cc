// How long nobody can write when a leader dies, or hands over:
//
//     failover_measure SERVER TTL ROUNDS            each asked until one accepts
//     failover_measure SERVER TTL ROUNDS through    a client that stays with one that follows; and
//                                                   what it costs to be passed on
#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <libpq-fe.h>

#include "base/check.h"
#include "failover/cluster.h"

namespace {

using baton::failover::Cluster;
using std::chrono::steady_clock;

double seconds_since(steady_clock::time_point before) {
    return std::chrono::duration<double>(steady_clock::now() - before).count();
}

void report(const char* what, std::vector<double> seconds) {
    std::sort(seconds.begin(), seconds.end());
    std::printf("%s: %zu rounds, p50 %.4f s, p99 %.4f s, max %.4f s\n", what, seconds.size(),
                seconds[seconds.size() / 2], seconds[seconds.size() * 99 / 100], seconds.back());
}

std::vector<double> measure(Cluster& cluster, int signal, int rounds) {
    std::vector<double> seconds;
    auto leader = cluster.leader_of({0, 1, 2});
    for (int i = 0; i < rounds; ++i) {
        CHECK(leader);
        const auto before = steady_clock::now();
        cluster.signal(*leader, signal);
        const auto next = cluster.leader_of({(*leader + 1) % 3, (*leader + 2) % 3});
        seconds.push_back(seconds_since(before));
        (void)cluster.wait(*leader);
        cluster.start(*leader);
        leader = next;
    }
    return seconds;
}

// ---- through one that follows -------------------------------------------------------------------

class Client {
public:
    explicit Client(const std::string& address) {
        const auto deadline = steady_clock::now() + baton::cli::kPatience;
        do {
            conn_.reset(PQconnectdb(("postgres://ann@" + address + "/baton").c_str()));
            CHECK(steady_clock::now() < deadline);
        } while (PQstatus(conn_.get()) != CONNECTION_OK);
    }
    // False: it was refused, or nobody knows.
    bool create() {
        const std::string text = "CREATE LOGICAL SOURCE m" + std::to_string(next_++) + " (x INT8)";
        PGresult* result = PQexec(conn_.get(), text.c_str());
        const bool done = PQresultStatus(result) == PGRES_COMMAND_OK;
        if (!done) std::fprintf(stderr, "  %s", PQresultErrorMessage(result));
        PQclear(result);
        return done;
    }

    // From here on it is told of every source that is made.
    void watch() {
        PQclear(
            PQexec(conn_.get(), "COPY (WATCH SELECT NAME FROM baton.logical_sources) TO STDOUT"));
    }
    // Reads until it is told of the last one that was made.
    void await_last() {
        const std::string name = "\tM" + std::to_string(next_ - 1) + "\n";
        for (;;) {
            char* line = nullptr;
            CHECK(PQgetCopyData(conn_.get(), &line, 0) > 0);
            const bool last = std::string(line).ends_with(name);
            PQfreemem(line);
            if (last) return;
        }
    }

private:
    struct Finish {
        void operator()(PGconn* conn) const { PQfinish(conn); }
    };
    std::unique_ptr<PGconn, Finish> conn_;
    static inline int next_ = 0;
};

std::size_t leader_now(const Cluster& cluster) {
    while (!cluster.last_to_lead()) std::this_thread::sleep_for(std::chrono::milliseconds(10));
    return *cluster.last_to_lead();
}

std::vector<double> latency(Client& client, int times) {
    std::vector<double> seconds;
    for (int i = 0; i < times; ++i) {
        const auto before = steady_clock::now();
        CHECK(client.create());
        seconds.push_back(seconds_since(before));
    }
    return seconds;
}

// From the answer to the change at the leader to the event at one that follows.
std::vector<double> visible(Client& writer, Client& watcher, int times) {
    CHECK(writer.create());
    watcher.watch();
    watcher.await_last();
    std::vector<double> seconds;
    for (int i = 0; i < times; ++i) {
        CHECK(writer.create());
        const auto committed = steady_clock::now();
        watcher.await_last();
        seconds.push_back(seconds_since(committed));
    }
    return seconds;
}

// The client writes all the time; what it waits for longest is what it was without a leader.
double killed_once(Cluster& cluster, int signal) {
    const std::size_t leader = leader_now(cluster);
    Client client(cluster.address((leader + 1) % 3));
    while (!client.create()) continue;
    const auto before = steady_clock::now();
    cluster.signal(leader, signal);
    while (!client.create()) continue;
    const double took = seconds_since(before);
    (void)cluster.wait(leader);
    cluster.start(leader);
    const Client ready(cluster.address(leader));
    return took;
}

void measure_through(Cluster& cluster, int rounds) {
    const std::size_t leader = leader_now(cluster);
    Client at_leader(cluster.address(leader));
    Client passed_on(cluster.address((leader + 1) % 3));
    CHECK(at_leader.create() && passed_on.create());
    constexpr int kTimes = 300;
    report("a create at the leader", latency(at_leader, kTimes));
    report("a create that is passed on", latency(passed_on, kTimes));
    Client watcher(cluster.address((leader + 2) % 3));
    report("from the commit to who watches a follower", visible(at_leader, watcher, kTimes));
    std::vector<double> killed;
    for (int i = 0; i < rounds; ++i) killed.push_back(killed_once(cluster, SIGKILL));
    report("killed, seen through a follower", killed);
    std::vector<double> left;
    for (int i = 0; i < rounds; ++i) left.push_back(killed_once(cluster, SIGTERM));
    report("asked to leave, seen through a follower", left);
}

}  // namespace

int main(int argc, char** argv) {
    if (argc < 4) {
        return std::fprintf(stderr, "failover_measure postgres|mariadb TTL ROUNDS [through]\n"), 2;
    }
    const bool through = argc > 4 && std::string(argv[4]) == "through";
    const auto kind = std::string(argv[1]) == "postgres" ? baton::testing::ServerKind::postgres
                                                         : baton::testing::ServerKind::mariadb;
    const auto writes =
        through ? baton::failover::Writes::forwarded : baton::failover::Writes::refused;
    Cluster cluster(kind, std::atoi(argv[2]), 3, 0, writes);
    const int rounds = std::atoi(argv[3]);
    if (through) {
        measure_through(cluster, rounds);
        return 0;
    }
    report("killed", measure(cluster, SIGKILL, rounds));
    report("asked to leave", measure(cluster, SIGTERM, rounds));
    return 0;
}
