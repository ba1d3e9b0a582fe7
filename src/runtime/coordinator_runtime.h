// CoordinatorRuntime keeps one catalog open and serves it to sessions and watchers in this process.
//
// Threads: sessions, watches and snapshots may be used from any threads, each by one at a time. Two
// threads of its own write (CommitLoop) and sync, publish and answer (Settler); with a transport a
// third decides about workers and queries (ControlLoop). Everything taken from a CoordinatorRuntime
// ends before it does.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <string>

#include "base/result.h"
#include "catalog/reader.h"
#include "core/planning/planner.h"
#include "ports/clock.h"
#include "ports/result_streams.h"
#include "ports/sql.h"
#include "ports/transport.h"
#include "runtime/client_queries.h"
#include "runtime/commit_loop.h"
#include "runtime/control_loop.h"
#include "runtime/controller.h"
#include "runtime/durable.h"
#include "runtime/feed.h"
#include "runtime/readers.h"
#include "runtime/watch.h"

namespace baton {

struct CoordinatorOptions {
    CommitLoopOptions commits;
    std::size_t readers_max = 16;
    std::size_t changes_in_memory = 65'536;
    Planner planner;  // none: plan()
    // How workers are reached; outlives the coordinator. None: queries stay PENDING, and nobody
    // looks after the workers.
    Transport* transport = nullptr;
    // How rows for clients come from workers; outlives the coordinator. None: only views can be
    // asked without INTO.
    ResultStreams* results = nullptr;
    ControllerOptions control;  // its epoch is that of the commits
};

class CoordinatorRuntime {
public:
    // Brings the catalog to this program's version if it has to, and drops the queries of clients
    // of an earlier process. Fails with errors of the database
    // and catalog_version. `clock` outlives it.
    [[nodiscard]] static Result<std::unique_ptr<CoordinatorRuntime>> open(
        std::unique_ptr<SqlDatabase> database, const Clock& clock,
        const CoordinatorOptions& options = {});
    // Answers the requests that are waiting, then closes.
    ~CoordinatorRuntime();
    CoordinatorRuntime(const CoordinatorRuntime&) = delete;
    CoordinatorRuntime& operator=(const CoordinatorRuntime&) = delete;

    // Does what the bundle asks, planning its queries against a snapshot first, and again if the
    // catalog changed below the plan; after some attempts the writer plans itself, which ends it.
    // Never NeedsPlan.
    [[nodiscard]] Outcome execute(Bundle bundle);
    // One request by itself, not logged.
    [[nodiscard]] Result<Answer> execute(const Request& request);

    // What a query over these names would be planned with now.
    [[nodiscard]] Result<PlanningView> planning_view(const MentionedNames& names);

    [[nodiscard]] Result<Snapshot> snapshot() { return readers_.snapshot(); }
    [[nodiscard]] Result<std::unique_ptr<Watch>> watch(const ViewQuery& query,
                                                       std::optional<Revision> since = {},
                                                       std::function<void()> wake = nullptr);
    // Null: there is no way to the rows of queries.
    [[nodiscard]] ResultStreams* results() const { return results_; }
    // The client is gone, or has what it wanted. Nobody waits for it.
    void drop_for_client(QueryId query) { client_queries_.drop(commits_, query); }
    // What workers last told of the fragments that run.
    [[nodiscard]] LiveCounts live_counts() const;
    [[nodiscard]] Feed& feed() { return feed_; }
    [[nodiscard]] CommitLoop& commits() { return commits_; }
    [[nodiscard]] const Clock& clock() const { return clock_; }

    // A consistent copy of the catalog while it is in use.
    [[nodiscard]] Result<Done> backup_to(const std::string& path);

private:
    CoordinatorRuntime(std::unique_ptr<SqlDatabase> database, std::unique_ptr<Sql> writer,
                       std::unique_ptr<SqlSync> sync, const Clock& clock,
                       const CoordinatorOptions& options, Revision start);
    void interrupt_embedded();
    // Plans the queries as if the bundle's other steps did not matter; the commit finds out if they
    // do. Fails only if the first step cannot be planned.
    [[nodiscard]] Result<Done> plan_ahead(Bundle& bundle);

    std::unique_ptr<SqlDatabase> database_;
    const Clock& clock_;
    const Planner planner_;
    Durable durable_;
    Readers readers_;
    Feed feed_;
    ResultStreams* const results_;
    ClientQueries client_queries_;
    std::mutex cluster_mutex_;
    Reader::KnownCluster cluster_;          // shared by the plans made while it is current
    CommitLoop commits_;                    // its thread uses the feed
    std::unique_ptr<ControlLoop> control_;  // last: its thread uses everything above
};

}  // namespace baton
