// detect: how long it takes until the catalog says that a worker is UNREACHABLE, with the default
// settings: from SIGKILL, and from SIGSTOP, which leaves its connections open and silent. Ten
// worker processes on this machine, one after the other.
//
//   written   until the change is written to the catalog, by the time that it holds
//   told      how long after that the row, which is durable then, is delivered to a WATCH here
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

// Microseconds of the day.
struct Seen {
    double written = 0;
    double told = 0;
};
struct Took {
    Latencies written;
    Latencies told;

    void add(const Seen& seen, double began) {
        written.add(seen.written - began);
        told.add(seen.told - seen.written);
    }
    [[nodiscard]] std::size_t count() const { return told.count(); }
};

// The states of workers as they are told.
class States {
public:
    explicit States(Cluster& cluster)
        : watch_(must(
              cluster.coordinator().watch("WATCH SELECT name, state, since FROM baton.workers"))) {}

    // Waits until all of them are in that state.
    std::map<std::string, Seen> await(const std::vector<std::string>& workers,
                                      const std::string& state) {
        const auto deadline = Clock::now() + 60s;
        for (;;) {
            std::map<std::string, Seen> seen;
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
        if (known.first == state) return;
        known = {state, {.written = time_of(row[2].value_or("")), .told = time_now()}};
    }

    embedded::Subscription watch_;
    std::map<std::string, std::pair<std::string, Seen>> states_;
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

Took killed(Cluster& cluster, States& states, std::size_t times, Prng& prng) {
    Took took;
    while (took.count() < times) {
        states.await(names(cluster), "ACTIVE");
        for (std::size_t i = 0; i < cluster.size() && took.count() < times; ++i) {
            pause(prng);
            const double began = time_now();
            cluster.signal(i, SIGKILL);
            took.add(states.await({Cluster::name(i)}, "UNREACHABLE").begin()->second, began);
            cluster.start_again(i);
        }
    }
    states.await(names(cluster), "ACTIVE");
    return took;
}

Took stopped(Cluster& cluster, States& states, std::size_t times, Prng& prng) {
    Took took;
    while (took.count() < times) {
        std::map<std::string, double> began;
        for (std::size_t i = 0; i < cluster.size() && took.count() + i < times; ++i) {
            pause(prng);
            began[Cluster::name(i)] = time_now();
            cluster.signal(i, SIGSTOP);
        }
        std::vector<std::string> silent;
        for (const auto& [name, at] : began) silent.push_back(name);
        const auto seen = states.await(silent, "UNREACHABLE");
        for (const auto& [name, at] : seen) took.add(at, began[name]);
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
    Table table({"until UNREACHABLE, default settings", "times", "written, p50", "p90", "most",
                 "told after, p50", "p90", "most"});
    const auto add = [&](const std::string& what, Took took) {
        std::vector<std::string> row = {what, text(static_cast<double>(took.count()))};
        for (Latencies* each : {&took.written, &took.told}) {
            for (const double p : {50.0, 90.0, 100.0}) {
                row.push_back(milliseconds(each->percentile(p)));
            }
        }
        table.add(row);
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
