// cq_csv: a continuous query over a CSV file, end to end from the bytes on disk: rows of half of
// the kinds are counted by key in windows of 10 s, beside DuckDB's batch query over the same file
// (one thread) and awk. CPU seconds are those of everything: coordinator, worker, threads.
//
//     bench_cq_csv [--tiny] [MILLION_ROWS]
#include <cstdio>
#include <cstdlib>
#include <fstream>

#include "bench/duckdb_peer.h"
#include "bench/keyed_csv.h"
#include "library/baton.h"

namespace baton::bench {
namespace {

// The groups that it found.
std::uint64_t run_baton(Coordinator& baton, const std::string& out) {
    const auto answers = baton.execute(keyed_query("s", out), {.until = Wait::Until::ended});
    if (answers.error) give_up(to_string(*answers.error));
    return groups_in(out);
}

std::uint64_t run_duckdb(const DuckDb& duckdb, const std::string& in) {
    return duckdb.ask(
        "SELECT count(*) FROM (SELECT ts // 10000, k, count(*) FROM read_csv('" + in +
        "', header=false, auto_detect=false, delim=',', columns={'ts': 'UBIGINT', 'k': 'UINTEGER', "
        "'kind': 'UTINYINT', 'v': 'DOUBLE'}) WHERE kind < 50 GROUP BY ALL)");
}

std::uint64_t run_awk(const std::string& in, const std::string& out) {
    const std::string command =
        "awk -F, '$3<50{c[int($1/10000)\",\"$2]++} END{for(k in c) n++; print n}' " + in + " > " +
        out;
    if (std::system(command.c_str()) != 0) give_up("awk failed");  // NOLINT(concurrency-mt-unsafe)
    std::uint64_t groups = 0;
    std::ifstream(out) >> groups;
    return groups;
}

void measure(const Arguments& arguments) {
    std::uint64_t rows = arguments.tiny ? 20'000 : 20'000'000;
    if (!arguments.rest.empty()) rows = std::stoull(arguments.rest.front()) * 1'000'000;
    const Scratch scratch(arguments);
    const std::string in = scratch / "in.csv";
    const std::uint64_t bytes = write_keyed_csv(in, rows);
    auto baton = must(Coordinator::open({.data = scratch / "data"}));
    const auto made = baton->execute("CREATE LOGICAL SOURCE s " + keyed_schema() +
                                     "; CREATE PHYSICAL SOURCE FOR s TYPE File SET ('" + in +
                                     "' AS SOURCE.FILE_PATH, 'CSV' AS INPUT_FORMATTER.TYPE)");
    if (made.error) give_up(to_string(*made.error));
    const DuckDb duckdb;
    struct Contestant {
        std::string name;
        std::function<std::uint64_t()> turn;
        double best = 1e9;
        double seconds = 1e9;
        std::uint64_t groups = 0;
    };
    std::vector<Contestant> all = {
        {.name = "baton", .turn = [&] { return run_baton(*baton, scratch / "out.csv"); }},
        {.name = "duckdb", .turn = [&] { return run_duckdb(duckdb, in); }},
        {.name = "awk", .turn = [&] { return run_awk(in, scratch / "awk.txt"); }}};
    for (int round = 0; round < (arguments.tiny ? 1 : 3); ++round) {
        for (Contestant& one : all) {
            const auto began = Clock::now();
            const double before = cpu_seconds() + children_seconds();
            one.groups = one.turn();
            one.best = std::min(one.best, cpu_seconds() + children_seconds() - before);
            one.seconds = std::min(one.seconds, Seconds(Clock::now() - began).count());
            if (one.groups != all[0].groups) give_up(one.name + " found other groups");
        }
    }
    Table table({std::to_string(bytes / 1'000'000) + " MB of CSV", "million rows per CPU s",
                 "MB per CPU s", "s", "baton is"});
    for (const Contestant& one : all) {
        table.add({one.name, text(static_cast<double>(rows) / one.best / 1e6, 1),
                   text(static_cast<double>(bytes) / one.best / 1e6), text(one.seconds, 2),
                   text(one.best / all[0].best, 2) + " x as fast"});
    }
    table.print();
}

}  // namespace
}  // namespace baton::bench

int main(int count, char** values) {
    baton::bench::measure(baton::bench::arguments_of(count, values));
    return 0;
}
