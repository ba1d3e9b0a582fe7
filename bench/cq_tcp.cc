// cq_tcp: the query of cq_csv over bytes that come by TCP on this machine, from a process that
// sends the file as fast as it is taken. Beside it, taking turns: the same query over the file, and
// a loop that only reads the socket and counts newlines, which is what the kernel allows. CPU
// seconds are those of this process: coordinator, worker, all threads; not those of the feeder.
//
//     bench_cq_tcp [--tiny] [MILLION_ROWS]
#include <fcntl.h>

#include "bench/keyed_csv.h"
#include "bench/measure.h"
#include "bench/sockets.h"
#include "library/baton.h"

namespace baton::bench {
namespace {

struct Contestant {
    std::string name;
    std::function<std::uint64_t()> turn;  // what it found
    std::uint64_t expected = 0;           // 0: as many as the file source
    double cpu = 1e9;
    double seconds = 1e9;
};

// Sends the file to everybody who comes, one after the other.
void feed(const std::string& path, const Listening& listening) {
    for (;;) {
        const Descriptor to = accept_from(listening);
        const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
        copy_whole(*file, *to);
    }
}

void run_sql(Coordinator& baton, const std::string& sql, const Wait& wait = {}) {
    const auto answers = baton.execute(sql, wait);
    if (answers.error) give_up(to_string(*answers.error));
}

std::string tcp_source(const std::string& name, std::uint16_t port, const std::string& more) {
    return "CREATE LOGICAL SOURCE " + name + " " + keyed_schema() +
           "; CREATE PHYSICAL SOURCE FOR " + name +
           " TYPE TCP SET ('127.0.0.1' AS SOURCE.SOCKET_HOST, " + std::to_string(port) +
           " AS SOURCE.SOCKET_PORT, 'CSV' AS INPUT_FORMATTER.TYPE" + more + "); ";
}

void measure(const Arguments& arguments) {
    std::uint64_t rows = arguments.tiny ? 20'000 : 10'000'000;
    if (!arguments.rest.empty()) rows = std::stoull(arguments.rest.front()) * 1'000'000;
    const Scratch scratch(arguments);
    const std::string in = scratch / "in.csv";
    const std::uint64_t bytes = write_keyed_csv(in, rows);
    const Listening listening = listen_here();
    const Forked feeder([&] { feed(in, listening); });

    const auto baton = must(Coordinator::open({.data = scratch / "data"}));
    run_sql(*baton, "CREATE LOGICAL SOURCE f " + keyed_schema() +
                        "; CREATE PHYSICAL SOURCE FOR f TYPE File SET ('" + in +
                        "' AS SOURCE.FILE_PATH, 'CSV' AS INPUT_FORMATTER.TYPE); " +
                        tcp_source("t", listening.port, "") +
                        tcp_source("big", listening.port, ", 262144 AS SOURCE.SOCKET_BUFFER_SIZE"));
    const auto query = [&](const std::string& source) {
        const std::string out = scratch / "out.csv";
        run_sql(*baton, keyed_query(source, out), {.until = Wait::Until::ended});
        return groups_in(out);
    };
    std::vector<Contestant> all = {
        {.name = "file source", .turn = [&] { return query("f"); }},
        {.name = "TCP source", .turn = [&] { return query("t"); }},
        {.name = "TCP source, 256 KiB a read", .turn = [&] { return query("big"); }},
        {.name = "socket, newlines counted",
         .turn = [&] { return count_lines(*connect_to(listening.port)); },
         .expected = rows}};
    std::uint64_t groups = 0;
    const std::string load = load_now();
    for (int round = 0; round < (arguments.tiny ? 1 : 5); ++round) {
        for (Contestant& one : all) {
            const auto began = Clock::now();
            const double before = cpu_seconds();
            const std::uint64_t found = one.turn();
            one.cpu = std::min(one.cpu, cpu_seconds() - before);
            one.seconds = std::min(one.seconds, Seconds(Clock::now() - began).count());
            if (groups == 0) groups = found;
            if (found != (one.expected == 0 ? groups : one.expected)) {
                give_up(one.name + " found something else");
            }
        }
    }
    Table table({std::to_string(bytes / 1'000'000) + " MB of CSV, best of rounds", "million rows/s",
                 "MB/s", "million rows per CPU s", "CPU s", "x file source"});
    for (const Contestant& one : all) {
        const auto count = static_cast<double>(rows);
        table.add({one.name, text(count / one.seconds / 1e6, 1),
                   text(static_cast<double>(bytes) / one.seconds / 1e6),
                   text(count / one.cpu / 1e6, 1), text(one.cpu, 2),
                   text(all[0].cpu / one.cpu, 2)});
    }
    std::printf("%s\n\n", load.c_str());
    table.print();
}

}  // namespace
}  // namespace baton::bench

int main(int count, char** values) {
    baton::bench::measure(baton::bench::arguments_of(count, values));
    return 0;
}
