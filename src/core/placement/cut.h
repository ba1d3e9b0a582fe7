// Cutting puts every operator on a worker and gives each worker its part of the plan.
//
//   sources, sink               where they are
//   filters, partial and whole  with their input: they make less of it
//     aggregations
//   projections                 with their input, unless they make more of it: then where their
//                               rows are used
//   joins, unions, final        where all their inputs meet first on their way to the sink
//     aggregations
//
// Between workers data flows along the routes, from each to the next; a union takes in what it can
// on the way, so that no link carries two streams of it.
#pragma once

#include <vector>

#include "core/placement/routes.h"
#include "model/plan.h"

namespace baton::placement {

// The places of a plan's sources and of its sink.
struct PinnedPlaces {
    Pinned sink;
    std::vector<Pinned> sources;  // in the order of the plan
};
[[nodiscard]] PinnedPlaces pinned_in(const PlanNode& root);

// One fragment per worker that the routes lead through, by name. `root` writes to a sink and its
// sources are physical.
[[nodiscard]] std::vector<FragmentPlan> cut(const PlanNode& root, const Routes& routes,
                                            const Config& settings);

}  // namespace baton::placement
