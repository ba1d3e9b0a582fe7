// Looks at a whole catalog and says what is wrong with it, beyond what the database itself can
// check: the invariants between rows, and that everything stored can be read.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "ports/sql.h"

namespace baton::catalog {

// The problems, as sentences; empty if the catalog is sound. Reads one snapshot, changes nothing.
// Fails with catalog_version, and with errors of the database if it cannot be read at all.
[[nodiscard]] Result<std::vector<std::string>> catalog_problems(Sql& sql);

}  // namespace baton::catalog
