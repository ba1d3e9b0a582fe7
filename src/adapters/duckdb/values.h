// The values of an answer as clients get them: PostgreSQL's text forms.
#pragma once

#include <string>
#include <vector>

#include <duckdb.hpp>

#include "base/result.h"
#include "ports/sql.h"

namespace baton::duckdb_engine {

// Appends the rows of the chunk. Fails with cannot_convert for text that is not UTF-8 without NUL.
// May throw what DuckDB throws.
[[nodiscard]] Result<Done> append_rows(std::vector<SqlRow>& rows, duckdb::ClientContext& context,
                                       duckdb::DataChunk& chunk,
                                       const duckdb::vector<duckdb::string>& names);

}  // namespace baton::duckdb_engine
