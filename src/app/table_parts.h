// TableParts is everything behind tables and questions in a process: the engine, the stores, and
// the way from a table of the catalog to its log.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "adapters/store_places/allowed_stores.h"
#include "adapters/system/open_file.h"
#include "base/result.h"
#include "core/planning/planner.h"
#include "ports/checkpoint_files.h"
#include "ports/clock.h"
#include "ports/local_objects.h"
#include "ports/question_engine.h"
#include "stores/url_stores.h"
#include "tables/access/table_access.h"
#include "worker/node/permits.h"

namespace baton::app {

struct TableSettings {
    std::string store;                   // URL for tables without a location; empty: `folder`
    std::string folder;                  // for them, made if it is not there; empty: none
    std::string work_folder;             // for files on their way, spilling and checkpoints
    std::uint64_t memory = 1ULL << 30U;  // bytes, of all questions together
    std::size_t slots = 4;               // questions that are computed at once
    // Bytes of copies of objects from far stores, and at most half of the disk that is free.
    std::uint64_t cache = 10ULL << 30U;
    // Where tables with a TABLE.LOCATION may be.
    files::FileRules files;
    targets::TargetRules targets;
    // Plans come from another process, so that their tables are where those above allow, too.
    bool foreign_plans = false;
};

class TableParts {
public:
    // Takes a folder in the work folder that no other process has, and empties it. The clock
    // outlives it.
    [[nodiscard]] static Result<std::unique_ptr<TableParts>> open(const TableSettings& settings,
                                                                  const Clock& clock);

    // Destroy it after the coordinator that uses it.
    [[nodiscard]] tables::TableAccess& access() { return *access_; }
    // The same for a worker in this process: a writer of its own.
    [[nodiscard]] tables::TableAccess& worker_access() { return *worker_access_; }
    // For queries into tables.
    [[nodiscard]] planning::Planner planner() const;
    [[nodiscard]] stores::UrlStores& stores() { return *stores_; }

private:
    TableParts() = default;
    [[nodiscard]] Result<std::string> take_folder(const std::string& work_folder);

    system::OpenFile lock_;  // of the folder in the work folder
    std::unique_ptr<stores::UrlStores> stores_;
    std::unique_ptr<ObjectStores> allowed_;
    std::unique_ptr<LocalObjects> objects_;
    std::unique_ptr<QuestionEngine> engine_;
    std::unique_ptr<CheckpointFiles> checkpoints_;
    std::unique_ptr<tables::TableAccess> access_;
    std::unique_ptr<tables::TableAccess> worker_access_;
    std::string url_;  // of the store for managed tables, absolute and without secrets
};

}  // namespace baton::app
