// The types of DuckDB and those of tables and answers, one as the other.
#pragma once

#include <duckdb.hpp>

#include "base/result.h"
#include "model/table.h"

namespace baton::duckdb_engine {

[[nodiscard]] duckdb::LogicalType logical_type_of(const SqlType& type);
[[nodiscard]] SqlType sql_type_of(const duckdb::LogicalType& type);

}  // namespace baton::duckdb_engine
