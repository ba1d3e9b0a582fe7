// The secret of a catalog that coordinators share: a process that knows it can read the catalog,
// and so is one of them. No view shows it, and a copy of the catalog has another. It is never sent:
// the proofs between coordinators follow from it and from the address of the one that is asked.
#pragma once

#include <string>

#include "base/result.h"
#include "ports/sql.h"

namespace baton::catalog {

// The secret; `proposed` becomes it if there is none yet.
[[nodiscard]] Result<std::string> coordinator_secret(Sql& sql, const std::string& proposed);

}  // namespace baton::catalog
