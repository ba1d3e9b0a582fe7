// Catalogs at the place that settings and command lines name: sqlite:PATH, postgres://.. or
// mysql://..
#pragma once

#include <chrono>
#include <memory>
#include <string>

#include "base/result.h"
#include "base/time.h"
#include "ports/sql.h"
#include "ports/sql_signals.h"

namespace baton::app {

// A URL of a database server, as opposed to a path.
[[nodiscard]] bool is_server(const std::string& where);
// For people: without the password.
[[nodiscard]] std::string shown_place(const std::string& where);
// Otherwise: sqlite:PATH or PATH, of the file or of the directory that it is in.
[[nodiscard]] std::string file_of_catalog(std::string where);

// The catalog there, with the tables of this version; they are made if there are none, and brought
// to this version if they are older. A file must exist unless `create`. A server ends a session
// that stands still in a transaction for so long: its process was stopped, and others wait for it.
[[nodiscard]] Result<std::unique_ptr<SqlDatabase>> open_catalog_at(
    const std::string& where, bool create, Duration standstill_max = std::chrono::seconds(5));
// The same, to look at: nothing is made or changed, and a file is not locked.
[[nodiscard]] Result<std::unique_ptr<SqlDatabase>> look_at_catalog(const std::string& where);

// Before anybody reads what this version has and an older one has not. True: the catalog was of an
// older version, and programs of that one refuse it from now on.
[[nodiscard]] Result<bool> bring_up_to_date(SqlDatabase& database);

// Reports commits of others there; none: that database cannot.
[[nodiscard]] std::unique_ptr<SqlSignals> signals_of(const std::string& where);

// Copies the catalog, which no coordinator may use now, and checks the copy. The exit status.
[[nodiscard]] int run_catalog_migrate(const std::string& from, const std::string& to);

}  // namespace baton::app
