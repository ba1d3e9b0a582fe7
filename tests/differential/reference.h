// What SQLite answers, as rows of CSV text.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "differential/cases.h"

namespace baton::differential {

// Fails with defect: both dialects were made by us.
[[nodiscard]] Result<std::vector<std::string>> reference_rows(const Case& of);

// The rows of a table as a source reads them.
[[nodiscard]] std::vector<std::string> csv_rows(const Table& table);

}  // namespace baton::differential
