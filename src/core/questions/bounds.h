// bounds() finds the conditions of a question by which objects can be left out. Only those count
// that hold for each row of a relation that can matter: conjunctions of WHERE over relations that
// no outer join extends, comparisons of a column with a literal of its own kind. REAL and DOUBLE
// are left alone, because NaN is greater than all numbers and in no statistics.
#pragma once

#include <vector>

#include "core/json/json.h"
#include "model/column_bound.h"
#include "model/table.h"

namespace baton::questions {

// A tree that passed the gate, bound or not. For each mention, in their order; `columns` are those
// of the mentions, too.
[[nodiscard]] std::vector<std::vector<ColumnBound>> bounds(const json::Value& tree,
                                                           const std::vector<SqlColumns>& columns);

}  // namespace baton::questions
