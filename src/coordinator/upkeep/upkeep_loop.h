// UpkeepLoop looks after the tables of a catalog while its coordinator leads: it notes in the
// catalog which version of a table is the newest, has tables/access do what is due, and deletes the
// folders of tables that were dropped.
//
// A pure machine (core/tables/upkeep_schedule.h) says when. One thread carries notes and changes of
// the catalog, so that a note never waits for a merge; looks run on a lane of their own. Before
// each act the TermGuard is asked. Nothing is kept here that a successor would miss: it finds in
// the catalog and in the stores what is left to do.
//
// A folder is deleted `dropped_after` its table was dropped: no statement reads it that long. It is
// listed once more later, and forgotten when nothing is there. A folder that a table of the catalog
// has is never deleted.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "base/result.h"
#include "coordinator/commit/commit_loop.h"
#include "coordinator/commit/feed.h"
#include "coordinator/commit/term_guard.h"
#include "coordinator/reading/readers.h"
#include "core/tables/upkeep_schedule.h"
#include "model/entities.h"
#include "ports/clock.h"
#include "ports/log.h"
#include "tables/access/keep_up.h"
#include "tables/access/table_access.h"
#include "threads/doorbell.h"
#include "threads/lane.h"

namespace baton::coordinator {

struct UpkeepLoopOptions {
    tables::UpkeepScheduleOptions schedule;
    Duration dropped_after = std::chrono::hours(1);
    Duration folders_every = std::chrono::minutes(10);  // a look at the tables that were dropped
    Duration again_after = std::chrono::seconds(1);     // the catalog cannot be read
    std::uint64_t seed = 1;                             // of the jitter
};

// Since the process began; any thread.
struct UpkeepCounts {
    std::atomic<std::uint64_t> commits = 0;  // of rows that clients of this coordinator added
    std::atomic<std::uint64_t> looks = 0;
    std::atomic<std::uint64_t> failures = 0;  // of looks, and of deleting folders
    std::atomic<std::uint64_t> notes = 0;
    std::atomic<std::uint64_t> merges = 0;
    std::atomic<std::uint64_t> merged_objects = 0;
    std::atomic<std::uint64_t> conflicts = 0;
    std::atomic<std::uint64_t> expired_objects = 0;
    std::atomic<std::uint64_t> checkpoints = 0;
    std::atomic<std::uint64_t> deleted_files = 0;
    std::atomic<std::uint64_t> deleted_folders = 0;
};

class UpkeepLoop {
public:
    struct World {
        CommitLoop& commits;
        Readers& readers;
        Feed& feed;
        tables::TableAccess& tables;
        const Clock& clock;
        TermGuard guard;
        UpkeepCounts& counts;
        Log* log = nullptr;  // none: no lines
    };

    // Everything in `world` outlives the loop. A note may be answered after it is gone.
    UpkeepLoop(const UpkeepLoopOptions& options, World world);
    // Work that runs is cut short: a successor goes on.
    ~UpkeepLoop();
    UpkeepLoop(const UpkeepLoop&) = delete;
    UpkeepLoop& operator=(const UpkeepLoop&) = delete;

    // Any thread; does not wait.
    void rows_added(const std::string& table);

private:
    // Between the loop's thread and all others; outlives the loop in the hands of commits.
    struct Inbox {
        std::mutex mutex;
        std::set<std::string> added;  // tables that have new rows
        std::vector<tables::UpkeepEvent> events;
        std::optional<std::set<EntityKey>> changed;  // in the catalog; no keys: anything
        threads::Doorbell bell;

        void post(tables::UpkeepEvent event);
    };
    // Of a table, between looks.
    struct Memory {
        std::int64_t version = -1;  // at the last look
        std::string trouble;        // at the last look
    };

    void run();
    [[nodiscard]] std::vector<tables::UpkeepEvent> take_in();
    void look_at_catalog();
    [[nodiscard]] Result<Done> read_tables(const std::set<EntityKey>& changed);
    void carry_out(const std::vector<tables::UpkeepEffect>& effects);
    void note(const std::string& name);
    void look(const tables::LookAfter& wanted);
    void count(const tables::KeptUp& did);
    [[nodiscard]] tables::upkeep_event::LookEnded::Found found_by(
        const std::string& name, const tables::KeepUpOutcome& outcome);
    void look_at_folders();
    [[nodiscard]] Result<Done> delete_folders();
    [[nodiscard]] Result<Done> delete_dropped(const std::string& location);
    void report(const std::string& what, std::string& before, const Result<Done>& result);
    [[nodiscard]] bool is_over() const;
    void submit(catalog::Request request, std::function<void(bool)> ended);

    const UpkeepLoopOptions options_;
    const World world_;
    const std::shared_ptr<Inbox> inbox_ = std::make_shared<Inbox>();
    std::atomic<bool> closing_ = false;

    // Of the loop's thread alone.
    tables::UpkeepSchedule schedule_;
    std::map<std::string, Table> tables_;
    std::optional<std::set<EntityKey>> changed_;  // and not read yet; no keys: anything
    Instant read_at_;                             // after trouble
    Instant folders_at_;
    std::string trouble_;  // with the catalog

    std::mutex mutex_;
    std::map<std::string, Memory> memories_;
    std::string folder_trouble_;
    bool folders_busy_ = false;

    Feed::Registration registration_;
    threads::Lane lane_;  // its threads use everything above
    std::thread thread_;  // last: it uses everything above
};

}  // namespace baton::coordinator
