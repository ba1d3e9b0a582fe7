// Computes an expression over one row, as the dialect means it.
//
// It serves to fold constants, and as the yardstick for tests; rows in motion are the engine's.
// Fails with arithmetic (3013) where running the expression would, and with not_supported where the
// answer is the engine's to give: overflow, and the functions of text, time and real numbers.
#pragma once

#include <span>

#include "base/result.h"
#include "model/expression.h"

namespace baton::optimizer {

[[nodiscard]] Result<Value> evaluate(const Expression& expression, std::span<const Value> row);

// -1, 0 or 1; both are values of one type, neither is NULL. A NaN is equal to itself and greater
// than every other number.
[[nodiscard]] int compare(const Value& a, const Value& b);

}  // namespace baton::optimizer
