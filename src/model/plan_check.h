// The plan check tests that a plan keeps the promises of model/plan.h and model/expression.h:
// positions that exist, types that fit, schemas that follow from the operators.
//
// The engine runs a plan without looking: a wrong type would be read as bytes of another width. So
// a worker checks each plan before it runs it, and tests check the plans of the planner.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "base/result.h"
#include "model/plan.h"

namespace baton {

// A row is kept for each window that it belongs to: so many at most, SIZE divided by ADVANCE.
inline constexpr std::uint64_t kWindowsPerRowMost = 100'000;

// A worker has a thread for each source and exchange that a fragment reads: so many at most.
inline constexpr std::size_t kLeavesMost = 2'000;
[[nodiscard]] std::size_t leaves_of(const PlanNode& node);
[[nodiscard]] std::size_t leaves_of(const FragmentPlan& plan);
// Fails with too_large if the fragment has more than that.
[[nodiscard]] Result<Done> check_leaves(const FragmentPlan& plan);

// The first fault, from the leaves up, with the operator and where it stands; empty if nothing is.
[[nodiscard]] std::string what_is_wrong(const PlanNode& root);

// The same of an expression over rows of that schema.
[[nodiscard]] std::string what_is_wrong(const Expression& expression, const Schema& input);

// A fragment as a worker runs it: each root is a sink or an exchange, these stand nowhere else, no
// exchange is named twice, and no source is a logical one. Fails with catalog_corrupt, which names
// the operator.
[[nodiscard]] Result<Done> check_plan(const FragmentPlan& plan);

}  // namespace baton
