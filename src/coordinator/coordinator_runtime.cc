#include "coordinator/coordinator_runtime.h"

#include <utility>

#include "base/check.h"
#include "catalog/lease.h"
#include "catalog/lease_schema.h"
#include "catalog/schema.h"

namespace baton::coordinator {

namespace {

CommitLoopOptions beginning_at(CommitLoopOptions options, Revision start, Epoch epoch) {
    options.committer.start = start;
    options.committer.epoch = epoch;
    return options;
}

// No stream of a term is taken for one of an earlier term, which the transport may still know.
constexpr unsigned kAttemptsPerTermBits = 32;

constexpr std::size_t kReadersForHealth = 2;

}  // namespace

CoordinatorRuntime::Term::Term(CoordinatorRuntime& coordinator, std::unique_ptr<Sql> writer,
                               std::unique_ptr<SqlSync> sync, const CommitLoopOptions& options)
    : epoch(options.committer.epoch),
      number(coordinator.last_term_ = coordinator.last_term_.next()),
      commits(std::move(writer), std::move(sync), coordinator.clock_, options, coordinator.durable_,
              [feed = &coordinator.feed_](const std::vector<catalog::Change>& changes) {
                  feed->publish(changes);
              }) {}

CoordinatorRuntime::CoordinatorRuntime(std::unique_ptr<SqlDatabase> database, const Clock& clock,
                                       const CoordinatorOptions& options, Revision start,
                                       bool always_durable)
    : database_(std::move(database)),
      clock_(clock),
      options_(options),
      planner_(options.planner ? options.planner : planning::Planner(planning::plan)),
      durable_(start, always_durable),
      readers_(*database_, durable_, options.readers_max, "too many reads are under way",
               options.readers_max > kReadersForHealth ? kReadersForHealth : 0),
      transaction_views_(*database_, durable_, readers_, clock, options.transactions),
      controllers_(*database_, durable_, 1),
      stage_(options.rehearsals_max),
      locks_(*database_),
      feed_(start, options.changes_in_memory),
      client_queries_(clock) {
    if (options.tables != nullptr) {
        questions_ = std::make_unique<Questions>(
            QuestionsParts{.engine = options.tables->parts().engine,
                           .tables = options.tables,
                           .snapshot = [this] { return snapshot(); },
                           .live_counts = [this] { return live_counts(); },
                           .clock = &clock,
                           .version = options.version,
                           .parts = options.questions_in_parts});
        ingest_ = std::make_unique<tables::Ingest>(
            *options.tables,
            tables::IngestOptions{.on_commit = [this](const Table& table) { rows_added(table); }});
    }
    if (options.line == nullptr) return;
    forwarder_ = std::make_unique<Forwarder>(*options.line, leader_, clock, options.forwarding);
}

CoordinatorRuntime::~CoordinatorRuntime() {
    ingest_.reset();
    questions_.reset();
    follower_.reset();
    end_term();
}

// ---- leading and following ----------------------------------------------------------------------

std::shared_ptr<CoordinatorRuntime::Term> CoordinatorRuntime::current() const {
    const std::lock_guard lock(term_mutex_);
    return term_;
}

std::optional<Epoch> CoordinatorRuntime::term() const {
    const auto term = current();
    return term ? std::optional(term->epoch) : std::nullopt;
}

CommitLoop& CoordinatorRuntime::commits() {
    const auto term = current();
    CHECK(term != nullptr);
    return term->commits;
}

std::optional<Error> CoordinatorRuntime::commit_trouble() const {
    const auto term = current();
    return term ? term->commits.health().trouble() : std::nullopt;
}

CoordinatorRuntime::CommitCounts CoordinatorRuntime::commit_counts() const {
    const auto term = current();
    if (!term) return {};
    return {.failures_in_a_row = term->commits.health().failures_in_a_row(),
            .log_lines_dropped = term->commits.log_lines_dropped()};
}

Error CoordinatorRuntime::not_leading() const {
    return routing::not_leading(leader_.now().leader);
}

Result<Done> CoordinatorRuntime::begin_term(std::unique_ptr<Sql> writer,
                                            std::unique_ptr<SqlSync> sync, Epoch epoch,
                                            const TermGuard& guard) {
    auto options = beginning_at(options_.commits, feed_.last(), epoch);
    options.committer.may_act = guard.may_act;
    const auto term = std::make_shared<Term>(*this, std::move(writer), std::move(sync), options);
    TRY(client_queries_.drop_left_over(term->commits, readers_));
    {
        const std::lock_guard lock(term_mutex_);
        term_ = term;
    }
    leader_.set_here(true);
    if (options_.tables != nullptr) {
        auto upkeep = std::make_unique<UpkeepLoop>(
            options_.upkeep, UpkeepLoop::World{term->commits, readers_, feed_, *options_.tables,
                                               clock_, guard, upkeep_counts_, options_.log});
        const std::lock_guard lock(term_mutex_);
        term->upkeep = std::move(upkeep);
    }
    if (options_.transport == nullptr) return Done{};
    interrupt_embedded();
    ControllerOptions control = options_.control;
    control.epoch = epoch;
    control.membership.first_attempt += epoch.value() << kAttemptsPerTermBits;
    auto loop = std::make_unique<ControlLoop>(
        control,
        ControlLoop::World{term->commits, controllers_, feed_, *options_.transport, clock_, guard});
    const std::lock_guard lock(term_mutex_);
    term->control = std::move(loop);
    return Done{};
}

void CoordinatorRuntime::end_term() {
    leader_.set_here(false);
    std::shared_ptr<Term> over;
    std::unique_ptr<ControlLoop> control;
    std::unique_ptr<UpkeepLoop> upkeep;
    {
        const std::lock_guard lock(term_mutex_);
        over = std::exchange(term_, nullptr);
        if (over) control = std::move(over->control);
        if (over) upkeep = std::move(over->upkeep);
    }
    // They use the commits.
    control.reset();
    upkeep.reset();
    if (over) over->commits.stop();
}

Result<Done> CoordinatorRuntime::lead(Epoch epoch, const TermGuard& guard) {
    end_term();
    TRY_ASSIGN(writer, database_->connect(Access::write));
    follower_.reset();  // from here on the writer publishes
    auto begun = begin_term(std::move(writer), nullptr, epoch, guard);
    if (!begun) follow();
    return begun;
}

void CoordinatorRuntime::follow() {
    leader_.set_leader(std::nullopt);
    end_term();
    if (follower_) return;
    FollowerOptions following = options_.following;
    following.on_lease = [this] { leader_.doubt(); };
    follower_ = std::make_unique<Follower>(*database_, feed_, following);
}

void CoordinatorRuntime::rows_added(const Table& table) {
    upkeep_counts_.commits += 1;
    const std::lock_guard lock(term_mutex_);
    if (term_ && term_->upkeep) term_->upkeep->rows_added(table.name);
}

void CoordinatorRuntime::drop_for_client(QueryId query) {
    if (const auto term = current()) return client_queries_.drop(term->commits, query);
    if (forwarder_) forwarder_->run_errand(drop_of(query, clock_));
}

void CoordinatorRuntime::log(catalog::StatementRecord record) {
    if (const auto term = current()) term->commits.log(std::move(record));
}

// What the embedded worker ran has ended with the last process, whatever the catalog says. If it
// cannot be written now, the controller finds out by itself.
void CoordinatorRuntime::interrupt_embedded() {
    std::optional<Worker> worker;
    if (auto now = snapshot()) {
        auto found = now->read().worker(std::string(kEmbeddedWorker));
        if (found) worker = *std::move(found);
    }
    if (!worker || !worker->incarnation || worker->kind != WorkerKind::embedded) return;
    (void)execute(
        controllers::ReportWorker{.name = worker->name,
                                  .state = worker->state,
                                  .incarnation = Incarnation(worker->incarnation->value() + 1),
                                  .reason = {.text = "begins with its process"}});
}

Result<std::unique_ptr<CoordinatorRuntime>> CoordinatorRuntime::open(
    std::unique_ptr<SqlDatabase> database, const Clock& clock, const CoordinatorOptions& options) {
    TRY_ASSIGN(writer, database->connect(Access::write));
    TRY(catalog::migrate(*writer));
    TRY_ASSIGN(start, catalog::Reader(*writer).revision());
    TRY_ASSIGN(sync, writer->defer_sync());
    std::unique_ptr<CoordinatorRuntime> opened(
        new CoordinatorRuntime(std::move(database), clock, options, start, sync == nullptr));
    if (options.follows) {
        CHECK(sync == nullptr);
        opened->stale_views_ =
            std::make_unique<StaleViews>(*opened->database_, clock, options.stale_views);
        opened->follow();
        return opened;
    }
    // Nobody else writes here, so nobody is elected; others may have been before the catalog came
    // here from a server.
    TRY_ASSIGN(epoch, catalog::epoch_of_fence(*writer, std::string(catalog::kLeaderLock)));
    TRY(opened->begin_term(std::move(writer), std::move(sync), epoch, {}));
    return opened;
}

views::LiveCounts CoordinatorRuntime::own_counts() const {
    const std::lock_guard lock(term_mutex_);
    return term_ && term_->control ? term_->control->counters().all() : views::LiveCounts{};
}

views::LiveCounts CoordinatorRuntime::live_counts() {
    return forwarder_ && !current() ? forwarder_->counts() : own_counts();
}

Result<planning::PlanningView> CoordinatorRuntime::planning_view(
    const planning::MentionedNames& names) {
    TRY_ASSIGN(now, snapshot());
    catalog::Reader::KnownCluster known;
    {
        const std::lock_guard lock(cluster_mutex_);
        known = cluster_;
    }
    const auto before = known.cluster;
    TRY_ASSIGN(view, now.read().planning_view(names, known));
    if (known.cluster != before) {
        const std::lock_guard lock(cluster_mutex_);
        if (cluster_.revision <= known.revision) cluster_ = known;
    }
    return view;
}

Result<std::unique_ptr<Rehearsal>> CoordinatorRuntime::rehearse() {
    if (!options_.scratch) return std::unique_ptr<Rehearsal>();
    TRY_ASSIGN(now, snapshot());
    return Rehearsal::begin(stage_, options_.scratch, now, planner_, clock_);
}

Result<std::unique_ptr<Watch>> CoordinatorRuntime::watch(const views::ViewQuery& query,
                                                         std::optional<Revision> since,
                                                         std::function<void()> wake) {
    return Watch::open(feed_, readers_, query, since, std::move(wake));
}

Result<Done> CoordinatorRuntime::backup_to(const std::string& path) {
    return database_->backup_to(path);
}

}  // namespace baton::coordinator
