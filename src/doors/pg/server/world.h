// A coordinator as PostgreSQL's clients see it: the views of schema BATON, and the logical sources
// and sinks in schema PUBLIC.
//
// A name that is all in upper case, as unquoted names are here, appears in lower case, as unquoted
// names are there: a name without quotes then means the same on both sides.
#pragma once

#include "base/result.h"
#include "coordinator/coordinator_runtime.h"
#include "doors/pg/catalog/pg_catalog.h"

namespace baton::pgserver {

// Reads the catalog: not for a thread of the network. Fails with errors of the catalog.
[[nodiscard]] Result<std::vector<pg::Relation>> relations_of(
    coordinator::CoordinatorRuntime& coordinator);

}  // namespace baton::pgserver
