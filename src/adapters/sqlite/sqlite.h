// The catalog in one SQLite file: opened, created, checked, backed up.
//
// Durable:  what commit() confirmed, or a sync where that is deferred, survives a crash and the
// loss
//           of power (WAL).
// Alone:    one process at a time holds a database, by a lock on `<path>.lock`, with its pid in it.
// Whole:    a new file appears under its name only when `initialise` has succeeded; a file that is
//           empty, shortened, overwritten or not a catalog is refused, never repaired or replaced.
// Private:  files are created with mode 0600.
// Readers:  see a snapshot, never wait for the writer and never make it wait. A reader that stays
//           in its transaction keeps the log from being reused meanwhile.
// Log:      only the writer copies the log into the file, after its commits. In SQLite before
//           3.51.3 (Debian 12 has 3.40) two connections that do so at the same time damage the
//           file: see https://sqlite.org/wal.html#walresetbug. So there is one writer, and no call
//           for it.
// Local:    needs a file system with shared memory maps and locks; network file systems have none.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/time.h"
#include "ports/sql.h"

namespace baton::sqlite {

// In the header of every catalog, so that no other database is taken for one: "Bato".
inline constexpr std::int32_t kSqliteApplicationId = 0x4261746f;

struct SqliteOptions {
    std::string path;
    bool create = false;  // if there is no file yet
    // Fills a new database, before it gets its name. It ends its own transactions.
    std::function<Result<Done>(Sql& sql)> initialise;
    Duration busy_deadline = std::chrono::seconds(1);  // how long a writer waits for another
    std::int64_t cache_bytes = 16 << 20;               // per connection, at most
    bool lock = true;            // false for a look from beside: such a database only reads
    int log_pages_step = 2'000;  // how much the log grows before a commit copies it into the file
    // Look at every page when opening, which takes 2 to 4 ms per MB, if the file has at most so
    // many bytes. A larger one is opened at once: a file is whole after a crash, damage from
    // elsewhere is found when it is read, or by integrity_problems(). A file that was shortened is
    // found at any size.
    std::int64_t check_bytes_max = 32 << 20;
};

// Errors: catalog_unavailable (no file, no permission), catalog_in_use (with the pid of the
// holder), catalog_corrupt, catalog_version (the file format is newer), catalog_full, and those of
// `initialise`.
[[nodiscard]] Result<std::unique_ptr<SqlDatabase>> open_sqlite(const SqliteOptions& options);

// A database in memory that ends with its last connection, for tests and simulation; `path` is not
// used. It is a file in /dev/shm without syncs, because the databases that SQLite itself keeps in
// memory have no log: there, readers and the writer exclude each other.
[[nodiscard]] Result<std::unique_ptr<SqlDatabase>> open_temporary_sqlite(
    const SqliteOptions& options = {});

// A maker of those, filled by `initialise`: see coordinator/reading/rehearsal.h.
[[nodiscard]] std::function<Result<std::unique_ptr<SqlDatabase>>()> temporary_sqlites(
    std::function<Result<Done>(Sql& sql)> initialise);

// The faults of a catalog, as sentences: pages, indexes, constraints and references. Only reads and
// needs no lock. Fails if the file cannot be read at all.
[[nodiscard]] Result<std::vector<std::string>> integrity_problems(const std::string& path);

// How the tables, indexes and views of a catalog differ from those that `initialise` makes, as
// sentences: changes by other tools.
[[nodiscard]] Result<std::vector<std::string>> schema_problems(
    Sql& sql, const std::function<Result<Done>(Sql& sql)>& initialise);

}  // namespace baton::sqlite
