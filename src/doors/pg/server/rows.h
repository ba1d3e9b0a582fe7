// Rows of ours as PostgreSQL's protocol sends them, and its values as ours.
//
// Pure: no I/O.
#pragma once

#include <cstddef>
#include <deque>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "catalog/views/view_query.h"
#include "coordinator/reading/watch.h"
#include "doors/pg/server/statements.h"
#include "doors/pg/wire/values.h"
#include "model/table.h"
#include "ports/sql.h"
#include "sql/ast.h"

namespace baton::pgserver {

[[nodiscard]] pgwire::ColumnType column_type_of(kinds::ViewType type);
// Of a table, or of a question's answer.
[[nodiscard]] pgwire::Column column_of(std::string name, const SqlType& type);
[[nodiscard]] std::vector<pgwire::Column> columns_of(
    const std::vector<views::TableColumn>& columns);
// The same with OP and REVISION before them.
[[nodiscard]] std::vector<pgwire::Column> watched_columns_of(
    const std::vector<views::TableColumn>& columns);

[[nodiscard]] pgwire::Value value_of(const SqlValue& value, pgwire::ColumnType type);
[[nodiscard]] sql::Literal literal_of(const pgwire::Value& value);
[[nodiscard]] SqlValue sql_value_of(const pgwire::Value& value);

// One row for each row of a snapshot and for each change: "snapshot", "create", "update", "drop".
void append_events(std::deque<SqlRow>& rows, const std::vector<coordinator::WatchEvent>& events);

// A line of COPY with its end. Fails with cannot_format.
[[nodiscard]] Result<std::string> copy_line(const CopyFormat& format,
                                            std::span<const pgwire::Column> columns,
                                            const SqlRow& row);
[[nodiscard]] std::string copy_header(const CopyFormat& format,
                                      std::span<const pgwire::Column> columns);

}  // namespace baton::pgserver
