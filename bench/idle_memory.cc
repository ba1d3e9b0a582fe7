// idle_memory: what a worker process takes that has nothing to do, and what each query adds that
// waits for rows: a TCP source whose server says nothing, a filter, and a sink that keeps nothing.
// Resident memory and threads of the worker, as the kernel has them.
//
//     bench_idle_memory [--tiny]
#include <thread>

#include "bench/cluster.h"
#include "bench/sockets.h"

namespace baton::bench {
namespace {

using namespace std::chrono_literals;

struct Taken {
    double bytes = 0;
    double threads = 0;
};

Taken taken_by(const Cluster& cluster) {
    std::this_thread::sleep_for(500ms);  // whatever is going on comes to rest
    return {.bytes = static_cast<double>(resident_bytes_of(cluster.pid(0))),
            .threads = static_cast<double>(threads_of(cluster.pid(0)))};
}

void measure(const Arguments& arguments) {
    const int step = arguments.tiny ? 5 : 100;
    const Scratch scratch(arguments);
    const Listening silent = listen_here();
    Cluster cluster(scratch, 1, Cluster::Links::chain);
    cluster.run(
        "CREATE LOGICAL SOURCE s (x UINT64 NOT NULL, y UINT64 NOT NULL); CREATE PHYSICAL "
        "SOURCE FOR s TYPE TCP SET ('W1' AS \"SOURCE\".\"HOST\", '127.0.0.1' AS "
        "SOURCE.SOCKET_HOST, " +
        std::to_string(silent.port) +
        " AS SOURCE.SOCKET_PORT, 'CSV' AS INPUT_FORMATTER.TYPE); CREATE SINK k (x UINT64 "
        "NOT NULL) TYPE Void SET ('W1' AS \"SINK\".\"HOST\")");
    const std::string load = load_now();
    std::vector<Taken> taken = {taken_by(cluster)};
    for (int i = 0; i < 2 * step; ++i) {
        cluster.run("CREATE QUERY q" + std::to_string(i) + " AS SELECT x FROM s WHERE y > 7 INTO k",
                    {.until = Wait::Until::steady});
        if ((i + 1) % step == 0) taken.push_back(taken_by(cluster));
    }
    Table table({"worker process", "resident, MB", "threads", "KB a query", "threads a query"});
    for (std::size_t i = 0; i < taken.size(); ++i) {
        const Taken& now = taken[i];
        std::vector<std::string> row = {text(static_cast<double>(i) * step) + " idle queries",
                                        text(now.bytes / 1e6, 1), text(now.threads), "", ""};
        if (i > 0) {
            row[3] = text((now.bytes - taken[i - 1].bytes) / 1e3 / step, 1);
            row[4] = text((now.threads - taken[i - 1].threads) / step, 2);
        }
        table.add(row);
    }
    for (int i = 0; i < 2 * step; ++i) {
        cluster.run("DROP QUERY q" + std::to_string(i), {.until = Wait::Until::steady});
    }
    const Taken after = taken_by(cluster);
    table.add({"all of them dropped", text(after.bytes / 1e6, 1), text(after.threads), "", ""});
    std::printf("%s\n\n", load.c_str());
    table.print();
}

}  // namespace
}  // namespace baton::bench

int main(int count, char** values) {
    baton::bench::measure(baton::bench::arguments_of(count, values));
    return 0;
}
