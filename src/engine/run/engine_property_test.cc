// Over random plans and tables: the engine gives the rows that the reference gives.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "core/optimizer/expand.h"
#include "core/optimizer/optimize.h"
#include "core/optimizer/split.h"
#include "core/placement/cut.h"
#include "core/placement/routes.h"
#include "engine/run/fragment_engine.h"
#include "testing/engine/doubles.h"
#include "testing/engine/engine_run.h"
#include "testing/engine/local_exchanges.h"
#include "testing/plan_text.h"
#include "testing/plans/builders.h"
#include "testing/plans/generators.h"
#include "testing/reference/reference.h"

namespace baton::engine {
namespace {

std::size_t up_to(std::size_t most) {
    return *rc::gen::resize(rc::kNominalSize, rc::gen::inRange<std::size_t>(0, most + 1));
}

PlanNode physical_plan(const PlanNode& plan, const testing::World& world) {
    auto physical =
        optimizer::expanded(plan, {.logical = world.logical, .physical = world.physical});
    RC_ASSERT(physical.has_value());
    return *std::move(physical);
}

// Everything on one worker.
std::vector<FragmentPlan> whole(PlanNode root) {
    return {{.worker = "HUB", .roots = {std::move(root)}, .settings = {}}};
}

// W1 to W4 send to M1 or M2, these to the hub.
std::vector<FragmentPlan> distributed(const PlanNode& physical) {
    topology::Cluster cluster;
    std::vector<NetworkLink> links;
    for (const char* name : {"W1", "W2", "W3", "W4", "M1", "M2", "HUB"}) {
        cluster.workers[name].name = name;
    }
    for (const char* edge : {"W1", "W2", "W3", "W4"}) {
        links.push_back({.upstream = edge, .downstream = up_to(1) == 0 ? "M1" : "M2"});
        if (up_to(3) == 0) links.push_back({.upstream = edge, .downstream = "HUB"});
    }
    links.push_back({.upstream = "M1", .downstream = "HUB"});
    links.push_back({.upstream = "M2", .downstream = "HUB"});
    cluster.topology = topology::Topology(links);
    const PlanNode root = optimizer::with_split_aggregates(optimizer::optimized(physical));
    const placement::PinnedPlaces places = placement::pinned_in(root);
    const std::map<std::string, std::uint64_t> used;
    const auto routes =
        placement::Routes::to(places.sink, places.sources, {.cluster = cluster, .used = used});
    RC_ASSERT(routes.has_value());
    return cut(root, *routes, {});
}

void gives_the_rows_of_the_reference(const std::vector<FragmentPlan>& fragments,
                                     const PlanNode& plan, const testing::World& world,
                                     std::optional<std::size_t> batch_rows = {}) {
    testing::DoubleConnectors connectors;
    connectors.play(world.tables, batch_rows.value_or(kBatchRows));
    testing::LocalExchanges exchanges(1 + up_to(3));
    testing::FixedClock clock;
    const auto expected = testing::rows_of(plan, world.tables);
    // Rows that a window gives may be late for the next one, where the reference knows no time;
    // rows in batches are in order.
    std::vector<FragmentPlan> strict = fragments;
    for (FragmentPlan& fragment : strict) fragment.settings["LATE"] = std::string("FAIL");
    FragmentEngine engine(connectors, exchanges, clock);
    const auto trouble = testing::run_to_end(engine, strict);
    if (!batch_rows && trouble && trouble->starts_with("error 3014")) {
        RC_TAG("late");
        return;
    }
    if (!expected) {
        RC_TAG("reference fails");
        return;
    }
    if (trouble) RC_FAIL("a new error: " + *trouble);
    RC_TAG(expected->empty() ? "no rows" : "rows");
    const auto actual = connectors.sink().rows();
    if (!testing::same_rows(*expected, actual)) {
        std::string text;
        for (const FragmentPlan& fragment : fragments) {
            for (const PlanNode& root : fragment.roots) text += testing::plan_text(root);
        }
        RC_FAIL(text + "expected\n" + testing::to_string(*expected) + "actual\n" +
                testing::to_string(actual));
    }
}

RC_GTEST_PROP(FragmentEngineProperty, OneWorkerGivesTheRowsOfTheReference, ()) {
    const testing::World world = testing::any_world();
    const PlanNode plan = testing::any_plan(4);
    gives_the_rows_of_the_reference(whole(physical_plan(plan, world)), plan, world);
}

RC_GTEST_PROP(FragmentEngineProperty, ManyWorkersGiveTheRowsOfTheReference, ()) {
    const testing::World world = testing::any_world();
    const PlanNode plan = testing::any_plan(4);
    gives_the_rows_of_the_reference(distributed(physical_plan(plan, world)), plan, world);
}

// ---- many rows in many batches, in the order of their times -------------------------------------

const Schema& long_schema() {
    static const Schema kSchema{
        .columns = {{.name = "TS", .type = DataType::uint64, .nullable = true},
                    {.name = "N", .type = DataType::int64, .nullable = true},
                    {.name = "F", .type = DataType::float64, .nullable = true},
                    {.name = "TEXT", .type = DataType::varsized, .nullable = true}}};
    return kSchema;
}

testing::Row long_row(std::uint64_t time) {
    testing::Row row = {time, Value(), Value(), Value()};
    if (up_to(9) == 0) row[0] = Value();
    if (up_to(5) != 0) row[1] = static_cast<std::int64_t>(up_to(6)) - 3;
    if (up_to(5) != 0) row[2] = static_cast<double>(up_to(8)) / 4 - 1;
    if (up_to(5) != 0) {
        row[3] = std::string(up_to(40), 'x') + std::string(1, static_cast<char>('a' + up_to(3)));
    }
    return row;
}

testing::World long_world() {
    testing::World world = testing::any_world();
    for (auto& [name, logical] : world.logical) logical.schema = long_schema();
    for (auto& [id, table] : world.tables) {
        table.schema = long_schema();
        table.rows.clear();
        std::uint64_t time = up_to(20);
        for (std::size_t i = up_to(60); i > 0; --i) {
            time += up_to(3);
            table.rows.push_back(long_row(time));
        }
    }
    return world;
}

WindowSpec long_window() {
    const std::uint64_t size = 4 + up_to(40);
    const std::size_t kind = up_to(3);
    if (kind == 0) return {.size = size, .advance = size};
    if (kind == 1) return {.size = 4 * size, .advance = size};
    return {.size = size, .advance = 1 + up_to(size + 3)};
}

PlanNode long_input(const char* source) {
    PlanNode input = testing::logical_scan(source, long_schema());
    if (up_to(2) == 0) return input;
    Expression predicate = testing::any_predicate(long_schema(), 1);
    return testing::filter(std::move(input), std::move(predicate));
}

PlanNode long_aggregate() {
    PlanNode input = long_input("S");
    std::vector<Expression> keys;
    for (std::size_t i = up_to(2); i > 0; --i) {
        keys.push_back(testing::column(long_schema(), 1 + up_to(2)));
    }
    std::vector<Aggregate> aggregates;
    for (std::size_t i = up_to(3); i > 0; --i) {
        const auto function = static_cast<AggregateFunction>(up_to(9));
        const bool of_any =
            function == AggregateFunction::count || function == AggregateFunction::count_distinct;
        if (function == AggregateFunction::count_all) {
            aggregates.push_back(testing::aggregate(function));
            continue;
        }
        aggregates.push_back(testing::aggregate(
            function, testing::column(long_schema(), 1 + up_to(of_any ? 2 : 1))));
    }
    return testing::window_aggregate(std::move(input), long_window(), 0, std::move(keys),
                                     std::move(aggregates));
}

PlanNode long_join() {
    PlanNode left = long_input("S");
    PlanNode right = long_input("T");
    const std::size_t width = long_schema().columns.size();
    const std::size_t key = 1 + up_to(2);
    Expression predicate = testing::call(
        Function::equal,
        {testing::join_column(left, right, key), testing::join_column(left, right, width + key)});
    if (up_to(1) == 0) {
        predicate = testing::call(
            Function::logical_and,
            {std::move(predicate),
             testing::call(Function::less, {testing::join_column(left, right, 2),
                                            testing::join_column(left, right, width + 2)})});
    }
    const auto sides = static_cast<JoinSides>(up_to(3));
    return testing::window_join(std::move(left), std::move(right),
                                {.sides = sides,
                                 .predicate = std::move(predicate),
                                 .window = long_window(),
                                 .left_time = 0,
                                 .right_time = 0});
}

RC_GTEST_PROP(FragmentEngineProperty, RowsInOrderAreNeverLateHoweverTheyAreCut, ()) {
    const testing::World world = long_world();
    const PlanNode plan = testing::sink(up_to(2) == 0 ? long_join() : long_aggregate());
    const PlanNode physical = physical_plan(plan, world);
    const bool one = up_to(1) == 0;
    gives_the_rows_of_the_reference(one ? whole(physical) : distributed(physical), plan, world,
                                    1 + up_to(20));
}

}  // namespace
}  // namespace baton::engine
