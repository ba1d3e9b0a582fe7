#include "bench/population.h"

#include <atomic>
#include <functional>
#include <thread>
#include <vector>

#include "bench/harness.h"

namespace baton::bench {

namespace {

constexpr unsigned kClients = 8;
constexpr unsigned kPerTransaction = 100;

std::string columns() {
    return " (sensor UINT64 NOT NULL, celsius FLOAT64, ts UINT64 NOT NULL)";
}

std::string hub_name(unsigned hub) {
    return "hub" + std::to_string(hub) + ":9090";
}

std::string hub(unsigned number) {
    const std::string n = std::to_string(number);
    return "CREATE WORKER '" + hub_name(number) +
           "' SET (100000 AS CAPACITY); CREATE SINK hub_sink" + n + columns() +
           " TYPE Void SET ('" + hub_name(number) + "' AS \"SINK\".\"HOST\");";
}

std::string edge(const Population& population, unsigned number) {
    const std::string n = std::to_string(number);
    const std::string name = "'" + worker_name(number) + "'";
    std::string text = "CREATE WORKER " + name + " SET (64 AS CAPACITY, '" +
                       hub_name(number % population.hubs()) + "' AS DOWNSTREAM);";
    text += "CREATE SINK sink" + n + columns() + " TYPE File SET (" + name +
            " AS \"SINK\".\"HOST\", '/data/alerts.csv' AS \"SINK\".FILE_PATH, 'CSV' AS "
            "OUTPUT_FORMATTER.\"TYPE\");";
    text += "CREATE LOGICAL SOURCE readings" + n + columns() + ";";
    for (unsigned i = 0; i < population.sources_per_worker; ++i) {
        text += "CREATE PHYSICAL SOURCE FOR readings" + n + " TYPE File SET (" + name +
                " AS \"SOURCE\".\"HOST\", '/data/readings" + std::to_string(i) +
                ".csv' AS \"SOURCE\".FILE_PATH, 'CSV' AS INPUT_FORMATTER.\"TYPE\");";
    }
    return text;
}

std::string query(const Population& population, unsigned number) {
    const unsigned at = number % population.edges();
    const std::string n = std::to_string(at);
    const bool here = number / population.edges() % 2 == 0;
    return "CREATE QUERY q" + std::to_string(number) +
           " AS SELECT sensor, celsius, ts FROM readings" + n + " WHERE celsius > 30.0 INTO " +
           (here ? "sink" + n : "hub_sink" + std::to_string(at % population.hubs())) + ";";
}

// What `make` gives for each number below `count`, in transactions of some statements each.
void in_transactions(coordinator::CoordinatorRuntime& coordinator, unsigned count, unsigned at_once,
                     const std::function<std::string(unsigned)>& make) {
    std::atomic<unsigned> next = 0;
    std::vector<std::thread> clients;
    for (unsigned i = 0; i < kClients; ++i) {
        clients.emplace_back([&] {
            for (;;) {
                const unsigned from = next.fetch_add(at_once);
                if (from >= count) return;
                std::string text = "BEGIN;";
                for (unsigned k = from; k < std::min(count, from + at_once); ++k) text += make(k);
                run_all(coordinator, text + "COMMIT;");
            }
        });
    }
    for (std::thread& client : clients) client.join();
}

void fail_query(coordinator::CoordinatorRuntime& coordinator, const std::string& name) {
    std::vector<Fragment> fragments;
    QueryId id;
    {
        const auto snapshot = must(coordinator.snapshot());
        id = must(snapshot.read().query(name))->id;
        fragments = must(snapshot.read().fragments({.query = id}));
    }
    must(coordinator.execute(controllers::MarkQuery{id, QueryState::deploying, {}}));
    for (const Fragment& fragment : fragments) {
        must(coordinator.execute(controllers::ReportFragment{
            fragment.id, FragmentState::failed, {.text = "out of memory"}}));
    }
    must(coordinator.execute(
        controllers::MarkQuery{id, QueryState::failed, {.text = "out of memory"}}));
}

}  // namespace

std::string worker_name(unsigned edge) {
    return "edge" + std::to_string(edge) + ":9090";
}

void populate(coordinator::CoordinatorRuntime& coordinator, const Population& population) {
    in_transactions(coordinator, population.hubs(), kPerTransaction, hub);
    in_transactions(coordinator, population.edges(), kPerTransaction / 8,
                    [&](unsigned i) { return edge(population, i); });
    in_transactions(coordinator, population.queries, kPerTransaction,
                    [&](unsigned i) { return query(population, i); });
    const unsigned step = population.queries / population.failed;
    for (unsigned i = 0; i < population.failed; ++i) {
        fail_query(coordinator, "Q" + std::to_string(i * step));
    }
}

}  // namespace baton::bench
