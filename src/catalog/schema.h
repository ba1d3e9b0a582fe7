// The tables of the catalog, for every database that ports/sql can reach, and how one version
// becomes the next.
//
// Rules: a migration that was released is never edited (testdata/schema_1.sql and its successors
// hold what each version looks like). Migrations run in one transaction each, in
// order, and the version is written in the same transaction. A catalog of a newer version is
// refused and left untouched.
#pragma once

#include <cstdint>

#include "base/result.h"
#include "ports/sql.h"

namespace baton::catalog {

// The version this program writes.
[[nodiscard]] std::int64_t schema_version();

// Brings the database to this program's version; does nothing if it is there already.
// An empty database gets all of it. Fails with catalog_version for a newer one, and for one that is
// not a catalog.
[[nodiscard]] Result<Done> migrate(Sql& sql);

// The same, but no further than that version: how a catalog of an older program looked.
[[nodiscard]] Result<Done> migrate_up_to(Sql& sql, std::int64_t version);

// Whether migrate() would bring it up to date. Fails with catalog_version for one of a newer
// program.
[[nodiscard]] Result<bool> is_of_older_version(Sql& sql);

// Fails with catalog_version unless the database has exactly this program's version.
[[nodiscard]] Result<Done> require_current_version(Sql& sql);

}  // namespace baton::catalog
