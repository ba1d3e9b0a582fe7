// Splitting cuts an aggregation over several workers in two: a partial one for each branch of the
// union below it, which runs near its source, and a final one that puts the states together. A
// partial one drops no row as late: only the final one knows all sources.
#pragma once

#include "model/plan.h"

namespace baton::optimizer {

// Whether every aggregate of it has a state that can travel.
[[nodiscard]] bool can_split(const WindowAggregate& aggregate);

// Cuts every aggregation over a union whose sources are on more than one worker, where that is
// possible. Same rows, same schemas. Optimise before: afterwards no rule looks into the parts.
[[nodiscard]] PlanNode with_split_aggregates(PlanNode root);

}  // namespace baton::optimizer
