// Reads the tree of a question, as JSON, into the statement that DuckDB executes: exactly the tree
// that was checked, without a text in between that would be parsed a second time.
#pragma once

#include <duckdb.hpp>
#include <duckdb/parser/statement/select_statement.hpp>

#include "base/result.h"
#include "core/json/json.h"

namespace baton::duckdb_engine {

constexpr std::size_t kTreeBytesMax = std::size_t{64} << 20U;
constexpr std::size_t kTreeDepthMax = 2'000;  // of JSON; an expression takes up to three levels

// Fails with defect if this is no tree that DuckDB's serializer writes.
[[nodiscard]] Result<duckdb::unique_ptr<duckdb::SelectStatement>> statement_of(
    const json::Value& tree);
[[nodiscard]] Result<duckdb::unique_ptr<duckdb::SelectStatement>> statement_of(
    const std::string& tree);

}  // namespace baton::duckdb_engine
