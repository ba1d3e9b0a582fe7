// prune() finds the objects of a snapshot that may hold rows for which all bounds are true. It
// leaves out only objects that certainly have none.
//
// Values are texts of values.h: of a TIMESTAMPTZ in UTC. A bound that cannot be used (an unknown
// column, a value that is none of its type) leaves out nothing.
#pragma once

#include <vector>

#include "core/tables/snapshot.h"
#include "model/column_bound.h"

namespace baton::tables {

using Bound = ColumnBound;

[[nodiscard]] std::vector<ObjectPlace> prune(const Snapshot& snapshot,
                                             const std::vector<Bound>& bounds);

}  // namespace baton::tables
