// The columns of a table as the log says them: the JSON form of a schema in Spark.
//
// TIMESTAMP and TIMESTAMPTZ are both `timestamp` there, microseconds in UTC: a column that was
// declared as TIMESTAMP says so in its metadata (`baton.type`), which other engines ignore.
// `timestamp_ntz` of others is TIMESTAMP.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "model/table.h"

namespace baton::tables {

// The columns must have types of tables.
[[nodiscard]] std::string schema_text(const SqlColumns& columns);

// Fails with damaged_table, and with table_not_supported for a type that questions do not have.
[[nodiscard]] Result<SqlColumns> columns_of(std::string_view schema_text);

// Features that the columns themselves ask of a writer: "invariants", "generatedColumns", ..
[[nodiscard]] std::vector<std::string> features_of_columns(std::string_view schema_text);

}  // namespace baton::tables
