// Whether a plan keeps what model/plan.h and model/expression.h promise: positions that exist,
// types that fit, schemas that follow from the operators. For tests of whoever makes plans.
#pragma once

#include <string>

#include "model/plan.h"

namespace baton::testing {

// What is wrong first, from the leaves up; empty if nothing is. The states of partial aggregates
// are not looked into.
[[nodiscard]] std::string what_is_wrong(const PlanNode& root);

// The same of an expression over rows of that schema.
[[nodiscard]] std::string what_is_wrong(const Expression& expression, const Schema& input);

}  // namespace baton::testing
