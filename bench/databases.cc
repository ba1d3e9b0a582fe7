// databases: durable requests on each database that a catalog can be in, in process, beside each
// other; and what a request costs on the way to a server: statements, and trips there and back.
//
//     bench_databases [--tiny] [clients..]
//
// Each database is on the disk, with syncs as its makers ship it. Trips are counted by a relay
// between the coordinator and the server, in a run of its own: it costs time. Statements are those
// that the coordinator gave to the port.
#include <atomic>
#include <filesystem>
#include <functional>

#include "bench/harness.h"
#include "catalog/schema.h"
#include "coordinator/sessions/session.h"
#include "testing/faulty_sql.h"
#include "testing/servers/database_server.h"
#include "testing/servers/relay.h"

namespace baton::bench {
namespace {

using testing::DatabaseServer;
using testing::FaultySqlDatabase;
using testing::Relay;
using testing::ServerKind;
using testing::SqlCall;

// Where servers may write, which do not run as root.
std::string place_of(const Arguments& arguments) {
    return arguments.directory.empty() ? std::filesystem::temp_directory_path().string()
                                       : arguments.directory;
}

std::string source_statement(std::uint64_t number) {
    return "CREATE LOGICAL SOURCE n" + std::to_string(number) +
           " (sensor UINT64 NOT NULL, celsius FLOAT64, ts UINT64 NOT NULL, place VARSIZED)";
}

// A coordinator and its clients.
class Side {
public:
    explicit Side(std::unique_ptr<SqlDatabase> database)
        : coordinator_(must(coordinator::CoordinatorRuntime::open(std::move(database), clock_))) {}

    Measured run(unsigned clients, Seconds time) {
        while (sessions_.size() < clients) {
            sessions_.push_back(std::make_unique<coordinator::Session>(*coordinator_, "bench"));
        }
        return run_clients(clients, time, [&](unsigned client) {
            const coordinator::Execution done =
                sessions_[client]->execute(source_statement(next_++));
            if (done.error) give_up(to_string(*done.error));
        });
    }

private:
    system::SystemClock clock_;
    std::unique_ptr<coordinator::CoordinatorRuntime> coordinator_;
    std::vector<std::unique_ptr<coordinator::Session>> sessions_;
    std::atomic<std::uint64_t> next_ = 0;
};

std::uint64_t statements_of(const FaultySqlDatabase& database) {
    std::uint64_t sum = 0;
    for (const SqlCall call :
         {SqlCall::begin, SqlCall::read, SqlCall::write, SqlCall::savepoint, SqlCall::commit}) {
        sum += database.calls(call);
    }
    return sum;
}

class Benchmark {
public:
    explicit Benchmark(const Arguments& arguments)
        : tiny_(arguments.tiny),
          place_(place_of(arguments)),
          scratch_(arguments),
          postgres_(ServerKind::postgres, place_),
          mariadb_(ServerKind::mariadb, place_) {
        sqlite::SqliteOptions file;
        file.path = scratch_ / "catalog.db";
        file.create = true;
        file.initialise = catalog::migrate;
        sides_.emplace_back("SQLite", std::make_unique<Side>(must(sqlite::open_sqlite(file))));
        sides_.emplace_back("PostgreSQL", std::make_unique<Side>(open(postgres_)));
        sides_.emplace_back("MariaDB", std::make_unique<Side>(open(mariadb_)));
    }

    void rates(unsigned clients) {
        const Seconds time(tiny_ ? 0.05 : 2.0);
        std::vector<Contender> contenders;
        for (const auto& [name, side] : sides_) {
            contenders.push_back(
                {name, [&, side = side.get()] { return side->run(clients, time); }});
        }
        take_turns(contenders, tiny_ ? 1 : 5);
        Table table({std::to_string(clients) + (clients == 1 ? " client" : " clients"),
                     "requests/s", "best", "p50", "p99", "CPU us each"});
        for (const Contender& each : contenders) {
            Latencies latencies = each.latencies();
            table.add({each.name, text(each.median_rate()), text(each.best_rate()),
                       milliseconds(latencies.percentile(50)),
                       milliseconds(latencies.percentile(99)), text(each.cpu_us(), 1)});
        }
        table.print();
    }

    void trips(const std::vector<unsigned>& clients) {
        Table table({"a request on", "clients", "statements", "trips, one by one", "trips"});
        count("PostgreSQL", postgres_, clients, table);
        count("MariaDB", mariadb_, clients, table);
        table.print();
    }

private:
    static std::unique_ptr<SqlDatabase> open(DatabaseServer& server) {
        return must(open_server_database(server.kind(), server.new_database(), catalog::migrate));
    }

    // Requests of `clients` through a relay: how often each of the counters moved for one of them.
    std::vector<double> each(Side& side, unsigned clients,
                             const std::vector<std::function<std::uint64_t()>>& counters) const {
        std::vector<std::uint64_t> before;
        for (const auto& counter : counters) before.push_back(counter());
        const Measured measured = side.run(clients, Seconds(tiny_ ? 0.05 : 2.0));
        std::vector<double> result;
        for (std::size_t i = 0; i < counters.size(); ++i) {
            result.push_back(static_cast<double>(counters[i]() - before[i]) /
                             static_cast<double>(measured.operations));
        }
        return result;
    }

    void count(const std::string& name, DatabaseServer& server,
               const std::vector<unsigned>& clients, Table& table) const {
        const Relay relay(server.port());
        const auto trips = [&] { return relay.round_trips(); };
        const auto open_here = [&] {
            return must(open_server_database(server.kind(), relay.instead_in(server.new_database()),
                                             catalog::migrate));
        };
        // Who counts statements sees them one by one, so each takes a trip.
        const auto real = open_here();
        auto counting = std::make_unique<FaultySqlDatabase>(*real, nullptr);
        const auto statements = [counted = counting.get()] { return statements_of(*counted); };
        Side one_by_one(std::move(counting));
        Side together(open_here());
        for (Side* side : {&one_by_one, &together}) (void)side->run(1, Seconds(0.05));  // prepares
        for (const unsigned n : clients) {
            const auto single = each(one_by_one, n, {statements, trips});
            const auto joined = each(together, n, {trips});
            table.add({name, std::to_string(n), text(single[0], 2), text(single[1], 2),
                       text(joined[0], 2)});
        }
    }

    const bool tiny_;
    const std::string place_;
    Scratch scratch_;
    DatabaseServer postgres_;
    DatabaseServer mariadb_;
    std::vector<std::pair<std::string, std::unique_ptr<Side>>> sides_;
};

}  // namespace
}  // namespace baton::bench

int main(int count, char** values) {
    using namespace baton::bench;
    const Arguments arguments = arguments_of(count, values);
    std::vector<unsigned> clients;
    for (const std::string& word : arguments.rest) {
        clients.push_back(static_cast<unsigned>(std::stoul(word)));
    }
    if (clients.empty()) clients = {1, 32};
    Benchmark benchmark(arguments);
    for (const unsigned n : clients) benchmark.rates(n);
    benchmark.trips(clients);
    return 0;
}
