// The rules of the optimiser: each looks at one node and those directly below it.
//
// A rule gives the node that takes its place, or nothing if it has nothing to say. It keeps the
// schema of the node and the rows it gives; an error that the query would have ended with may no
// longer come, but never a new one.
#pragma once

#include <optional>
#include <span>

#include "model/plan.h"

namespace baton::optimizer {

using Rule = std::optional<PlanNode> (*)(const PlanNode& node);

// Computes what does not depend on a row, in every expression of the node.
[[nodiscard]] std::optional<PlanNode> fold_constants(const PlanNode& node);

// A filter that keeps everything goes.
[[nodiscard]] std::optional<PlanNode> drop_true_filter(const PlanNode& node);

// Two filters are one; not if the upper one can fail, which the lower one may prevent.
[[nodiscard]] std::optional<PlanNode> merge_filters(const PlanNode& node);

[[nodiscard]] std::optional<PlanNode> push_filter_through_project(const PlanNode& node);
// Unless the copies were too large.
[[nodiscard]] std::optional<PlanNode> push_filter_through_union(const PlanNode& node);

// The parts of a filter that read only the keys go below the aggregation: a group is kept whole or
// not at all. Parts that read START, END or an aggregate stay.
[[nodiscard]] std::optional<PlanNode> push_filter_through_aggregate(const PlanNode& node);

// The parts of a filter that read one side of a join go to that side, if the join keeps all rows of
// it: both sides of an inner join, the left one of a left join, the right one of a right join.
// Parts that read both sides of an inner join become part of its predicate.
[[nodiscard]] std::optional<PlanNode> push_filter_into_join(const PlanNode& node);

// The parts of a join's predicate that read one side go to that side, if its rows without a partner
// are not kept: both sides of an inner join, the right one of a left join, the left one of a right
// join.
[[nodiscard]] std::optional<PlanNode> push_predicate_into_sides(const PlanNode& node);

// Two projections are one, unless something would be computed twice.
[[nodiscard]] std::optional<PlanNode> merge_projects(const PlanNode& node);

// A projection that gives its input, under the same names, goes.
[[nodiscard]] std::optional<PlanNode> drop_identity_project(const PlanNode& node);

// Unless the copies were too large.
[[nodiscard]] std::optional<PlanNode> push_project_through_union(const PlanNode& node);

// A union in a union becomes part of it; a union of one goes.
[[nodiscard]] std::optional<PlanNode> flatten_union(const PlanNode& node);

[[nodiscard]] std::span<const Rule> all_rules();

}  // namespace baton::optimizer
