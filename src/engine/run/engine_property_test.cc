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
#include "testing/plans/generators.h"
#include "testing/reference/reference.h"

namespace baton {
namespace {

std::size_t up_to(std::size_t most) {
    return *rc::gen::resize(rc::kNominalSize, rc::gen::inRange<std::size_t>(0, most + 1));
}

PlanNode physical_plan(const PlanNode& plan, const testing::World& world) {
    auto physical = expanded(plan, {.logical = world.logical, .physical = world.physical});
    RC_ASSERT(physical.has_value());
    return *std::move(physical);
}

// Everything on one worker.
std::vector<FragmentPlan> whole(PlanNode root) {
    return {{.worker = "HUB", .roots = {std::move(root)}, .settings = {}}};
}

// W1 to W4 send to M1 or M2, these to the hub.
std::vector<FragmentPlan> distributed(const PlanNode& physical) {
    Cluster cluster;
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
    cluster.topology = Topology(links);
    const PlanNode root = with_split_aggregates(optimized(physical));
    const PinnedPlaces places = pinned_in(root);
    const std::map<std::string, std::uint64_t> used;
    const auto routes = Routes::to(places.sink, places.sources, {.cluster = cluster, .used = used});
    RC_ASSERT(routes.has_value());
    return cut(root, *routes, {});
}

void gives_the_rows_of_the_reference(const std::vector<FragmentPlan>& fragments,
                                     const PlanNode& plan, const testing::World& world) {
    testing::DoubleConnectors connectors;
    connectors.play(world.tables, kBatchRows);
    testing::LocalExchanges exchanges(1 + up_to(3));
    testing::FixedClock clock;
    const auto expected = testing::rows_of(plan, world.tables);
    // Rows that a window gives may be late for the next one, where the reference knows no time.
    std::vector<FragmentPlan> strict = fragments;
    for (FragmentPlan& fragment : strict) fragment.settings["LATE"] = std::string("FAIL");
    FragmentEngine engine(connectors, exchanges, clock);
    const auto trouble = testing::run_to_end(engine, strict);
    if (trouble && trouble->starts_with("error 3014")) {
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

}  // namespace
}  // namespace baton
