// Copies a whole catalog from one database to another, also of another kind.
#pragma once

#include <cstdint>

#include "base/id.h"
#include "base/result.h"
#include "ports/sql.h"

namespace baton::catalog {

// Copies every row of every table, from one snapshot, in one transaction, and returns the number of
// rows. `to` has the tables of this version and nothing in them but what migrate() puts there.
// Fails with catalog_in_use if `to` holds anything else, and with catalog_version if `from` is not
// of this version. Leases are not copied, but epochs are: the next leader has a higher epoch than
// any leader before it. The id of the catalog is copied, too: the workers follow the copy, which
// takes the place of the original.
[[nodiscard]] Result<std::int64_t> copy_catalog(Sql& from, Sql& to);

// Copies the present contents of the catalog, without its history and identity, as the transaction
// that `from` is in sees them. Returns the epoch under which the copy can be changed. The rest is
// as above.
[[nodiscard]] Result<Epoch> copy_state(Sql& from, Sql& to);

}  // namespace baton::catalog
