// The reference aggregation of values, whole or in parts.
#pragma once

#include <span>
#include <vector>

#include "model/plan.h"

namespace baton::testing {

// The result over all values of the argument, in the order of the rows; of count_all, any values.
[[nodiscard]] Value whole_of(const Aggregate& aggregate, const std::vector<Value>& values);

// The columns of the state over these values.
[[nodiscard]] std::vector<Value> state_over(const Aggregate& aggregate,
                                            const std::vector<Value>& values);
// The result of several states.
[[nodiscard]] Value result_of(const Aggregate& aggregate,
                              const std::vector<std::vector<Value>>& states);

}  // namespace baton::testing
