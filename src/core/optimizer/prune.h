// Pruning drops the columns that are not read, as early as possible: down to the fields that a
// source parses.
#pragma once

#include "model/plan.h"

namespace baton::optimizer {

// The same plan, with the same columns at its root. Rows on their way to a join, a union or an
// aggregation that has to see every row hold only columns that are read there or above.
[[nodiscard]] PlanNode pruned(const PlanNode& root);

}  // namespace baton::optimizer
