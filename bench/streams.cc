// streams: what many control connections cost. A process with as many workers' ends as are asked
// for, each on a port of its own, and a coordinator that looks after all of them by default
// settings: how long until all are ACTIVE, and then, while nothing happens, its threads, its memory
// and its processor time for each beat and its answer.
//
//     bench_streams [--tiny] [WORKERS]      1000 by default
#include <algorithm>
#include <cstdio>
#include <fstream>
#include <map>
#include <mutex>
#include <thread>

#include <sys/wait.h>
#include <unistd.h>

#include "adapters/grpc/control_server.h"
#include "adapters/grpc/grpc_server.h"
#include "adapters/grpc/grpc_transport.h"
#include "base/overload.h"
#include "bench/harness.h"
#include "bench/measure.h"
#include "catalog/schema.h"

namespace baton::bench {
namespace {

using namespace std::chrono_literals;

std::string name_of(std::size_t number) {
    return "W" + std::to_string(number);
}

// A worker that has nothing and says so.
struct IdleWorker {
    explicit IdleWorker(std::size_t number) : control({.worker = name_of(number)}) {
        control.listen([this](const sessions::Event& event) {
            std::visit(Overload{
                           [&](const sessions::Greeted& e) {
                               control.welcome(e.session,
                                               control::Welcome{.incarnation = Incarnation(1)});
                           },
                           [&](const sessions::MessageArrived& e) {
                               const auto* beat = std::get_if<control::Beat>(&e.message);
                               if (beat == nullptr) return;
                               control.send(e.session, control::Pulse{.beat = beat->number});
                           },
                           [](const sessions::HungUp&) {},
                       },
                       event);
        });
        server = must(rpc::GrpcServer::start({.listen = {{.host = "127.0.0.1", .port = 0}}},
                                             {&control.service()}));
    }

    rpc::ControlServer control;
    std::unique_ptr<rpc::GrpcServer> server;
};

// In a process of its own: writes the ports, and lives until its input ends.
[[noreturn]] void be_workers(std::size_t count, int ports, int until) {
    std::vector<std::unique_ptr<IdleWorker>> workers;
    for (std::size_t i = 0; i < count; ++i) {
        workers.push_back(std::make_unique<IdleWorker>(i));
        const std::uint16_t port = workers.back()->server->ports().at(0);
        if (write(ports, &port, sizeof port) != sizeof port) _exit(1);
    }
    char end = 0;
    (void)!read(until, &end, 1);
    _exit(0);
}

std::size_t threads() {
    std::ifstream status("/proc/self/status");
    for (std::string line; std::getline(status, line);) {
        if (line.starts_with("Threads:")) return std::stoul(line.substr(8));
    }
    return 0;
}

std::size_t active(coordinator::CoordinatorRuntime& coordinator) {
    auto snapshot = must(coordinator.snapshot());
    const auto rows = must(snapshot.sql().query(
        "SELECT COUNT(*) FROM worker WHERE state = 'ACTIVE' AND incarnation IS NOT NULL"));
    return static_cast<std::size_t>(std::get<std::int64_t>(rows.at(0).at(0)));
}

void measure(const Arguments& arguments) {
    std::size_t count = arguments.tiny ? 5 : 1'000;
    if (!arguments.rest.empty()) count = std::stoul(arguments.rest.front());
    int ports[2];
    int until[2];
    if (pipe(ports) != 0 || pipe(until) != 0) give_up("no pipes");
    const pid_t child = fork();
    if (child == 0) {
        close(until[1]);
        be_workers(count, ports[1], until[0]);
    }
    close(ports[1]);
    close(until[0]);
    std::string statements = "BEGIN;";
    for (std::size_t i = 0; i < count; ++i) {
        std::uint16_t port = 0;
        if (read(ports[0], &port, sizeof port) != sizeof port) give_up("the workers ended");
        statements += "CREATE WORKER '127.0.0.1:" + std::to_string(port) + "' SET ('" + name_of(i) +
                      "' AS NAME);";
    }

    const Scratch scratch(arguments);
    const system::SystemClock clock;
    auto transport = std::make_unique<rpc::GrpcTransport>();
    coordinator::CoordinatorOptions options;
    options.transport = transport.get();
    sqlite::SqliteOptions catalog{.path = scratch / "catalog.db"};
    catalog.create = true;
    catalog.initialise = [](Sql& sql) { return catalog::migrate(sql); };
    auto database = must(sqlite::open_sqlite(catalog));
    auto coordinator =
        must(coordinator::CoordinatorRuntime::open(std::move(database), clock, options));
    const std::uint64_t before = resident_bytes();
    const auto began = Clock::now();
    run_all(*coordinator, statements + "COMMIT");
    while (active(*coordinator) < count) std::this_thread::sleep_for(5ms);
    const double all_there = Seconds(Clock::now() - began).count();

    const double cpu = cpu_seconds();
    const auto from = Clock::now();
    std::this_thread::sleep_for(arguments.tiny ? 1s : 20s);
    const double seconds = Seconds(Clock::now() - from).count();
    const double spent = cpu_seconds() - cpu;
    const bool stayed = active(*coordinator) == count;
    std::printf(
        "%zu workers: all ACTIVE after %.2f s; then, over %.0f s, %zu threads, %.1f KB and "
        "%.0f us of the processor a beat for each (%.1f %% of a core)%s\n",
        count, all_there, seconds, threads(),
        static_cast<double>(resident_bytes() - before) / 1024 / static_cast<double>(count),
        spent / seconds / static_cast<double>(count) * 1e6, 100 * spent / seconds,
        stayed ? "" : "; SOME WERE LOST");
    coordinator.reset();
    transport.reset();
    close(until[1]);
    waitpid(child, nullptr, 0);
}

}  // namespace
}  // namespace baton::bench

int main(int argc, char** argv) {
    baton::bench::measure(baton::bench::arguments_of(argc, argv));
    return 0;
}
