// TableLog is one table at its location: it reads and writes the log there, and keeps the newest
// snapshot that it has seen. All decisions are those of core/tables.
//
// Reading:   newest() asks the store for the entry of the next version, mostly to hear that there
//            is none. Callers that come at the same time share one question. Now and then it also
//            looks whether the log is still the one that it knows: one that was cleaned up, or made
//            anew, is read from its newest checkpoint.
// Writing:   an entry is created under the next number, which one writer can do. A writer that lost
//            reads the other's entry, asks again whether its request fits, and takes the next
//            number; after ten of them it gives up with `conflict`. Threads of one process take
//            turns. An outcome that the store cannot say is settled by the nonce in the entry.
// Errors:    those of the store, damaged_table, table_not_supported; see each call.
// Calls block, within the patience of their StoreCall; any thread, many at once.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "core/tables/commit_plan.h"
#include "core/tables/log_files.h"
#include "core/tables/snapshot.h"
#include "core/tables/upkeep.h"
#include "ports/checkpoint_files.h"
#include "ports/clock.h"
#include "ports/object_store.h"

namespace baton::tables {

using SharedSnapshot = std::shared_ptr<const Snapshot>;

struct TableLogParts {
    std::shared_ptr<ObjectStore> store;
    std::string folder;  // of the table in the store, with its slash; empty: all of it
    const Clock* clock = nullptr;
    CheckpointFiles* checkpoints = nullptr;
    std::string temporary_folder;  // for checkpoints on their way; is there
    std::string engine = "Baton";  // with its version
    std::string process;           // no other process has the same: it makes the nonces
    UpkeepOptions upkeep;
    EntryLimits limits;
};

struct Committed {
    SharedSnapshot snapshot;   // with the request in it
    std::int64_t version = 0;  // of the entry; of the snapshot, if it was done before
    bool before = false;       // the request's transaction was in the table already
};

class TableLog {
public:
    explicit TableLog(TableLogParts parts);

    // The version that was the newest when it was called, or a newer one. Fails with damaged_table
    // if there is no table.
    [[nodiscard]] Result<SharedSnapshot> newest(const StoreCall& call);
    // Without asking the store; null: nothing was read yet.
    [[nodiscard]] SharedSnapshot known() const;
    // An older version. Fails with invalid_question if there is none, or no longer.
    [[nodiscard]] Result<SharedSnapshot> at_version(std::int64_t version, const StoreCall& call);

    // Makes the table, or finds one there with the same columns and partitions. Fails with
    // table_exists if another one, or other files, are there.
    [[nodiscard]] Result<SharedSnapshot> create(const TableDefinition& definition,
                                                const StoreCall& call);

    // Fails with conflict if the request no longer fits the table; with unknown_outcome if the
    // store does not say whether the entry was written.
    [[nodiscard]] Result<Committed> commit(const CommitRequest& request, const StoreCall& call);

    // The work of upkeep, as of the newest version. Merging is for the callers.
    [[nodiscard]] Result<Upkeep> upkeep(const StoreCall& call);
    [[nodiscard]] Result<Done> write_checkpoint(const StoreCall& call);
    // Deletes objects that were removed long enough ago, and old files of the log. How many.
    [[nodiscard]] Result<std::uint64_t> remove_old(const StoreCall& call);
    // Objects that no version names; remove_unreferenced() deletes them.
    [[nodiscard]] Result<std::vector<std::string>> unreferenced(const StoreCall& call);
    [[nodiscard]] Result<std::uint64_t> remove_unreferenced(const StoreCall& call);

    [[nodiscard]] const TableLogParts& parts() const { return parts_; }

private:
    struct Known {
        SharedSnapshot snapshot;
        std::string etag;  // of the entry of its version; empty: it was read from a checkpoint
        std::optional<Instant> verified;
        std::uint64_t loads = 0;  // a log that was made anew begins with lower versions
    };
    struct Listed {
        std::vector<ListedObject> files;
        std::optional<WallTime> store_now;
    };
    enum class Wrote : std::uint8_t { ours, lost, unknown };

    [[nodiscard]] std::string key(std::string_view name) const;
    [[nodiscard]] Error no_table() const;
    [[nodiscard]] std::string next_nonce();
    [[nodiscard]] CommitStamp stamp(std::string nonce) const;

    Result<Listed> list_log(const std::string& after, const StoreCall& call) const;
    Result<std::optional<Known>> load(std::optional<std::int64_t> version, const StoreCall& call);
    Result<ReadPlan> plan_load(std::optional<std::int64_t> version, const StoreCall& call);
    Result<std::optional<Known>> read_by(const ReadPlan& plan, const StoreCall& call);
    Result<Done> read_checkpoint(const std::string& name, SnapshotBuilder& builder,
                                 const StoreCall& call);
    Result<Done> fetch(const std::string& name, const std::string& path, const StoreCall& call);

    Result<Known> refresh(Known from, const StoreCall& call);
    Result<bool> is_same_log(const Known& known, const StoreCall& call);
    void publish(const Known& known);

    Result<Committed> commit_in_turn(const CommitRequest& request, const StoreCall& call);
    Result<Wrote> write_entry(const NextEntry& entry, const std::string& nonce,
                              const StoreCall& call);
    Result<SharedSnapshot> adopt(const TableDefinition& definition, const StoreCall& call);
    Result<bool> is_empty(const StoreCall& call);
    Result<Done> hint_checkpoint(const LastCheckpoint& last, const StoreCall& call);
    Result<std::optional<std::int64_t>> last_checkpoint(const StoreCall& call);
    Result<Done> forget_removals(WallTime before);

    const TableLogParts parts_;

    mutable std::mutex mutex_;
    std::condition_variable refreshed_;
    Known known_;
    bool refreshing_ = false;
    std::uint64_t started_ = 0;   // refreshes
    std::uint64_t finished_ = 0;  // of them
    std::optional<Error> error_;  // of the last one
    std::uint64_t nonces_ = 0;
    bool committing_ = false;
    std::condition_variable committed_;
};

}  // namespace baton::tables
