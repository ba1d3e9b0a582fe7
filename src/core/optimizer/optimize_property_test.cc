// Optimising, expanding and splitting change how rows are made, never which.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "core/optimizer/expand.h"
#include "core/optimizer/fold.h"
#include "core/optimizer/optimize.h"
#include "core/optimizer/split.h"
#include "model/plan_check.h"
#include "testing/plans/generators.h"
#include "testing/reference/reference.h"

namespace baton::optimizer {
namespace {

using testing::any_plan;
using testing::any_world;
using testing::World;

constexpr std::size_t kDepth = 4;

PlanNode expanded_in(const World& world, const PlanNode& plan) {
    auto made = expanded(plan, {.logical = world.logical, .physical = world.physical});
    RC_ASSERT(made.has_value());
    return *made;
}

// A plan that ends with an error is compared with nothing: the other may end with one or not.
void require_same_rows(const World& world, const PlanNode& before, const PlanNode& after) {
    const auto expected = testing::rows_of(before, world.tables);
    if (!expected) {
        RC_TAG("fails");
        return;
    }
    RC_TAG(expected->empty() ? "no rows" : "rows");
    if (const std::string wrong = what_is_wrong(after); !wrong.empty()) RC_FAIL(wrong);
    const auto actual = testing::rows_of(after, world.tables);
    if (!actual) RC_FAIL("a new error: " + to_string(actual.error()));
    if (testing::same_rows(*expected, *actual)) return;
    RC_FAIL("expected:\n" + testing::to_string(*expected) + "but got:\n" +
            testing::to_string(*actual));
}

RC_GTEST_PROP(OptimizeProperty, KeepsTheRowsAndTheSchema, ()) {
    const World world = any_world();
    const PlanNode plan = any_plan(kDepth);
    const PlanNode better = optimized(plan);
    RC_ASSERT(better.schema == plan.schema);
    require_same_rows(world, plan, better);
}

RC_GTEST_PROP(OptimizeProperty, IsIdempotent, ()) {
    const PlanNode once = optimized(any_plan(kDepth));
    RC_ASSERT(optimized(once) == once);
}

RC_GTEST_PROP(OptimizeProperty, KeepsTheRowsOfPhysicalSourcesAndOfSplitAggregates, ()) {
    const World world = any_world();
    const PlanNode plan = any_plan(kDepth);
    const PlanNode physical = expanded_in(world, optimized(plan));
    require_same_rows(world, plan, physical);
    const PlanNode better = optimized(physical);
    require_same_rows(world, plan, better);
    RC_ASSERT(optimized(better) == better);
    const PlanNode split = with_split_aggregates(better);
    RC_ASSERT(split.schema == plan.schema);
    require_same_rows(world, plan, split);
}

RC_GTEST_PROP(OptimizeProperty, FoldingIsIdempotent, ()) {
    const Expression once = folded(testing::any_predicate(any_plan(1).schema, 4));
    RC_ASSERT(folded(once) == once);
}

}  // namespace
}  // namespace baton::optimizer
