// CoordinatorRuntime keeps one catalog open and serves it to sessions and watchers in this process.
//
// It leads or it follows. A runtime that leads has a Term: it changes the catalog under its epoch,
// and looks after workers and queries. A runtime that follows answers reads and watches, reads the
// commits of the leader, and forwards changes to it; without a way to the leader it refuses them
// with fenced. Sessions, watches and snapshots outlive the change from one to the other. When a
// term ends, its pending requests are answered first.
//
// Threads: sessions, watches and snapshots may be used from any threads, each by one at a time. The
// runtime has two threads of its own: one writes (CommitLoop), one syncs, publishes and answers
// (Settler). With a transport it has a third, which decides about workers and queries
// (ControlLoop). Everything taken from a CoordinatorRuntime ends before it does.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "catalog/reader.h"
#include "coordinator/client_queries.h"
#include "coordinator/commit/commit_loop.h"
#include "coordinator/commit/durable.h"
#include "coordinator/commit/feed.h"
#include "coordinator/commit/term_guard.h"
#include "coordinator/control/control_loop.h"
#include "coordinator/control/controller.h"
#include "coordinator/locks.h"
#include "coordinator/questions/questions.h"
#include "coordinator/reading/follower.h"
#include "coordinator/reading/readers.h"
#include "coordinator/reading/rehearsal.h"
#include "coordinator/reading/stale_views.h"
#include "coordinator/reading/transaction_views.h"
#include "coordinator/reading/watch.h"
#include "coordinator/routing/forwarded_bundle.h"
#include "coordinator/routing/forwarder.h"
#include "coordinator/routing/leader_board.h"
#include "coordinator/upkeep/upkeep_loop.h"
#include "core/planning/planner.h"
#include "core/routing/route.h"
#include "ports/clock.h"
#include "ports/leader_line.h"
#include "ports/log.h"
#include "ports/result_streams.h"
#include "ports/sql.h"
#include "ports/store_account.h"
#include "ports/transport.h"
#include "tables/access/ingest.h"

namespace baton::coordinator {

struct CoordinatorOptions {
    CommitLoopOptions commits;
    std::size_t readers_max = 16;
    TransactionViewsOptions transactions;
    std::size_t changes_in_memory = 65'536;
    planning::Planner planner;  // none: plan()
    // The way to workers; outlives the coordinator. None: queries stay PENDING, and workers are not
    // looked after.
    Transport* transport = nullptr;
    // The way by which rows for clients come from workers; outlives the coordinator. None: a SELECT
    // without INTO can only ask views.
    ResultStreams* results = nullptr;
    ControllerOptions control;  // its epoch is that of the commits
    // Begin as a follower, of a database whose commits are durable by themselves; otherwise it
    // leads at once, under the epoch of the commits.
    bool follows = false;
    FollowerOptions following;
    // The way by which a follower forwards requests that only the leader can carry out; outlives
    // the coordinator. None: a follower refuses them with fenced.
    LeaderLine* line = nullptr;
    ForwarderOptions forwarding;
    StaleViewsOptions stale_views;  // only where it may follow: a file is never away
    // For long transactions of clients; none: each statement of one costs as much as all before it.
    ScratchDatabase scratch;
    // The way to tables, with the engine that answers questions; outlives the coordinator. None:
    // there are no tables, and SELECT asks streams and views alone.
    tables::TableAccess* tables = nullptr;
    PartsOptions questions_in_parts;
    UpkeepLoopOptions upkeep;
    // The cost of each store of tables, so far. None: it is not known.
    std::function<std::vector<StoreMeter>()> store_meters = {};
    Log* log = nullptr;   // for trouble that no client hears of; outlives it. None: no lines
    std::string version;  // of Baton
    std::size_t rehearsals_max = 8;
};

class CoordinatorRuntime {
public:
    // Migrates the catalog to this program's version if necessary, and drops the queries of clients
    // of an earlier process. Fails with errors of the database and catalog_version. `clock`
    // outlives the runtime.
    [[nodiscard]] static Result<std::unique_ptr<CoordinatorRuntime>> open(
        std::unique_ptr<SqlDatabase> database, const Clock& clock,
        const CoordinatorOptions& options = {});
    // Answers the requests that are waiting, then closes.
    ~CoordinatorRuntime();
    CoordinatorRuntime(const CoordinatorRuntime&) = delete;
    CoordinatorRuntime& operator=(const CoordinatorRuntime&) = delete;

    // Begins a term; the lease of this epoch is held. The guard is asked until the term has ended:
    // when it says no, the term is over, even before follow() is called. Fails with errors of the
    // database, and then goes on following. Call lead() and follow() from one thread, which is not
    // one that the runtime calls itself.
    [[nodiscard]] Result<Done> lead(Epoch epoch, const TermGuard& guard = {});
    // Ends the term, if there is one: pending requests are answered, no further command is sent,
    // and workers go on with their fragments. After that, no leader is known.
    void follow();
    // The coordinator that leads, as far as this process knows. The part of the process that takes
    // part in the election keeps it up to date.
    [[nodiscard]] LeaderBoard& leader() { return leader_; }
    [[nodiscard]] std::optional<Epoch> term() const;  // none: it follows
    // Whether each step has to carry its text as the client wrote it.
    [[nodiscard]] bool forwards() const { return forwarder_ != nullptr; }
    // The error that refuses a change, or something else that only the leader can do.
    [[nodiscard]] Error not_leading() const;

