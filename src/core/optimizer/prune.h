// Pruning drops the columns that nobody reads, as early as possible: down to what a source parses.
#pragma once

#include "model/plan.h"

namespace baton {

// The same plan, with the same columns at its root. What travels to a join, a union or an
// aggregation that has to see every row holds nothing that is not read there or above.
[[nodiscard]] PlanNode pruned(const PlanNode& root);

}  // namespace baton
