// TableAccess is the way from a table of the catalog to its store and its log.
//
// A table that is managed is a folder of the store that all coordinators of a catalog share; others
// are where their location says. A table that was opened stays open for the next caller, up to a
// number of tables. One that was dropped and made anew at the same location is opened anew.
//
// Calls block; any thread, many at once.
#pragma once

#include <cstdint>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "base/result.h"
#include "model/entities.h"
#include "ports/checkpoint_files.h"
#include "ports/clock.h"
#include "ports/local_objects.h"
#include "ports/object_store.h"
#include "ports/question_engine.h"
#include "tables/table_log.h"

namespace baton::tables {

// All outlive the access.
struct TableAccessParts {
    ObjectStores* stores = nullptr;
    QuestionEngine* engine = nullptr;
    CheckpointFiles* checkpoints = nullptr;
    const Clock* clock = nullptr;
    LocalObjects* objects = nullptr;  // none: only stores of this machine are read
    std::string default_store;  // the URL of the store for tables that are managed; empty: none
    std::string work_folder;    // for files on their way; is there
    std::string process;        // no other process has the same
    std::string engine_name;    // "Baton/0.1.0", in the logs
    std::size_t tables_max = 256;
    UpkeepOptions upkeep = {};  // of each table; its options may say more
};

// Where a table is: another table is elsewhere, as long as both are there.
[[nodiscard]] inline std::string place_of(const Table& table) {
    return (table.managed ? "m:" : "u:") + table.location;
}

struct OpenTable {
    std::shared_ptr<ObjectStore> store;
    std::string folder;  // of the table in the store, with its slash; empty: all of it
    std::shared_ptr<TableLog> log;
    WallTime created;  // of the table in the catalog

    // The object as the store has it.
    [[nodiscard]] std::string key(const TableObject& object) const { return folder + object.key; }
};

class TableAccess {
public:
    explicit TableAccess(TableAccessParts parts) : parts_(std::move(parts)) {}

    // Does not look whether there is a table. Fails with the errors of ObjectStores::open, and with
    // missing_configuration for a managed table where no store is set.
    [[nodiscard]] Result<std::shared_ptr<OpenTable>> open(const Table& table);
    // Makes the log, or takes one that is there and has the same columns.
    [[nodiscard]] Result<Done> create(const Table& table, const StoreCall& call);
    // The store of the tables that are managed. Fails with missing_configuration if there is none.
    [[nodiscard]] Result<std::shared_ptr<ObjectStore>> managed_store();

    // Where programs of this machine read the object: in its store, or a copy of it (LocalObjects).
    [[nodiscard]] Result<LocalFile> local_file(const OpenTable& table, const TableObject& object,
                                               const StoreCall& call);
    // The same for many, several at once; in their order. The first error ends it.
    [[nodiscard]] Result<std::vector<LocalFile>> local_files(
        const OpenTable& table, const std::vector<TableObject>& objects, const StoreCall& call);

    // A path that no other caller gets.
    [[nodiscard]] std::string work_path();
    [[nodiscard]] const TableAccessParts& parts() const { return parts_; }

private:
    using Recent = std::list<std::pair<std::string, std::shared_ptr<OpenTable>>>;

    [[nodiscard]] Result<std::shared_ptr<OpenTable>> open_new(const Table& table);
    // Null: none, or that of a table that is gone.
    [[nodiscard]] std::shared_ptr<OpenTable> find_open(const std::string& place, WallTime created);
    [[nodiscard]] Result<Done> check_room(const std::vector<TableObject>& objects) const;

    const TableAccessParts parts_;
    std::mutex mutex_;
    Recent recent_;  // the last one used comes first
    std::map<std::string, Recent::iterator> by_place_;
    std::uint64_t paths_ = 0;
};

}  // namespace baton::tables
