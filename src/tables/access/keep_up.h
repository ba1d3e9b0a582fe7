// keep_up() does for one table everything that core/tables/upkeep.h finds due: rows that are too
// old go, small objects become one, a checkpoint is written, and files that no reader needs are
// deleted. It has no memory: after an end in the middle the next call finds what is left.
//
// Merging:   one object is written of the rows of others and replaces them in one entry of the log,
//            so that a reader sees either. A merge that meets another one, or a removal, takes its
//            object back: of two coordinators that merge the same objects, one commits.
// Slow ones: an object that no version names is deleted after UpkeepOptions::deleted_after. An
//            entry that would name it is refused in half of that time (CommitRequest), so that no
//            slow writer loses an object that it has just added.
// Trouble:   work of one kind goes on where another fails; the first error is the answer.
// Calls block; any thread. Callers for one table at the same time get in each other's way, no more.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "base/result.h"
#include "model/entities.h"
#include "tables/access/table_access.h"

namespace baton::tables {

struct KeepUpOptions {
    std::size_t merges_max = 4;
    bool old_log_files = false;  // also files of the log that are too old: it has to be listed
    bool left_behind = false;    // also objects that no version names: all have to be listed
    // Asked before each act: true: it ends with cancelled.
    std::function<bool()> given_up = {};
};

struct KeptUp {
    SharedSnapshot snapshot;        // the newest
    std::uint64_t merges = 0;       // committed
    std::uint64_t merged = 0;       // objects that they replaced
    std::uint64_t conflicts = 0;    // merges that others made void
    std::uint64_t expired = 0;      // objects with rows that were too old
    std::uint64_t deleted = 0;      // files
    std::uint64_t left_behind = 0;  // of them
    bool checkpoint = false;        // was written
    bool more = false;              // is due at once

    // "3 merges of 24 objects, 1 checkpoint, 12 files deleted"; "nothing was due".
    [[nodiscard]] std::string in_words() const;
};

// The work that was done counts, even if it ends with an error.
struct KeepUpOutcome {
    KeptUp did;
    Result<Done> result = Done{};
};
[[nodiscard]] KeepUpOutcome keep_up(TableAccess& access, const Table& table,
                                    const KeepUpOptions& options);

// Everything that is due, as often as there is more, and the thorough work.
[[nodiscard]] Result<KeptUp> keep_up_whole(TableAccess& access, const Table& table,
                                           const std::function<bool()>& given_up);

// Deletes all objects below the folder of a managed table that was dropped. True: none was there.
[[nodiscard]] Result<bool> delete_folder(TableAccess& access, const std::string& location,
                                         const std::function<bool()>& given_up);

}  // namespace baton::tables
