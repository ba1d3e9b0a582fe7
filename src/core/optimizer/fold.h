// Folding computes at planning time what does not depend on a row.
//
// An expression that would fail is left as it is, and fails at run time: a query over no rows does
// not fail. The type and the nullability of the expression stay as they are.
#pragma once

#include "model/expression.h"

namespace baton::optimizer {

// AND and OR lose the parts that do not matter and end where one decides; those within another are
// drawn into it. CONDITIONAL loses the branches that are never taken.
[[nodiscard]] Expression folded(Expression expression);

}  // namespace baton::optimizer
