// plan_commit() makes the next entry of a log of a request, or says why the request no longer fits
// the table. It is asked again for each new version until the entry is written.
//
// Conflicts: an object that is to be removed is gone; the columns or partitions are not those that
// the objects were written for; a key is in the table already; the objects were written so long ago
// that upkeep may have removed them as left behind. Adding beside other additions is
// never one. A request whose transaction is in the table already is done.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/result.h"
#include "core/tables/actions.h"
#include "core/tables/snapshot.h"

namespace baton::tables {

struct CommitRequest {
    std::string operation = "WRITE";
    std::vector<TableObject> add;
    std::vector<std::string> remove;
    // False: the rows of the table stay the same, as when objects are merged.
    bool changes_rows = true;
    // The application and its number, above all that it has used: done once, however often it is
    // asked for. An application of once() may be forgotten after a week.
    std::optional<Transaction> transaction;
    // For which the objects were written; none: nothing depends on it.
    std::optional<Layout> layout;
    // When the first of the objects was begun. Objects that no version names are removed some time
    // after they were written, so that an entry must not name them late: that is a conflict.
    std::optional<WallTime> written_since = {};
};

// The name of the application of an idempotency key.
[[nodiscard]] std::string once(std::string_view key);
[[nodiscard]] bool is_once(std::string_view application);

struct CommitStamp {
    WallTime now;
    std::string engine;  // "Baton/0.1.0"
    std::string nonce;   // of this attempt
    // From the first object of a request to its entry; half of the time for which objects that no
    // version names are left alone (UpkeepOptions::deleted_after).
    Duration add_within = std::chrono::minutes(30);
};

struct NextEntry {
    std::int64_t version = 0;
    std::string text;
};
struct AlreadyDone {
    std::int64_t number = 0;  // of the application, which is at least that of the request
};
struct Conflict {
    std::string reason;
};
using CommitPlan = std::variant<NextEntry, AlreadyDone, Conflict>;

// Fails with table_not_supported for a table that may not be written, with cannot_convert for a
// value of a partition that the log cannot say, and with too_large.
[[nodiscard]] Result<CommitPlan> plan_commit(const Snapshot& snapshot, const CommitRequest& request,
                                             const CommitStamp& stamp);

struct TableDefinition {
    std::string id;  // a UUID
    std::string name;
    SqlColumns columns;
    std::vector<std::string> partition_by;
};

// The first entry of a table. Fails with type_mismatch for columns that a table cannot have, with
// unknown_field and type_mismatch for partitions.
[[nodiscard]] Result<std::string> first_entry(const TableDefinition& definition,
                                              const CommitStamp& stamp);

// The key of a new object: "day=2026-11-15/part-<name>.parquet". Its folders are for people; the
// values are those of the log.
[[nodiscard]] std::string object_key(
    const Layout& layout, const std::map<std::string, std::optional<std::string>>& partition,
    std::string_view name);

// The nonce of an entry: whose bytes they are.
[[nodiscard]] std::string nonce_of(std::string_view entry, const EntryLimits& limits);

}  // namespace baton::tables
