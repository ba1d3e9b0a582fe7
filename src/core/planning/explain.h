// Shows plans to people, as trees of one line per operator, and to programs, as JSON. Secrets of
// connectors are masked in both.
//
//     SINK ALERTS Print ON HUB (ID UINT64 NOT NULL)
//     └─ FILTER ID > 5
//        └─ SCAN READINGS (ID UINT64 NOT NULL)
#pragma once

#include <set>
#include <string>
#include <vector>

#include "core/planning/planner.h"
#include "sql/ast.h"

namespace baton::planning {

// The output of EXPLAIN at each level: the logical plan, the optimised one, and the fragments, from
// those of the highest stage to that of the sink, then by worker.
struct Explained {
    std::string level;              // "LOGICAL"
    std::vector<std::string> text;  // lines
    std::string json;               // {"level":..,"plan":{..}} or {"level":..,"fragments":[..]}
};

// The steps of a level that is asked for have been made.
[[nodiscard]] Explained explain(sql::ExplainLevel level, const PlanSteps& steps);

// The tree of one plan.
[[nodiscard]] std::vector<std::string> tree_of(const PlanNode& root);

}  // namespace baton::planning
