// Puts a backup in the place of a catalog.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"

namespace baton::sqlite {

// Makes `path` a whole, durable copy of the catalog in the file `backup`, which the caller has
// checked. An existing catalog is kept under the name `keep_as`; none: there must not be one.
// Returns the names of the files that are kept.
//
// An interrupted restore leaves a catalog under `path`, the old one or the new, and never an empty
// place in which a new one would be made. Errors: write_rejected if something is there and it has
// no name to keep it under, catalog_in_use, catalog_full, and those of opening the backup.
[[nodiscard]] Result<std::vector<std::string>> restore_sqlite(
    const std::string& path, const std::string& backup, const std::optional<std::string>& keep_as);

}  // namespace baton::sqlite
