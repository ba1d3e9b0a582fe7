// upkeep() says what is to be done so that a table stays quick and small: which objects to merge
// into one, which to remove because their rows are too old, which to delete because no reader needs
// them, and whether a checkpoint is due. log_cleanup() does the same for the files of the log.
//
// Merging:   objects of one partition and of like size, the oldest first, so that a row is written
//            again only a few times in its life. A partition to which nothing was added for a day
//            is merged as far as it goes.
// Retention: by the first partition column that is a date or a timestamp, else by the first such
//            column. An object goes when its newest row is too old, whole or not at all. Where its
//            log does not say, the time when it was written counts.
// Deleting:  an object is deleted an hour after its removal; no statement runs that long. A table
//            of another engine that says a longer time (delta.deletedFileRetentionDuration), or
//            none, which means a week there, has that time. So has the log.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/tables/snapshot.h"

namespace baton::tables {

struct UpkeepOptions {
    std::optional<std::uint32_t> retention_days;
    std::uint64_t object_bytes = 128ULL << 20U;  // large enough: never merged
    std::size_t merged_at_once = 8;              // objects of like size
    std::size_t objects_at_once = 500;           // of one merge
    std::size_t merges_max = 16;                 // of one answer
    std::size_t expired_max = 10'000;            // of one answer, which is one entry of the log
    Duration deleted_after = std::chrono::hours(1);
    std::int64_t checkpoint_every = 100;                      // versions
    Duration transactions_kept = std::chrono::hours(24 * 7);  // of once()
    Duration removals_kept = std::chrono::hours(24);          // in a checkpoint
    Duration log_kept = std::chrono::hours(24 * 30);
};

// As the table itself demands, if that is longer.
[[nodiscard]] UpkeepOptions options_for(const Metadata& metadata, UpkeepOptions options);

struct Merge {
    std::map<std::string, std::optional<std::string>> partition;
    std::vector<TableObject> objects;
};

struct Upkeep {
    std::vector<Merge> merges;
    std::vector<std::string> expired;    // to be removed from the table
    std::vector<std::string> deletable;  // to be deleted from the store; in the order of keys
    bool checkpoint_due = false;
};

// `last_checkpoint`: the version of the newest that is known.
[[nodiscard]] Upkeep upkeep(const Snapshot& snapshot, std::optional<std::int64_t> last_checkpoint,
                            WallTime now, const UpkeepOptions& options);

// The removed objects that no reader needs any longer, in the order of keys. Part of upkeep().
[[nodiscard]] std::vector<std::string> deletable(const Snapshot& snapshot, WallTime now,
                                                 const UpkeepOptions& options);

// The column whose age counts for retention; none: the time of writing.
[[nodiscard]] std::optional<std::string> retention_column(const Layout& layout);

struct StoredLogFile {
    std::string key;
    WallTime modified;
};
// Files of the log that no version younger than `log_kept` needs: those before the newest whole
// checkpoint of that age. `options` are those for the table.
[[nodiscard]] std::vector<std::string> log_cleanup(const std::vector<StoredLogFile>& files,
                                                   WallTime now, const UpkeepOptions& options);

struct StoredTableObject {
    std::string key;
    WallTime modified;
};
// Objects below the table's location that no version of the log names, neither as there nor as
// removed, and that have been there for an hour: left behind by writers that died. Files whose
// names or folders begin with a dot or an underscore are not ours.
[[nodiscard]] std::vector<std::string> unreferenced(const Snapshot& snapshot,
                                                    const std::vector<StoredTableObject>& objects,
                                                    WallTime now, const UpkeepOptions& options);

// Whether each object of an older version is still there: none may have been deleted since.
[[nodiscard]] bool can_be_read(const Snapshot& older, const Snapshot& newest, WallTime now,
                               const UpkeepOptions& options);

// The actions of a checkpoint as lines of JSON, a piece at a time: protocol and metadata first.
class CheckpointText {
public:
    CheckpointText(Snapshot snapshot, WallTime now, const UpkeepOptions& options);

    [[nodiscard]] std::string next();                                 // empty: that was all
    [[nodiscard]] std::uint64_t actions() const { return actions_; }  // so far

private:
    std::string head();
    std::string block_text(const Block& block);

    Snapshot snapshot_;
    WallTime removals_since_;
    WallTime transactions_since_;
    std::size_t next_block_ = 0;
    bool begun_ = false;
    std::uint64_t actions_ = 0;
};

}  // namespace baton::tables
