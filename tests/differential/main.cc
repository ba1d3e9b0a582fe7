// `differential`: random queries, answered by Baton and by SQLite, which must agree.
//
//     differential --cases 5000 --seed 1 [--topology tests/sql/topologies/eight.yaml]
//
// A case follows from its seed: `differential --cases 1 --seed 17` repeats one that failed.
#include <filesystem>
#include <fstream>
#include <iostream>
#include <sstream>

#include <CLI/CLI.hpp>

#include "adapters/system/system_clock.h"
#include "differential/cases.h"
#include "differential/reference.h"
#include "doors/yaml/deployment.h"
#include "slt/cluster.h"
#include "slt/runner.h"
#include "testing/temporary_directory.h"

namespace baton::differential {
namespace {

constexpr std::uint64_t kCasesPerCluster = 200;

struct Command {
    std::uint64_t cases = 300;
    std::uint64_t seed = 1;
    std::string topology;
};

std::string schema_of(const Table& table) {
    constexpr std::array kTypes = {"INT64", "FLOAT64", "BOOLEAN", "VARSIZED"};
    std::string schema;
    for (const Table::Column& column : table.columns) {
        schema += (schema.empty() ? "" : ", ") + column.name + " " +
                  kTypes[static_cast<std::size_t>(column.kind)] +
                  (column.nullable ? "" : " NOT NULL");
    }
    return schema;
}

// The case as a script; the last item is the query.
slt::Script script_of(const Case& of, std::vector<std::string> expected) {
    slt::Script script;
    const auto add = [&](const std::string& statement) -> slt::Item& {
        return script.items.emplace_back(slt::Item{.statement = statement});
    };
    for (const Table& table : of.tables) {
        add("CREATE LOGICAL SOURCE " + table.name + " (" + schema_of(table) + ")");
        add("CREATE PHYSICAL SOURCE FOR " + table.name + " TYPE File").attached =
            slt::Attach{.file = {}, .rows = csv_rows(table)};
    }
    add(of.query.baton + " INTO File()").expected = slt::ExpectRows{std::move(expected)};
    return script;
}

void show(const Case& of, std::uint64_t seed, const std::string& problem) {
    std::cout << "FAIL seed " << seed << "\n  Baton:  " << of.query.baton
              << "\n  SQLite: " << of.query.sqlite << "\n";
    for (const Table& table : of.tables) {
        std::cout << "  " << table.name << " (" << schema_of(table) << ")\n";
        for (const std::string& row : csv_rows(table)) std::cout << "    " << row << "\n";
    }
    std::cout << "  " << problem << "\n" << std::flush;
}

struct Tally {
    std::uint64_t failures = 0;
    std::uint64_t rows = 0;  // that SQLite gave
};

// Empty: they agree.
std::string difference(const Case& of, slt::TestCluster& cluster, const std::string& scratch,
                       Tally& tally) {
    auto expected = reference_rows(of);
    if (!expected) return to_string(expected.error());
    tally.rows += expected->size();
    slt::SessionClient client(cluster.coordinator(), std::chrono::seconds(60));
    slt::Runner runner(client, {.places = cluster.places(), .testdata = {}, .scratch = scratch});
    for (const slt::Check& check : runner.run(script_of(of, *std::move(expected)))) {
        if (!check.problem.empty()) return check.problem;
    }
    return "";
}

Result<Done> run_some(const Command& command, std::uint64_t from, std::uint64_t to,
                      const std::optional<yaml::Deployment>& topology, Tally& tally) {
    const system::SystemClock clock;
    TRY_ASSIGN(cluster, slt::TestCluster::start(clock, topology));
    for (std::uint64_t i = from; i < to; ++i) {
        const testing::TemporaryDirectory scratch;
        const Case made = make_case(command.seed + i);
        const std::string problem = difference(made, *cluster, scratch.path(), tally);
        if (problem.empty()) continue;
        tally.failures += 1;
        show(made, command.seed + i, problem);
    }
    return Done{};
}

Result<std::optional<yaml::Deployment>> topology_of(const std::string& path) {
    if (path.empty()) return std::optional<yaml::Deployment>();
    std::ostringstream text;
    text << std::ifstream(path).rdbuf();
    TRY_ASSIGN(deployment, yaml::read_deployment(text.str()));
    return std::optional(std::move(deployment));
}

Result<Tally> run(const Command& command) {
    TRY_ASSIGN(topology, topology_of(command.topology));
    Tally tally;
    for (std::uint64_t from = 0; from < command.cases; from += kCasesPerCluster) {
        const std::uint64_t to = std::min(command.cases, from + kCasesPerCluster);
        TRY(run_some(command, from, to, topology, tally));
    }
    return tally;
}

}  // namespace
}  // namespace baton::differential

int main(int argc, char** argv) {
    using namespace baton::differential;
    CLI::App app("Random queries, answered by Baton and by SQLite");
    Command command;
    app.add_option("--cases", command.cases, "how many");
    app.add_option("--seed", command.seed, "of the first");
    app.add_option("--topology", command.topology, "a file of workers; else an embedded one");
    CLI11_PARSE(app, argc, argv);
    const auto tally = run(command);
    if (!tally) {
        std::cerr << to_string(tally.error()) << "\n";
        return 2;
    }
    std::cout << command.cases << " cases with " << tally->rows << " rows, " << tally->failures
              << " failed\n";
    return tally->failures == 0 ? 0 : 1;
}
