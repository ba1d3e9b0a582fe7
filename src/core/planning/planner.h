// Planning turns a query into fragments on workers:
//
//   analyse   the tree to a logical plan                          core/analysis
//   optimise  less work, same rows                                core/optimizer
//   expand    logical sources to physical ones, then optimise and split aggregations
//   place     routes to the sink's worker, cut into fragments     core/placement
//   write     the text that a worker is given                     core/plan_format
//
// Input:   the query's tree, and a view: everything of the catalog that the plan may depend on, as
//          of one revision.
// Output:  the fragments, the sources and sinks that the query will hold on to, and its reads.
//          Planning runs outside any write transaction; the commit compares `reads` with the
//          catalog, and if one of them has changed the query is planned again.
//
// Read are: the logical sources, whose revision rises with each physical source that comes or goes;
// the sink; every worker that gets a fragment, which is every worker that data passes through; and
// the whole cluster only if the only worker was meant where none is named. Links come and go with
// their workers, so a plan whose workers are unchanged still has its routes. That there may be a
// shorter one by now does not matter, and neither does what the workers have left: any placement
// that fits is a good one, and whether it still fits is decided by the commit itself.
// Pure: no I/O, no clock.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "base/id.h"
#include "base/result.h"
#include "core/topology/cluster.h"
#include "model/entities.h"
#include "model/plan.h"
#include "sql/ast.h"

namespace baton::planning {

// The names of the catalog that a query mentions.
struct MentionedNames {
    std::map<std::string, Position> sources;  // logical sources, and where they first stand
    std::optional<std::string> sink;          // none for an inline sink
    std::set<std::string> workers;            // placements of inline sources and sinks

    friend bool operator==(const MentionedNames&, const MentionedNames&) = default;
};
[[nodiscard]] MentionedNames names_in(const sql::Query& query,
                                      const std::optional<sql::SinkTarget>& sink);
[[nodiscard]] MentionedNames names_in(const sql::CreateQuery& query);

struct PlanningView {
    std::map<std::string, LogicalSource> logical_sources;  // those mentioned that exist
    std::vector<PhysicalSource> physical_sources;          // all of the logical sources above
    std::optional<Sink> sink;
    // Names that exist, for a hint; only if one that is mentioned does not.
    std::vector<std::string> known_sources;
    std::vector<std::string> known_sinks;
    std::shared_ptr<const topology::Cluster> cluster;
    // Slots in use, of the workers with a capacity between sources and sink, these included.
    std::map<std::string, std::uint64_t> used;
};

enum class ReadKind : std::uint8_t {
    worker,
    logical_source,
    sink,
    cluster,  // all workers and links; no name
};

struct Read {
    ReadKind kind = ReadKind::worker;
    std::string name;
    Revision revision;

    friend auto operator<=>(const Read&, const Read&) = default;
};

struct PlannedFragment {
    std::string worker;
    std::uint64_t slots = 1;
    std::uint64_t stage = 0;  // the longest way, in workers, from here to the sink's worker: 0
    std::string plan;         // the text that the worker runs

    friend bool operator==(const PlannedFragment&, const PlannedFragment&) = default;
};

struct QueryPlan {
    std::vector<PlannedFragment> fragments;  // one per worker
    std::vector<PhysicalSourceId> sources;
    std::vector<std::string> sinks;
    std::vector<Read> reads;

    friend bool operator==(const QueryPlan&, const QueryPlan&) = default;
};

using Planner = std::function<Result<QueryPlan>(const sql::CreateQuery&, const PlanningView&)>;

// The results of planning a query, step by step.
struct PlanSteps {
    PlanNode logical;
    PlanNode optimized;
    PlanNode physical;                    // sources expanded, aggregations split
    std::vector<FragmentPlan> fragments;  // by worker
    std::vector<std::uint64_t> stages;    // of the fragments
    std::vector<Read> reads;              // sorted
};

struct QueryToPlan {
    const sql::Query& query;
    const std::optional<sql::SinkTarget>& sink;
    std::span<const sql::Setting> settings;  // QUERY.*
};

// The logical and the optimised plan alone: workers and physical sources are not looked at.
[[nodiscard]] Result<PlanSteps> plan_logically(const QueryToPlan& query, const PlanningView& view);

// All steps. Without a sink, as EXPLAIN allows, the rows end in a sink of type Void on the worker
// that is nearest to all sources together; those for a client in one of type Results there.
[[nodiscard]] Result<PlanSteps> plan_steps(const QueryToPlan& query, const PlanningView& view);

// Fails with the errors of analysis, and with unknown_worker, placement, too_large, and
// invalid_configuration where a worker has to be named.
[[nodiscard]] Result<QueryPlan> plan(const sql::CreateQuery& query, const PlanningView& view);

}  // namespace baton::planning
