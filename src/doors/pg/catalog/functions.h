// The functions of PostgreSQL that clients use when they ask about the catalog. Internal to
// pg_catalog.
#pragma once

#include "doors/pg/catalog/pg_catalog.h"
#include "doors/pg/catalog/store.h"

namespace baton::pg {

// The world outlives the store.
void define_functions(Store& store, const World& world);

}  // namespace baton::pg
