// two_workers: rows that pass from one worker process to another over an exchange.
//
//   pass_through  a CSV file is read on W1 and its rows go to W2, which keeps nothing, or writes
//                 them to a file. Beside it, taking turns: the same within W1 alone, and a plain
//                 copy of the same bytes by TCP from one process to another (256 KiB a read).
//                 CPU seconds are those of both workers, or of both processes of the copy.
//   latency       rows come to W1 by TCP from this process, pass to W2, and come back through a
//                 named pipe that W2's File sink writes. Each row holds the time at which it was
//                 due to be sent (so if sending is held up, that counts); what is taken is from
//                 then until this process has read the row, for every row after the first second.
//                 1,000 rows/s are sent one by one, 100,000/s ten at a time. Beside it the same way
//                 through two processes that only copy bytes.
//
//     bench_two_workers [--tiny] [MILLION_ROWS]
#include <charconv>
#include <csignal>
#include <thread>

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "bench/cluster.h"
#include "bench/keyed_csv.h"
#include "bench/sockets.h"

namespace baton::bench {
namespace {

using namespace std::chrono_literals;

const std::string kOnW1 = "'W1' AS \"SOURCE\".\"HOST\"";

// ---- pass_through -------------------------------------------------------------------------------

struct Contestant {
    std::string name;
    std::function<double()> turn;  // CPU seconds that it took
    double cpu = 1e9;
    double seconds = 1e9;
};

double copy_plainly(const std::string& in) {
    const Listening listening = listen_here();
    Forked to([&] { copy_whole(*accept_from(listening), -1); });
    Forked from([&] {
        const Descriptor file(::open(in.c_str(), O_RDONLY | O_CLOEXEC));
        copy_whole(*file, *connect_to(listening.port));
    });
    const double before = children_seconds();
    from.wait();
    to.wait();
    return children_seconds() - before;
}

void pass_through(const Arguments& arguments, const Scratch& scratch, Cluster& cluster) {
    std::uint64_t rows = arguments.tiny ? 20'000 : 10'000'000;
    if (!arguments.rest.empty()) rows = std::stoull(arguments.rest.front()) * 1'000'000;
    const std::string in = scratch / "in.csv";
    const std::uint64_t bytes = write_keyed_csv(in, rows);
    cluster.run("CREATE LOGICAL SOURCE s " + keyed_schema() +
                "; CREATE PHYSICAL SOURCE FOR s TYPE File SET (" + kOnW1 + ", '" + in +
                "' AS SOURCE.FILE_PATH, 'CSV' AS INPUT_FORMATTER.TYPE)");
    for (const std::string name : {"W1", "W2"}) {
        cluster.run("CREATE SINK void_" + name + keyed_schema() + " TYPE Void SET ('" + name +
                    "' AS \"SINK\".\"HOST\"); CREATE SINK file_" + name + keyed_schema() +
                    " TYPE File SET ('" + name + "' AS \"SINK\".\"HOST\", '" +
                    (scratch / (name + ".csv")) +
                    "' AS SINK.FILE_PATH, 'CSV' AS OUTPUT_FORMATTER.TYPE)");
    }
    const auto query = [&](const std::string& sink) {
        return [&cluster, sink] {
            const double before = cluster.cpu_seconds();
            cluster.run("SELECT * FROM s INTO " + sink, {.until = Wait::Until::ended});
            return cluster.cpu_seconds() - before;
        };
    };
    std::vector<Contestant> all = {
        {.name = "TCP copy, two processes", .turn = [&] { return copy_plainly(in); }},
        {.name = "W1 to W2, kept nowhere", .turn = query("void_W2")},
        {.name = "W1 alone, kept nowhere", .turn = query("void_W1")},
        {.name = "W1 to W2, to a file", .turn = query("file_W2")},
        {.name = "W1 alone, to a file", .turn = query("file_W1")}};
    for (int round = 0; round < (arguments.tiny ? 1 : 3); ++round) {
        for (Contestant& one : all) {
            const auto began = Clock::now();
            one.cpu = std::min(one.cpu, one.turn());
            one.seconds = std::min(one.seconds, Seconds(Clock::now() - began).count());
        }
    }
    Table table({std::to_string(bytes / 1'000'000) + " MB of CSV, best of rounds", "MB/s",
                 "million rows/s", "million rows per CPU s", "CPU s", "x TCP copy"});
    for (const Contestant& one : all) {
        const auto count = static_cast<double>(rows);
        table.add({one.name, text(static_cast<double>(bytes) / one.seconds / 1e6),
                   text(count / one.seconds / 1e6, 1), text(count / one.cpu / 1e6, 1),
                   text(one.cpu, 2), text(all[0].seconds / one.seconds, 2)});
    }
    table.print();
}

// ---- latency ------------------------------------------------------------------------------------

std::uint64_t now_ns() {
    return static_cast<std::uint64_t>(Clock::now().time_since_epoch().count());
}

struct Pace {
    std::uint64_t rows_per_second = 0;
    std::uint64_t rows_at_once = 1;
    double seconds = 0;
};

// Sends rows "due,number" at that pace.
void send_rows(const Pace& pace, int to) {
    ::prctl(PR_SET_TIMERSLACK, 1);
    const std::uint64_t every = 1'000'000'000 * pace.rows_at_once / pace.rows_per_second;
    const auto bursts = static_cast<std::uint64_t>(pace.seconds * 1e9) / every;
    const std::uint64_t began = now_ns();
    std::string text;
    for (std::uint64_t i = 0; i < bursts; ++i) {
        const std::uint64_t due = began + i * every;
        std::this_thread::sleep_until(Clock::time_point(std::chrono::nanoseconds(due)));
        text.clear();
        for (std::uint64_t j = 0; j < pace.rows_at_once; ++j) {
            text += std::to_string(due) + "," + std::to_string(i * pace.rows_at_once + j) + "\n";
        }
        if (!write_whole(to, text)) give_up("nobody takes the rows");
    }
}

// Of every row that was due after the first second.
Latencies read_rows(int from) {
    Latencies took;
    std::string kept;
    std::vector<char> portion(256 << 10);
    std::uint64_t first = 0;
    for (;;) {
        const auto count = ::read(from, portion.data(), portion.size());
        if (count < 0 && errno == EINTR) continue;
        if (count <= 0) return took;
        const std::uint64_t now = now_ns();
        kept.append(portion.data(), static_cast<std::size_t>(count));
        std::size_t at = 0;
        for (std::size_t end = 0; (end = kept.find('\n', at)) != std::string::npos; at = end + 1) {
            std::uint64_t due = 0;
            std::from_chars(kept.data() + at, kept.data() + end, due);
            if (due == 0) continue;  // the header
            if (first == 0) first = due;
            if (due >= first + 1'000'000'000) took.add(static_cast<double>(now - due) / 1e3);
        }
        kept.erase(0, at);
    }
}

// The reader ends when the writer closes the pipe.
Latencies measure_rows(const Pace& pace, const Listening& listening, int pipe) {
    Latencies took;
    Descriptor to = accept_from(listening);
    std::thread reader([&] { took = read_rows(pipe); });
    send_rows(pace, *to);
    to = Descriptor();
    reader.join();
    return took;
}

// A pipe that is open for reading before anybody writes, and then waits for him.
Descriptor open_pipe(const std::string& path) {
    if (::mkfifo(path.c_str(), 0600) != 0) give_up("cannot make " + path);
    Descriptor pipe(::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
    return pipe;
}
void wait_at(int pipe) {
    ::fcntl(pipe, F_SETFL, 0);
}

Latencies through_baton(const Pace& pace, const Scratch& scratch, Cluster& cluster) {
    const std::string name = "r" + std::to_string(pace.rows_per_second);
    const Listening listening = listen_here();
    const std::string path = scratch / name;
    const Descriptor pipe = open_pipe(path);
    cluster.run("CREATE LOGICAL SOURCE " + name +
                " (due UINT64 NOT NULL, i UINT64 NOT NULL); CREATE PHYSICAL SOURCE FOR " + name +
                " TYPE TCP SET (" + kOnW1 + ", '127.0.0.1' AS SOURCE.SOCKET_HOST, " +
                std::to_string(listening.port) +
                " AS SOURCE.SOCKET_PORT, 'CSV' AS INPUT_FORMATTER.TYPE); CREATE SINK k" + name +
                " (due UINT64 NOT NULL, i UINT64 NOT NULL) TYPE File SET ('W2' AS "
                "\"SINK\".\"HOST\", '" +
                path + "' AS SINK.FILE_PATH, 'CSV' AS OUTPUT_FORMATTER.TYPE)");
    cluster.run("CREATE QUERY q" + name + " AS SELECT due, i FROM " + name + " INTO k" + name,
                {.until = Wait::Until::steady});
    wait_at(*pipe);
    return measure_rows(pace, listening, *pipe);
}

Latencies through_copies(const Pace& pace, const Scratch& scratch) {
    const std::string path = scratch / ("plain" + std::to_string(pace.rows_per_second));
    const Listening feed = listen_here();
    const Listening middle = listen_here();
    const Descriptor pipe = open_pipe(path);
    Forked second([&] {
        const Descriptor out(::open(path.c_str(), O_WRONLY | O_CLOEXEC));
        const Descriptor from = accept_from(middle);
        copy_whole(*from, *out);
    });
    Forked first([&] {
        const Descriptor to = connect_to(middle.port);
        copy_whole(*connect_to(feed.port), *to);
    });
    std::this_thread::sleep_for(200ms);  // until the pipe has a writer
    wait_at(*pipe);
    return measure_rows(pace, feed, *pipe);
}

void latency(const Arguments& arguments, const Scratch& scratch, Cluster& cluster) {
    Table table({"from due to read back", "rows taken", "p50", "p90", "p99", "p99.9", "most",
                 "CPU of both workers"});
    const auto add = [&](const std::string& what, Latencies took, double cores) {
        table.add({what, text(static_cast<double>(took.count())), milliseconds(took.percentile(50)),
                   milliseconds(took.percentile(90)), milliseconds(took.percentile(99)),
                   milliseconds(took.percentile(99.9)), milliseconds(took.percentile(100)),
                   cores > 0 ? text(100 * cores) + " %" : ""});
    };
    const double seconds = arguments.tiny ? 1.2 : 6;
    for (const Pace& pace : {Pace{1'000, 1, seconds}, Pace{100'000, 10, seconds}}) {
        const std::string rate = text(static_cast<double>(pace.rows_per_second)) + " rows/s, ";
        const double before = cluster.cpu_seconds();
        Latencies ours = through_baton(pace, scratch, cluster);
        add(rate + "W1 to W2", std::move(ours), (cluster.cpu_seconds() - before) / seconds);
        add(rate + "two copying processes", through_copies(pace, scratch), 0);
    }
    table.print();
}

void measure(const Arguments& arguments) {
    std::signal(SIGPIPE, SIG_IGN);
    const Scratch scratch(arguments);
    Cluster cluster(scratch, 2, Cluster::Links::chain);
    std::printf("%s\n\n", load_now().c_str());
    latency(arguments, scratch, cluster);
    pass_through(arguments, scratch, cluster);
}

}  // namespace
}  // namespace baton::bench

int main(int count, char** values) {
    baton::bench::measure(baton::bench::arguments_of(count, values));
    return 0;
}
