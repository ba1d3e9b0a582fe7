// A table as the sink of a query: to planning it is a sink whose type no descriptor knows, so that
// no statement can make one. Its options say to the worker where the table is, and how each row
// comes into it once.
#pragma once

#include "base/result.h"
#include "model/entities.h"
#include "model/table.h"

namespace baton {

inline constexpr const char* kTableSink = "Table";

// A URL without secrets; of a table that is managed, and has no URL yet, its folder in the store of
// the coordinators.
inline constexpr const char* kTableLocation = "LOCATION";
inline constexpr const char* kTableManaged = "MANAGED";  // TRUE: the location is still a folder
// Tells the query from all others, also from one of the same number in a catalog that was restored.
inline constexpr const char* kTableStamp = "STAMP";
// TRUE: the sources begin anew with each run, so that its rows replace those of earlier runs.
inline constexpr const char* kTableReplaces = "REPLACES";
inline constexpr const char* kTableRows = "ROWS";             // of an object, at most about
inline constexpr const char* kTablePeriod = "PERIOD_MS";      // until rows are in the table
inline constexpr const char* kTablePatience = "PATIENCE_MS";  // with a store that is away
// For planning alone; workers read the columns from the table's log.
inline constexpr const char* kTableColumns = "COLUMNS";
inline constexpr const char* kTableNullable = "NULLABLE";

// The table as planning sees it; it has no worker. A table that is read only has no columns.
[[nodiscard]] Sink sink_of(const Table& table);
// The columns of such a sink. Fails with type_mismatch for a text that is none of ours.
[[nodiscard]] Result<SqlColumns> columns_of_table(const Sink& sink);

}  // namespace baton
