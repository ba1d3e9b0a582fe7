// Texts that are compared as if they went on with blanks, as MariaDB does unless told otherwise.
#pragma once

#include "base/result.h"
#include "ports/sql.h"

namespace baton {

// What version 3 of the catalog does: no text of the tables of version 2 is compared like that any
// more. It can be done again after an attempt that was interrupted.
[[nodiscard]] Result<Done> take_padding_away(Sql& sql);

}  // namespace baton
