// detect: how long it takes until the catalog says that a worker is UNREACHABLE, with the default
// settings: from SIGKILL, and from SIGSTOP, which leaves its connections open and silent. Ten
// worker processes on this machine, one after the other; the time is that of the row's delivery to
// a WATCH in the coordinator's process.
//
//     bench_detect [--tiny] [TIMES]
#include <csignal>
#include <map>
#include <thread>

#include "base/prng.h"
#include "bench/cluster.h"
#include "bench/sockets.h"

namespace baton::bench {
namespace {

using namespace std::chrono_literals;

// The states of workers as they are told.
class States {
public:
    explicit States(Cluster& cluster)
        : watch_(must(cluster.coordinator().watch(
              "WATCH SELECT name, state, incarnation FROM baton.workers"))) {}

    // When it was told that all of them are in that state, by worker.
    std::map<std::string, Clock::time_point> await(const std::vector<std::string>& workers,
                                                   const std::string& state) {
        const auto deadline = Clock::now() + 60s;
        for (;;) {
            std::map<std::string, Clock::time_point> seen;
            for (const std::string& worker : workers) {
                const auto found = states_.find(worker);
                if (found != states_.end() && found->second.first == state) {
                    seen[worker] = found->second.second;
                }
            }
            if (seen.size() == workers.size()) return seen;
            if (Clock::now() > deadline) give_up("not all of them came to be " + state);
            for (const embedded::Event& event : must(watch_.next(1000ms))) {
                for (const embedded::Row& row : event.rows) take(row);
            }
        }
    }

private:
    void take(const embedded::Row& row) {
        auto& known = states_[row[0].value_or("")];
        const std::string state = row[1].value_or("");
        if (known.first != state) known = {state, Clock::now()};
    }

    embedded::Subscription watch_;
    std::map<std::string, std::pair<std::string, Clock::time_point>> states_;
};

std::vector<std::string> names(const Cluster& cluster) {
    std::vector<std::string> all;
    for (std::size_t i = 0; i < cluster.size(); ++i) all.push_back(Cluster::name(i));
    return all;
}

// At times that have nothing to do with the beats, which come once a second.
void pause(Prng& prng) {
    std::this_thread::sleep_for(std::chrono::microseconds(prng.between(20'000, 120'000)));
}

Latencies killed(Cluster& cluster, States& states, std::size_t times, Prng& prng) {
    Latencies took;
    while (took.count() < times) {
        states.await(names(cluster), "ACTIVE");
        for (std::size_t i = 0; i < cluster.size() && took.count() < times; ++i) {
            pause(prng);
            const auto began = Clock::now();
            cluster.signal(i, SIGKILL);
            const auto seen = states.await({Cluster::name(i)}, "UNREACHABLE");
            took.add(1e6 * Seconds(seen.begin()->second - began).count());
            cluster.start_again(i);
        }
    }
    states.await(names(cluster), "ACTIVE");
    return took;
}

Latencies stopped(Cluster& cluster, States& states, std::size_t times, Prng& prng) {
    Latencies took;
    while (took.count() < times) {
        std::map<std::string, Clock::time_point> began;
        for (std::size_t i = 0; i < cluster.size() && took.count() + i < times; ++i) {
            pause(prng);
            began[Cluster::name(i)] = Clock::now();
            cluster.signal(i, SIGSTOP);
        }
        std::vector<std::string> silent;
        for (const auto& [name, at] : began) silent.push_back(name);
        const auto seen = states.await(silent, "UNREACHABLE");
        for (const auto& [name, at] : seen) took.add(1e6 * Seconds(at - began[name]).count());
        for (std::size_t i = 0; i < began.size(); ++i) cluster.signal(i, SIGCONT);
        states.await(names(cluster), "ACTIVE");
    }
    return took;
}

void measure(const Arguments& arguments) {
    std::size_t times = arguments.tiny ? 2 : 20;
    if (!arguments.rest.empty()) times = std::stoull(arguments.rest.front());
    const Scratch scratch(arguments);
    Cluster cluster(scratch, arguments.tiny ? 2 : 10, Cluster::Links::star);
    States states(cluster);
    Prng prng(5);
    const std::string load = load_now();
    // A coordinator judges nobody right after its own start.
    std::this_thread::sleep_for(arguments.tiny ? 4s : 8s);
    Table table({"until UNREACHABLE, default settings", "times", "least", "p50", "most"});
    const auto add = [&](const std::string& what, Latencies took) {
        table.add({what, text(static_cast<double>(took.count())), milliseconds(took.percentile(0)),
                   milliseconds(took.percentile(50)), milliseconds(took.percentile(100))});
    };
    add("SIGKILL", killed(cluster, states, times, prng));
    add("SIGSTOP", stopped(cluster, states, times, prng));
    std::printf("%s\n\n", load.c_str());
    table.print();
}

}  // namespace
}  // namespace baton::bench

int main(int count, char** values) {
    baton::bench::measure(baton::bench::arguments_of(count, values));
    return 0;
}
