// Over random topologies: what is placed fits, flows along links, and gives the same rows.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "core/optimizer/expand.h"
#include "core/optimizer/optimize.h"
#include "core/optimizer/split.h"
#include "core/placement/cut.h"
#include "core/placement/routes.h"
#include "model/plan_check.h"
#include "testing/plans/generators.h"
#include "testing/reference/reference.h"

namespace baton::placement {
namespace {

bool one_in(int n) {
    return *rc::gen::inRange(0, n) == 0;
}

struct Situation {
    topology::Cluster cluster;
    std::map<std::string, std::uint64_t> used;

    [[nodiscard]] bool takes_part(const std::string& name) const {
        const Worker& worker = cluster.workers.at(name);
        const auto taken = used.find(name);
        const bool full =
            worker.capacity && taken != used.end() && taken->second >= *worker.capacity;
        return worker.state == WorkerState::active && !worker.draining && !full;
    }
};

// Links lead from earlier names to later ones, so there is no circle.
Situation any_situation() {
    static const std::vector<std::string> kNames = {"W1", "W2", "W3", "W4", "M1",
                                                    "M2", "M3", "M4", "HUB"};
    Situation made;
    std::vector<NetworkLink> links;
    for (std::size_t i = 0; i < kNames.size(); ++i) {
        Worker& worker = made.cluster.workers[kNames[i]];
        worker.name = kNames[i];
        worker.draining = one_in(30);
        if (one_in(30)) worker.state = WorkerState::unreachable;
        if (one_in(4)) {
            worker.capacity = 2;
            made.used[kNames[i]] = one_in(6) ? 2 : 1;
        }
        for (std::size_t j = i + 1; j < kNames.size(); ++j) {
            if (one_in(2)) links.push_back({.upstream = kNames[i], .downstream = kNames[j]});
        }
    }
    made.cluster.topology = topology::Topology(links);
    return made;
}

RC_GTEST_PROP(PlacementProperty, FragmentsFitFlowAlongLinksAndGiveTheSameRows, ()) {
    const testing::World world = testing::any_world();
    const Situation situation = any_situation();
    const PlanNode plan = testing::any_plan(4);
    auto physical = optimizer::expanded(optimizer::optimized(plan),
                                        {.logical = world.logical, .physical = world.physical});
    RC_ASSERT(physical.has_value());
    const PlanNode root =
        optimizer::with_split_aggregates(optimizer::optimized(*std::move(physical)));
    const PinnedPlaces places = pinned_in(root);
    const auto routes = Routes::to(places.sink, places.sources,
                                   {.cluster = situation.cluster, .used = situation.used});
    if (!routes) {
        RC_TAG("refused");
        RC_ASSERT(routes.error().code == ErrorCode::placement);
        return;
    }
    const std::vector<FragmentPlan> fragments = cut(root, *routes, {});
    RC_TAG(std::to_string(fragments.size()) + " fragments");
    std::set<std::string> workers;
    for (const FragmentPlan& fragment : fragments) {
        RC_ASSERT(workers.insert(fragment.worker).second);
        RC_ASSERT(situation.takes_part(fragment.worker));
        RC_ASSERT(!fragment.roots.empty());
        for (const PlanNode& tree : fragment.roots) {
            if (const auto wrong = what_is_wrong(tree); !wrong.empty()) RC_FAIL(wrong);
            const auto* send = std::get_if<Send>(&tree.op);
            if (send == nullptr) continue;
            RC_ASSERT(situation.cluster.topology.downstream_of(fragment.worker).contains(send->to));
            RC_ASSERT(routes->steps_from(fragment.worker) == routes->steps_from(send->to) + 1);
        }
    }
    const auto expected = testing::rows_of(plan, world.tables);
    if (!expected) return;
    const auto actual = testing::rows_of(fragments, world.tables);
    if (!actual) RC_FAIL("a new error: " + to_string(actual.error()));
    RC_ASSERT(testing::same_rows(*expected, *actual));
}

}  // namespace
}  // namespace baton::placement
