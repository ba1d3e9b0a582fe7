// Rows of a query as clients are given them.
#pragma once

#include <vector>

#include "base/result.h"
#include "engine/arrow/arrow_ipc.h"
#include "model/schema.h"
#include "ports/sql.h"

namespace baton::engine {

// Whole numbers are integers, and text of their digits beyond 2^63 - 1; truth values are 0 and 1.
// Fails with malformed_message where the bytes are no batch of this schema.
[[nodiscard]] Result<std::vector<SqlRow>> rows_in(const Schema& schema,
                                                  const arrow::ArrowBytes& batch);

}  // namespace baton::engine
