// Analysis gives a query its meaning: from the text to a logical plan, in which every name is
// resolved and every expression has its type.
//
// Input:   the tree of the query, its target, and the entities that it may name: logical sources
//          and the sink. Nothing else of the catalog; physical sources and workers are planning's
//          business.
// Output:  the logical plan, of the operators of model/plan.h: LogicalScan, SourceScan (inline),
//          Filter, Project, WindowAggregate (whole), WindowJoin, UnionAll and, if there is a sink,
//          SinkWrite at the root. The worker of an inline source or sink is the one it names, or
//          empty: then planning finds the default.
//
// Rules, beyond those of types.h, operators.h, functions.h, aggregates.h and scope.h:
//   - A SELECT gives each name once per relation, and the query as a whole each name once. A column
//     without a name of its own is called by its text: SELECT A + 1 gives "A + 1".
//   - SELECT with WINDOW is an aggregation, also without aggregates: one row per window and group.
//     Aggregates, GROUP BY and HAVING need a WINDOW. HAVING may use the names of the SELECT list.
//   - The timestamp of a window is a column of the input of any integer type, in ms; it may be
//     nullable. An aggregation has one, a join one per side, or one that both sides have; none is
//     the time of arrival. ADVANCE BY may be longer than SIZE: then some rows are in no window.
//   - The branches of a UNION have the same number of columns, each of the same type; the names are
//     those of the first branch, and a column can be NULL if it can be in any branch.
//   - The rows of the query must have the schema of the sink: number and order of columns, names
//     without regard to case, types, nullability. An inline sink without a schema takes any.
//   - A table takes columns by name in any case and any order, of types that it holds without loss
//     (table_columns.h). Columns of the table that are not given are NULL.
//
// Fails, always with the position where the statement is wrong if it is known, with syntax,
// not_supported, arity, schema, unknown_field, too_large, type_mismatch, type_inference,
// unknown_source, unknown_sink, and for inline sources and sinks with the errors of core/binding.
// Pure: no I/O, no clock.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "model/entities.h"
#include "model/plan.h"
#include "sql/ast.h"

namespace baton::analysis {

// The entities that a query may name. Lives no longer than they do.
struct AnalysisView {
    const std::map<std::string, LogicalSource>& logical_sources;
    const Sink* sink = nullptr;  // the one that the query names; null: there is none of that name
    // Names that exist, for hints.
    std::span<const std::string> known_sources;
    std::span<const std::string> known_sinks;
};

struct LogicalPlan {
    PlanNode root;
    Schema schema;                     // of the rows of the query
    std::vector<std::string> sources;  // logical ones, sorted, each once

    friend bool operator==(const LogicalPlan&, const LogicalPlan&) = default;
};

// Without a sink, as EXPLAIN allows, the root is the last operator before it.
[[nodiscard]] Result<LogicalPlan> analyse(const sql::Query& query,
                                          const std::optional<sql::SinkTarget>& sink,
                                          const AnalysisView& view);

}  // namespace baton::analysis
