// The memory of an aggregate between rows, as columns, so that the rows of one window and key can
// be aggregated in several places and put together in one.
//
//   count_all, count   COUNT: how many
//   sum, min, max      SUM, MIN, MAX: NULL as long as there was no value
//   avg                SUM (FLOAT64) and COUNT of the values
//   variance, stddev   COUNT, MEAN and M2 (the sum of squared differences from the mean); two such
//                      states are put together by the formula of Chan
//
// The others have none: a median or a count of different values needs every value, and the first
// and the last depend on an order that several places do not share.
#pragma once

#include <optional>
#include <vector>

#include "model/plan.h"

namespace baton {

// The columns of the state, named NAME_SUM and so on after the aggregate's own column; nothing if
// the aggregate cannot be cut in two.
[[nodiscard]] std::optional<std::vector<Column>> states_of(const Aggregate& aggregate,
                                                           const std::string& name);

}  // namespace baton
