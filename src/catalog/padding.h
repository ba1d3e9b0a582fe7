// Removes padded comparison from the tables: MariaDB, by default, compares texts as if the shorter
// one went on with blanks.
#pragma once

#include "base/result.h"
#include "ports/sql.h"

namespace baton::catalog {

// The step to version 3 of the catalog, after which no text of the tables of version 2 is compared
// like that. It can be repeated after an attempt that was interrupted.
[[nodiscard]] Result<Done> take_padding_away(Sql& sql);

}  // namespace baton::catalog
