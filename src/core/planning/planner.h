// Planning turns a query into fragments on workers.
//
// Input:   the query's tree, and a view: everything of the catalog that the plan may depend on, as
//          of one revision.
// Output:  the fragments, the sources and sinks that the query will hold on to, and what was read.
//          Planning runs outside any write transaction; the commit compares `reads` with the
//          catalog, and if one of them has changed the query is planned again.
//
// What the workers have left is not among the reads: any placement that fits is a good one, and
// whether it still fits is decided by the commit itself.
// Pure: no I/O, no clock.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "base/id.h"
#include "base/result.h"
#include "core/topology/cluster.h"
#include "model/entities.h"
#include "sql/ast.h"

namespace baton {

// The names of the catalog that a query mentions.
struct MentionedNames {
    std::map<std::string, Position> sources;  // logical sources, and where they first stand
    std::optional<std::string> sink;          // none for an inline sink
    std::set<std::string> workers;            // placements of inline sources and sinks

    friend bool operator==(const MentionedNames&, const MentionedNames&) = default;
};
[[nodiscard]] MentionedNames names_in(const sql::CreateQuery& query);

struct PlanningView {
    std::map<std::string, LogicalSource> logical_sources;  // those mentioned that exist
    std::vector<PhysicalSource> physical_sources;          // all of the logical sources above
    std::optional<Sink> sink;
    // Names that exist, for a hint; only if one that is mentioned does not.
    std::vector<std::string> known_sources;
    std::vector<std::string> known_sinks;
    std::shared_ptr<const Cluster> cluster;
    // Slots, of the workers with a capacity that sources and sink are on.
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
    std::string plan;         // what the worker is told to run

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

// Pins each source to its worker and everything else to the sink's worker; data flows along the
// shortest path of links. Fails with unknown_source, unknown_sink, not_supported, placement,
// worker_unreachable.
[[nodiscard]] Result<QueryPlan> plan(const sql::CreateQuery& query, const PlanningView& view);

}  // namespace baton
