// Is this file a catalog, and a whole one? SQLite by itself would take an empty file for a new
// database, and would find most damage only when it happens to read there.
#pragma once

#include <string>
#include <vector>

#include "adapters/sqlite/connection.h"
#include "base/result.h"

namespace baton::sqlite {

// Looks at the first page as it is on disk, before SQLite does anything with the file.
// catalog_corrupt or catalog_version.
struct FileLength {
    std::int64_t bytes = 0;
    bool matches = true;  // what the header says; false only beside a log that may hold the rest
};
[[nodiscard]] Result<FileLength> verify_header(sqlite3* db, const Settings& settings);
// The file is as long as its header says. True only while nothing is left in the log.
[[nodiscard]] Result<Done> verify_length(sqlite3* db, const Settings& settings);
// The structure of every page: quick_check.
[[nodiscard]] Result<Done> verify_pages(sqlite3* db, const Settings& settings);

// The findings of the pragma (quick_check or integrity_check), at most 100 sentences; fails if it
// cannot run at all.
[[nodiscard]] Result<std::vector<std::string>> problems_of(sqlite3* db, const Settings& settings,
                                                           const std::string& pragma);

}  // namespace baton::sqlite
