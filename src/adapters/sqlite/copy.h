// Copies a database in use, as of one moment.
#pragma once

#include <string>

#include "adapters/sqlite/connection.h"
#include "base/result.h"

namespace baton::sqlite {

// Writes the database of `source` to a new file at `path`, while others read and write it. The copy
// is checked and durable when Done is returned; otherwise nothing is left behind. It needs no log
// beside it: it can be read from a medium that cannot be written.
// write_rejected if there is a file already.
[[nodiscard]] Result<Done> copy_database(const Settings& source, const std::string& path);

}  // namespace baton::sqlite
