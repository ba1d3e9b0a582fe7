// Copies a whole catalog from one database to another, of whatever kind.
#pragma once

#include <cstdint>

#include "base/id.h"
#include "base/result.h"
#include "ports/sql.h"

namespace baton {

// Every row of every table, as one snapshot has them, in one transaction. `to` has the tables of
// this version and nothing in them but what migrate() puts there; fails with catalog_in_use if it
// holds anything else, and with catalog_version if `from` is not of this version. Leases are not
// copied, epochs are: whoever leads next is of a higher one than any before. The id of the catalog
// is copied: the workers go with the copy, which takes the place of the original. How many rows.
[[nodiscard]] Result<std::int64_t> copy_catalog(Sql& from, Sql& to);

// Copies what the catalog holds now, without its history and identity, as the transaction that
// `from` is in has it. The rest is as above. The epoch under which the copy can be changed.
[[nodiscard]] Result<Epoch> copy_state(Sql& from, Sql& to);

}  // namespace baton