    // Takes the bundle along its route (core/routing): queries are planned against a snapshot
    // first, and again if the catalog changed below the plan; where another coordinator leads, the
    // bundle is forwarded to it. Waits for the outcome, which is never NeedsPlan.
    [[nodiscard]] Outcome execute(Bundle bundle);
    // The same without waiting for another coordinator. None: nothing happened, and only a
    // coordinator that leads elsewhere can carry it out.
    [[nodiscard]] std::optional<Outcome> execute_here(Bundle& bundle);
    // Carries out bundles that other coordinators forward to this one.
    [[nodiscard]] BundleExecutor executor();
    // One request by itself, not logged.
    [[nodiscard]] Result<catalog::Answer> execute(const catalog::Request& request);

    // The view with which a query over these names would be planned now.
    [[nodiscard]] Result<planning::PlanningView> planning_view(
        const planning::MentionedNames& names);

    [[nodiscard]] Result<Snapshot> snapshot(Readers::Urgency urgency = {}) {
        return readers_.snapshot(urgency);
    }
    // A copy of the catalog for a transaction that has become long; null: there are none here.
    [[nodiscard]] Result<std::unique_ptr<Rehearsal>> rehearse();
    // The views that transactions read.
    [[nodiscard]] TransactionViews& transaction_views() { return transaction_views_; }
    // The rows that the views had when they could last be read; none: they are not known.
    [[nodiscard]] std::optional<views::Table> ask_stale(const views::ViewQuery& query) const {
        return stale_views_ ? stale_views_->ask(query) : std::nullopt;
    }
    [[nodiscard]] Result<std::unique_ptr<Watch>> watch(const views::ViewQuery& query,
                                                       std::optional<Revision> since = {},
                                                       std::function<void()> wake = nullptr);
    // Null: there are no tables here.
    [[nodiscard]] Questions* questions() const { return questions_.get(); }
    [[nodiscard]] tables::Ingest* ingest() const { return ingest_.get(); }
    // Of the tables, since the process began.
    [[nodiscard]] const UpkeepCounts& upkeep_counts() const { return upkeep_counts_; }
    [[nodiscard]] std::vector<StoreMeter> store_meters() const {
        return options_.store_meters ? options_.store_meters() : std::vector<StoreMeter>();
    }
    // Null: there is no way to the rows of queries.
    [[nodiscard]] ResultStreams* results() const { return options_.results; }
    // Drops the query of a client that is gone, or has all the rows that it wanted. Does not wait.
    void drop_for_client(QueryId query);
    // A line for the log of statements; lost if this coordinator cannot write it.
    void log(catalog::StatementRecord record);
    // The last counts that workers reported for running fragments: own_counts() are those reported
    // to this coordinator, live_counts() those of the leader if it can be asked.
    [[nodiscard]] views::LiveCounts own_counts() const;
    [[nodiscard]] views::LiveCounts live_counts();
    [[nodiscard]] Feed& feed() { return feed_; }
    // Only for a coordinator that leads.
    [[nodiscard]] CommitLoop& commits();
    [[nodiscard]] const Clock& clock() const { return clock_; }
    // Why this coordinator, which leads, cannot commit; none: it can, or it does not lead.
    [[nodiscard]] std::optional<Error> commit_trouble() const;
    struct CommitCounts {
        std::uint64_t failures_in_a_row = 0;
        std::uint64_t log_lines_dropped = 0;
    };
    [[nodiscard]] CommitCounts commit_counts() const;  // of its term

    // The locks of clients, which any coordinator serves.
    [[nodiscard]] Locks& locks() { return locks_; }

    // A consistent copy of the catalog while it is in use.
    [[nodiscard]] Result<Done> backup_to(const std::string& path);

private:
    // Everything that exists only while the coordinator leads.
    struct Term {
        Term(CoordinatorRuntime& coordinator, std::unique_ptr<Sql> writer,
             std::unique_ptr<SqlSync> sync, const CommitLoopOptions& options);
        const Epoch epoch;
        const routing::TermNumber number;
        CommitLoop commits;
        // None: no tables; no transport. Guarded by term_mutex_.
        std::unique_ptr<UpkeepLoop> upkeep;
        std::unique_ptr<ControlLoop> control;
    };

    CoordinatorRuntime(std::unique_ptr<SqlDatabase> database, const Clock& clock,
                       const CoordinatorOptions& options, Revision start, bool always_durable);
    [[nodiscard]] std::shared_ptr<Term> current() const;
    [[nodiscard]] Result<Done> begin_term(std::unique_ptr<Sql> writer,
                                          std::unique_ptr<SqlSync> sync, Epoch epoch,
                                          const TermGuard& guard);
    void end_term();
    void interrupt_embedded();
    void rows_added(const Table& table);
    // Takes one bundle along its route.
    class Carriage;

    std::unique_ptr<SqlDatabase> database_;
    const Clock& clock_;
    const CoordinatorOptions options_;
    const planning::Planner planner_;
    Durable durable_;
    Readers readers_;
    TransactionViews transaction_views_;
    Readers controllers_;  // a connection for the controller alone
    Rehearsal::Stage stage_;
    Locks locks_;
    Feed feed_;
    ClientQueries client_queries_;
    std::mutex cluster_mutex_;
    catalog::Reader::KnownCluster cluster_;  // shared by the plans made while it is current

    LeaderBoard leader_;
    std::unique_ptr<Forwarder> forwarder_;  // none: there is no way to the leader
    routing::TermNumber last_term_;         // of those that began
    UpkeepCounts upkeep_counts_;
    mutable std::mutex term_mutex_;
    std::shared_ptr<Term> term_;               // none: it follows. Its threads use everything above
    std::unique_ptr<Follower> follower_;       // none: it leads
    std::unique_ptr<StaleViews> stale_views_;  // none: the database is a file
    // None: there are no tables. Their threads use everything above.
    std::unique_ptr<Questions> questions_;
    std::unique_ptr<tables::Ingest> ingest_;
};

}  // namespace baton::coordinator
