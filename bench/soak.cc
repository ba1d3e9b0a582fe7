// soak: whether memory stays flat under load. A generator at full rate on one worker process, its
// rows counted by key in windows, and passed on as they are, both to a second worker process.
// Resident memory is looked at once a second; it is flat if the median of the last fifth of the
// time is at most a tenth and 4 MB above that of the second fifth. The catalog's process is looked
// at, too.
//
//     bench_soak [--tiny] [MINUTES]      10 by default
#include <algorithm>
#include <thread>

#include <unistd.h>

#include "bench/cluster.h"
#include "bench/sockets.h"

namespace baton::bench {
namespace {

using namespace std::chrono_literals;

struct Watched {
    std::string name;
    pid_t pid = 0;
    std::vector<double> megabytes = {};
    double cpu_before = 0;

    [[nodiscard]] double median(std::size_t fifth) const {  // of five
        const std::size_t size = megabytes.size();
        std::vector<double> part(
            megabytes.begin() + static_cast<std::ptrdiff_t>(size * fifth / 5),
            megabytes.begin() + static_cast<std::ptrdiff_t>(size * (fifth + 1) / 5));
        std::sort(part.begin(), part.end());
        return part[part.size() / 2];
    }
    [[nodiscard]] double most() const {
        return *std::max_element(megabytes.begin(), megabytes.end());
    }
    [[nodiscard]] bool is_flat() const { return median(4) <= 1.1 * median(1) + 4; }
};

void start_queries(Cluster& cluster) {
    cluster.run(
        "CREATE LOGICAL SOURCE g (ts UINT64 NOT NULL, v UINT64 NOT NULL); CREATE PHYSICAL SOURCE "
        "FOR g TYPE Generator SET ('W1' AS \"SOURCE\".\"HOST\", 'SEQUENCE UINT64 0 "
        "1000000000000000 1, SEQUENCE UINT64 7 1000000000000000 3' AS SOURCE.GENERATOR_SCHEMA, "
        "'emit_rate 1000000000' AS SOURCE.GENERATOR_RATE_CONFIG); CREATE SINK counted (k UINT64 "
        "NOT NULL, n UINT64 NOT NULL) TYPE Void SET ('W2' AS \"SINK\".\"HOST\"); CREATE SINK "
        "passed (ts UINT64 NOT NULL, v UINT64 NOT NULL) TYPE Void SET ('W2' AS "
        "\"SINK\".\"HOST\")");
    cluster.run(
        "CREATE QUERY windows AS SELECT k, COUNT(*) AS n FROM (SELECT ts, ts % 1000 AS k FROM g) "
        "GROUP BY k WINDOW TUMBLING(ts, SIZE 10 SEC) INTO counted; CREATE QUERY rows AS SELECT ts, "
        "v FROM g INTO passed",
        {.until = Wait::Until::steady});
}

void measure(const Arguments& arguments) {
    double minutes = arguments.tiny ? 0.03 : 10;
    if (!arguments.rest.empty()) minutes = std::stod(arguments.rest.front());
    const Scratch scratch(arguments);
    Cluster cluster(scratch, 2, Cluster::Links::chain);
    start_queries(cluster);
    std::vector<Watched> all = {{.name = "worker with the sources", .pid = cluster.pid(0)},
                                {.name = "worker with the sinks", .pid = cluster.pid(1)},
                                {.name = "coordinator", .pid = ::getpid()}};
    for (Watched& one : all) one.cpu_before = cpu_seconds_of(one.pid);
    const auto began = Clock::now();
    const auto every = arguments.tiny ? 100ms : 1000ms;
    while (Seconds(Clock::now() - began).count() < 60 * minutes) {
        std::this_thread::sleep_for(every);
        for (Watched& one : all) {
            one.megabytes.push_back(static_cast<double>(resident_bytes_of(one.pid)) / 1e6);
        }
    }
    const double seconds = Seconds(Clock::now() - began).count();
    const auto running = cluster.run(
        "SELECT name FROM baton.queries WHERE state = 'RUNNING' AND "
        "run = 1");
    if (running.done.front().rows.size() != 2) give_up("the queries did not go on");
    Table table({text(seconds / 60, 1) + " minutes at full rate", "second fifth, MB",
                 "last fifth, MB", "most, MB", "is", "cores used"});
    for (const Watched& one : all) {
        table.add({one.name, text(one.median(1), 1), text(one.median(4), 1), text(one.most(), 1),
                   one.is_flat() ? "flat" : "GROWING",
                   text((cpu_seconds_of(one.pid) - one.cpu_before) / seconds, 2)});
    }
    std::printf("%s\n\n", load_now().c_str());
    table.print();
}

}  // namespace
}  // namespace baton::bench

int main(int count, char** values) {
    baton::bench::measure(baton::bench::arguments_of(count, values));
    return 0;
}
