// recover_100k: a catalog with 100,000 queries, 10,000 workers and 50,000 physical sources, whose
// process was killed while it wrote: how long until it serves again, how much memory it takes, and
// how quickly it answers lookups and filtered SHOWs.
//
// The program starts itself: `hold` opens a catalog and writes to it until it is killed, `open`
// measures in a process that has nothing else in its memory.
#include <array>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <thread>

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/prng.h"
#include "bench/harness.h"
#include "bench/population.h"
#include "catalog/schema.h"
#include "coordinator/sessions/session.h"

namespace baton::bench {
namespace {

namespace fs = std::filesystem;

Population population_of(bool tiny) {
    if (!tiny) return {};
    return {.workers = 12, .sources_per_worker = 2, .queries = 60, .failed = 3};
}

// Built once, kept beside the programs.
std::string prepared_catalog(const Arguments& arguments, const Scratch& scratch) {
    const std::string cached = arguments.tiny
                                   ? scratch / "prepared.db"
                                   : arguments.directory + "/recover_100k_v" +
                                         std::to_string(catalog::schema_version()) + ".db";
    if (fs::exists(cached)) return cached;
    const std::string draft = scratch / "draft.db";
    const auto start = Clock::now();
    {
        const auto catalog = open_catalog(draft);
        populate(*catalog->coordinator, population_of(arguments.tiny));
    }
    std::printf("prepared in %s s\n", text(Seconds(Clock::now() - start).count(), 1).c_str());
    fs::rename(draft, cached);
    return cached;
}

pid_t start(const std::vector<std::string>& arguments, int output) {
    const pid_t child = ::fork();
    if (child != 0) return child;
    if (output >= 0) ::dup2(output, STDOUT_FILENO);
    std::vector<char*> raw;
    std::string self = "/proc/self/exe";
    raw.push_back(self.data());
    for (const std::string& argument : arguments) raw.push_back(const_cast<char*>(argument.data()));
    raw.push_back(nullptr);
    ::execv(self.c_str(), raw.data());
    ::_exit(127);
}

// Lets a process write to the catalog and kills it in the midst of that.
void use_and_kill(const std::string& path, bool tiny) {
    std::array<int, 2> pipe{};
    if (::pipe2(pipe.data(), O_CLOEXEC) != 0) give_up("no pipe");
    const pid_t child = start({"hold", path}, pipe[1]);
    ::close(pipe[1]);
    char ready = 0;
    if (::read(pipe[0], &ready, 1) != 1) give_up("the process to kill did not start");
    std::this_thread::sleep_for(std::chrono::milliseconds(tiny ? 20 : 1000));
    ::kill(child, SIGKILL);
    int status = 0;
    ::waitpid(child, &status, 0);
    ::close(pipe[0]);
    if (!WIFSIGNALED(status)) give_up("the process ended before it was killed");
}

int hold(const std::string& path) {
    const auto catalog = open_catalog(path);
    if (::write(STDOUT_FILENO, "r", 1) != 1) return 1;
    for (unsigned i = 0;; ++i) {
        run_all(*catalog->coordinator, "CREATE LOGICAL SOURCE held" + std::to_string(i) +
                                           " (a UINT64 NOT NULL, b FLOAT64)");
    }
}

// ---- in a process of its own --------------------------------------------------------------------

struct Lookup {
    std::string name;
    std::function<std::string(Prng&)> statement;
};

std::vector<Lookup> lookups(const Population& p) {
    const auto any = [](Prng& prng, unsigned below) {
        return std::to_string(prng.between(0, below - 1));
    };
    const auto edge = [p](Prng& prng) {
        return "'" + worker_name(static_cast<unsigned>(prng.between(0, p.edges() - 1))) + "'";
    };
    return {
        {"SHOW QUERIES WHERE NAME =",
         [=](Prng& r) { return "SHOW QUERIES WHERE name = 'Q" + any(r, p.queries) + "'"; }},
        {"SHOW QUERIES WHERE ID =",
         [=](Prng& r) { return "SHOW QUERIES WHERE id = " + any(r, p.queries); }},
        {"SELECT .. FROM baton.queries WHERE id =",
         [=](Prng& r) {
             return "SELECT name, state FROM baton.queries WHERE id = " + any(r, p.queries);
         }},
        {"SHOW QUERIES WHERE STATE = 'FAILED'",
         [](Prng&) { return "SHOW QUERIES WHERE state = 'FAILED'"; }},
        {"SHOW PHYSICAL SOURCES FOR",
         [=](Prng& r) { return "SHOW PHYSICAL SOURCES FOR readings" + any(r, p.edges()); }},
        {"SHOW PHYSICAL SOURCES WHERE WORKER =",
         [=](Prng& r) { return "SHOW PHYSICAL SOURCES WHERE worker = " + edge(r); }},
        {"SHOW LOGICAL SOURCES WHERE NAME =",
         [=](Prng& r) {
             return "SHOW LOGICAL SOURCES WHERE name = 'READINGS" + any(r, p.edges()) + "'";
         }},
        {"SHOW SINKS WHERE NAME =",
         [=](Prng& r) { return "SHOW SINKS WHERE name = 'SINK" + any(r, p.edges()) + "'"; }},
        {"SHOW SINKS WHERE WORKER =",
         [=](Prng& r) { return "SHOW SINKS WHERE worker = " + edge(r); }},
        {"SHOW FRAGMENTS WHERE QUERY_NAME =",
         [=](Prng& r) { return "SHOW FRAGMENTS WHERE query_name = 'Q" + any(r, p.queries) + "'"; }},
        {"SHOW FRAGMENTS WHERE WORKER =",
         [=](Prng& r) { return "SHOW FRAGMENTS WHERE worker = " + edge(r); }},
        {"SELECT .. FROM baton.fragments WHERE query =",
         [=](Prng& r) {
             return "SELECT * FROM baton.fragments WHERE query = " + any(r, p.queries);
         }},
        {"SHOW WORKERS WHERE NAME =",
         [=](Prng& r) { return "SHOW WORKERS WHERE name = " + edge(r); }},
        {"SHOW WORKERS WHERE STATE = 'UNREACHABLE'",
         [](Prng&) { return "SHOW WORKERS WHERE state = 'UNREACHABLE'"; }},
        {"SHOW LINKS WHERE DOWNSTREAM =",
         [=](Prng& r) {
             return "SHOW LINKS WHERE downstream = 'hub" + any(r, p.hubs()) + ":9090'";
         }},
        {"SHOW STATEMENTS WHERE ID =",
         [=](Prng& r) { return "SHOW STATEMENTS WHERE id = " + any(r, p.queries); }},
        {"SHOW STATEMENTS WHERE OUTCOME = 'ERROR'",
         [](Prng&) { return "SHOW STATEMENTS WHERE outcome = 'ERROR'"; }},
        {"SELECT .. FROM baton.changes WHERE revision =",
         [](Prng& r) {
             return "SELECT * FROM baton.changes WHERE revision = " +
                    std::to_string(r.between(1, 1000));
         }},
    };
}

// What a lookup takes on a machine that has nothing else to do.
double thread_cpu_us() {
    timespec time{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return 1e6 * static_cast<double>(time.tv_sec) + 1e-3 * static_cast<double>(time.tv_nsec);
}

template <class Operation>
void time_lookup(Table& table, const std::string& name, unsigned times, Operation operation) {
    Latencies latencies;
    Latencies cpu;
    double rows = 0;
    for (unsigned i = 0; i < times; ++i) {
        const auto before = Clock::now();
        const double cpu_before = thread_cpu_us();
        rows += static_cast<double>(operation());
        cpu.add(thread_cpu_us() - cpu_before);
        latencies.add(1e6 * Seconds(Clock::now() - before).count());
    }
    table.add({name, text(rows / times, 1), text(latencies.percentile(50)) + " us",
               text(latencies.percentile(99)) + " us", text(cpu.percentile(99)) + " us"});
}

void measure_lookups(coordinator::CoordinatorRuntime& coordinator, const Population& population,
                     unsigned times) {
    Table table({"lookup", "rows", "p50", "p99", "p99 of CPU time"});
    coordinator::Session session(coordinator, "bench");
    Prng prng(1);
    for (const Lookup& lookup : lookups(population)) {
        time_lookup(table, lookup.name, times, [&] {
            const coordinator::Execution done = session.execute(lookup.statement(prng));
            if (done.error) give_up(to_string(*done.error));
            return std::get<views::Table>(done.results.front().value).rows.size();
        });
    }
    const auto snapshot = must(coordinator.snapshot());
    const catalog::Reader reader = snapshot.read();
    time_lookup(table, "typed query by name", times, [&] {
        return must(reader.query("Q" + std::to_string(prng.between(0, population.queries - 1))))
                   ? 1
                   : 0;
    });
    time_lookup(table, "typed worker by name", times, [&] {
        const auto edge = static_cast<unsigned>(prng.between(0, population.edges() - 1));
        return must(reader.worker(worker_name(edge))) ? 1 : 0;
    });
    table.print();
}

struct Opened {
    std::unique_ptr<Catalog> catalog;
    double database_ms = 0;
    double coordinator_ms = 0;
    double first_answer_ms = 0;
};

Opened open_timed(const std::string& path, bool check_pages) {
    Opened opened;
    opened.catalog = std::make_unique<Catalog>();
    const auto lap = [last = Clock::now()]() mutable {
        const auto now = Clock::now();
        return 1e3 * Seconds(now - std::exchange(last, now)).count();
    };
    auto timer = lap;
    sqlite::SqliteOptions options;
    options.path = path;
    if (check_pages) options.check_bytes_max = std::int64_t{1} << 40;
    auto database = must(sqlite::open_sqlite(options));
    opened.database_ms = timer();
    opened.catalog->coordinator =
        must(coordinator::CoordinatorRuntime::open(std::move(database), opened.catalog->clock));
    opened.coordinator_ms = timer();
    run_all(*opened.catalog->coordinator, "SHOW QUERIES WHERE name = 'Q1'");
    opened.first_answer_ms = timer();
    return opened;
}

// Prints a row of the table of starts; with `lookups` also those and the memory.
int open(const std::string& path, bool check_pages, bool lookups, bool tiny) {
    const std::uint64_t before = resident_bytes();
    const Opened opened = open_timed(path, check_pages);
    const double total = opened.database_ms + opened.coordinator_ms + opened.first_answer_ms;
    std::printf("| %s | %s | %s | %s | %s |\n",
                check_pages ? "every page looked at" : "not looked at",
                text(opened.database_ms, 1).c_str(), text(opened.coordinator_ms, 1).c_str(),
                text(opened.first_answer_ms, 1).c_str(), text(total, 1).c_str());
    if (!lookups) return 0;
    const double mb = 1 << 20;
    std::printf("\nresident: %s MB before open, %s MB after\n\n",
                text(static_cast<double>(before) / mb, 1).c_str(),
                text(static_cast<double>(resident_bytes()) / mb, 1).c_str());
    measure_lookups(*opened.catalog->coordinator, population_of(tiny), tiny ? 20 : 2000);
    std::printf("resident after the lookups: %s MB\n",
                text(static_cast<double>(resident_bytes()) / mb, 1).c_str());
    return 0;
}

void wait_for(pid_t child) {
    int status = 0;
    ::waitpid(child, &status, 0);
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) give_up("a measuring process failed");
}

void run(const Arguments& arguments) {
    const Scratch scratch(arguments);
    const std::string prepared = prepared_catalog(arguments, scratch);
    std::printf("catalog: %s MB\n\n",
                text(static_cast<double>(file_bytes(prepared)) / (1 << 20)).c_str());
    std::printf(
        "| pages | open_sqlite ms | CoordinatorRuntime::open ms | first SHOW ms | serving ms |\n");
    std::printf("|---|---:|---:|---:|---:|\n");
    const unsigned rounds = arguments.tiny ? 1 : 3;
    const std::string path = scratch / "catalog.db";
    for (unsigned i = 0; i < rounds; ++i) {
        for (const std::string how : {"check", "quick"}) {
            const bool last = i + 1 == rounds && how == "quick";
            fs::copy_file(prepared, path, fs::copy_options::overwrite_existing);
            use_and_kill(path, arguments.tiny);
            std::fflush(stdout);
            std::vector<std::string> command = {"open", path, how, last ? "lookups" : "only"};
            if (arguments.tiny) command.emplace_back("--tiny");
            wait_for(start(command, -1));
        }
    }
}

}  // namespace
}  // namespace baton::bench

int main(int count, char** values) {
    using namespace baton::bench;
    const Arguments arguments = arguments_of(count, values);
    const auto& rest = arguments.rest;
    if (rest.size() == 2 && rest[0] == "hold") return hold(rest[1]);
    if (rest.size() == 4 && rest[0] == "open") {
        return open(rest[1], rest[2] == "check", rest[3] == "lookups", arguments.tiny);
    }
    run(arguments);
    return 0;
}
