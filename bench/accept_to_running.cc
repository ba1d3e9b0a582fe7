// accept_to_running: queries with 10 fragments on 10 worker processes, one after the other: from
// the answer to CREATE QUERY, when it is durable, until RUNNING is delivered to a WATCH in the
// coordinator's process.
//
//   star    nine sources on nine workers, the sink on the tenth: two stages
//   chain   one source, whose rows pass nine workers: ten stages, started one after the other
//   alone   one fragment on one worker: what is left without exchanges and stages
//
// Where the time goes is read from the times of the changes that the catalog keeps: each is the
// time of the write before its sync. What a phase took is to the last change that belongs to it:
//
//   deploying    accepted to DEPLOYING
//   registered   to REGISTERED on all workers
//   first stage  to RUNNING of the sink's worker
//   last stage   to RUNNING of all fragments, and of the query
//   told         from that write to the watcher, its sync included
//
// A deployment waits for its commits one after the other, so what one costs here at this time
// stands beside it: a write and fdatasync of 4 KB in between.
//
//     bench_accept_to_running [--tiny] [QUERIES]
#include <algorithm>
#include <array>
#include <set>

#include <fcntl.h>
#include <unistd.h>

#include "bench/cluster.h"
#include "bench/sockets.h"

namespace baton::bench {
namespace {

using namespace std::chrono_literals;

struct Phases {
    Latencies deploying, registered, first_stage, last_stage, told;
    Latencies all;
    Latencies commits;
    Latencies sync;  // of a plain write
    double cpu_here = 0;
    double cpu_workers = 0;
};

std::string field(const std::string& row, const std::string& name) {
    const std::string mark = "\"" + name + "\":";
    const auto at = row.find(mark) + mark.size();
    const auto end = row.find_first_of(",}", at);
    std::string value = row.substr(at, end - at);
    std::erase(value, '"');
    return value;
}

void add_phases(Cluster& cluster, std::uint64_t since, double told_us, Phases& to) {
    const auto answers =
        cluster.run("SELECT revision, at, entity, row FROM baton.changes WHERE revision >= " +
                    std::to_string(since));
    double accepted = 0;
    double deploying = 0;
    double registered = 0;
    double first_stage = 0;
    double running = 0;
    std::set<std::string> commits;
    for (const embedded::Row& row : answers.done.front().rows) {
        const double at = time_of(*row[1]);
        const std::string& change = row[3].value_or("");
        const std::string state = field(change, "STATE");
        commits.insert(*row[0]);
        if (*row[2] == "query" && state == "PENDING") accepted = at;
        if (*row[2] == "query" && state == "DEPLOYING") deploying = at;
        if (*row[2] == "query" && state == "RUNNING") running = at;
        if (*row[2] != "fragment") continue;
        if (state == "REGISTERED") registered = at;
        if (state == "RUNNING" && field(change, "STAGE") == "0") first_stage = at;
    }
    to.deploying.add(deploying - accepted);
    to.registered.add(registered - deploying);
    to.first_stage.add(first_stage - registered);
    to.last_stage.add(running - first_stage);
    to.told.add(told_us - running);
    to.commits.add(static_cast<double>(commits.size()) - 1);
}

void await_running(embedded::Subscription& watch, const std::string& query) {
    const auto deadline = Clock::now() + 60s;
    while (Clock::now() < deadline) {
        for (const embedded::Event& event : must(watch.next(1000ms))) {
            for (const embedded::Row& row : event.rows) {
                if (row[0] == query && row[1] == "RUNNING") return;
            }
        }
    }
    give_up("query " + query + " does not run");
}

// Microseconds.
double sync_once(int file) {
    const std::array<char, 4096> bytes{};
    const auto began = Clock::now();
    if (::write(file, bytes.data(), bytes.size()) < 0 || ::fdatasync(file) != 0) {
        give_up("cannot write");
    }
    return 1e6 * Seconds(Clock::now() - began).count();
}

std::string sources(std::size_t workers, Cluster::Links links) {
    std::string sql = "CREATE LOGICAL SOURCE s (x UINT64 NOT NULL); ";
    const std::size_t count = links == Cluster::Links::chain ? 1 : workers - 1;
    for (std::size_t i = 0; i < count; ++i) {
        sql += "CREATE PHYSICAL SOURCE FOR s TYPE Generator SET ('" + Cluster::name(i) +
               "' AS \"SOURCE\".\"HOST\", 'SEQUENCE UINT64 0 1000000 1' AS "
               "SOURCE.GENERATOR_SCHEMA, 'emit_rate 1' AS SOURCE.GENERATOR_RATE_CONFIG); ";
    }
    return sql + "CREATE SINK k (x UINT64 NOT NULL) TYPE Void SET ('" + Cluster::name(workers - 1) +
           "' AS \"SINK\".\"HOST\")";
}

Phases run(const Scratch& scratch, Cluster::Links links, std::size_t workers, std::size_t queries) {
    Cluster cluster(scratch, workers, links);
    cluster.run(sources(workers, links));
    auto watch = must(cluster.coordinator().watch("WATCH SELECT name, state FROM baton.queries"));
    const Descriptor file(::open((scratch / "sync").c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
    Phases phases;
    for (std::size_t i = 0; i < queries + 2; ++i) {
        const std::string name = "Q" + std::to_string(i);
        const double here = cpu_seconds();
        const double there = cluster.cpu_seconds();
        cluster.run("CREATE QUERY " + name + " AS SELECT x FROM s INTO k");
        const auto accepted = Clock::now();
        await_running(watch, name);
        const auto took = Clock::now() - accepted;
        const double told = time_now();
        if (i == 0) {
            const auto fragments = cluster.run("SELECT id FROM baton.fragments").done.front();
            if (fragments.rows.size() != workers) give_up("not a fragment for each worker");
        }
        if (i >= 2) {  // the first ones open connections
            phases.cpu_here += cpu_seconds() - here;
            phases.cpu_workers += cluster.cpu_seconds() - there;
            phases.all.add(1e6 * Seconds(took).count());
            const std::string since = cluster.ask(
                "SELECT revision FROM baton.changes WHERE entity = 'query' AND key = '" +
                cluster.ask("SELECT id FROM baton.queries WHERE name = '" + name + "'") +
                "' AND op = 'CREATE'");
            add_phases(cluster, std::stoull(since), told, phases);
        }
        phases.sync.add(sync_once(*file));
        cluster.run("DROP QUERY " + name, {.until = Wait::Until::steady});
    }
    return phases;
}

void measure(const Arguments& arguments) {
    std::size_t queries = arguments.tiny ? 2 : 100;
    if (!arguments.rest.empty()) queries = std::stoull(arguments.rest.front());
    const std::size_t workers = arguments.tiny ? 3 : 10;
    struct Shape {
        std::string name;
        Cluster::Links links;
        std::size_t workers;
    };
    const std::string load = load_now();
    Table table({"accepted to RUNNING", "p50", "p90", "p99", "deploying", "registered",
                 "first stage", "last stage", "told", "commits", "a sync", "CPU here",
                 "CPU workers"});
    for (const Shape& shape : {Shape{"star", Cluster::Links::star, workers},
                               Shape{"chain", Cluster::Links::chain, workers},
                               Shape{"alone", Cluster::Links::chain, 1}}) {
        const Scratch scratch(arguments);
        Phases phases = run(scratch, shape.links, shape.workers, queries);
        const auto count = static_cast<double>(queries);
        table.add({shape.name, milliseconds(phases.all.percentile(50)),
                   milliseconds(phases.all.percentile(90)), milliseconds(phases.all.percentile(99)),
                   milliseconds(phases.deploying.percentile(50)),
                   milliseconds(phases.registered.percentile(50)),
                   milliseconds(phases.first_stage.percentile(50)),
                   milliseconds(phases.last_stage.percentile(50)),
                   milliseconds(phases.told.percentile(50)), text(phases.commits.percentile(50)),
                   milliseconds(phases.sync.percentile(50)),
                   milliseconds(1e6 * phases.cpu_here / count),
                   milliseconds(1e6 * phases.cpu_workers / count)});
    }
    std::printf("%s, %zu queries, %zu workers; phases at p50, CPU of each query\n\n", load.c_str(),
                queries, workers);
    table.print();
}

}  // namespace
}  // namespace baton::bench

int main(int count, char** values) {
    baton::bench::measure(baton::bench::arguments_of(count, values));
    return 0;
}
