#include "runtime/coordinator_runtime.h"

#include "catalog/schema.h"

namespace baton {

namespace {

CommitLoopOptions starting_at(CommitLoopOptions options, Revision start) {
    options.committer.start = start;
    return options;
}

request::CreateQuery* query_of(Step& step) {
    auto* request = std::get_if<Request>(&step.what);
    return request == nullptr ? nullptr : std::get_if<request::CreateQuery>(request);
}

// After this many attempts the writer plans what is left itself: others wait meanwhile, but it
// ends.
constexpr int kAttemptsOutside = 8;

}  // namespace

CoordinatorRuntime::CoordinatorRuntime(std::unique_ptr<SqlDatabase> database,
                                       std::unique_ptr<Sql> writer, std::unique_ptr<SqlSync> sync,
                                       const Clock& clock, const CoordinatorOptions& options,
                                       Revision start)
    : database_(std::move(database)),
      clock_(clock),
      planner_(options.planner ? options.planner : Planner(plan)),
      durable_(start),
      readers_(*database_, durable_, options.readers_max),
      feed_(start, options.changes_in_memory),
      results_(options.results),
      client_queries_(clock),
      commits_(std::move(writer), std::move(sync), clock, starting_at(options.commits, start),
               durable_, [this](const std::vector<Change>& changes) { feed_.publish(changes); }) {
    if (options.transport == nullptr) return;
    interrupt_embedded();
    ControllerOptions control = options.control;
    control.epoch = options.commits.committer.epoch;
    control_ = std::make_unique<ControlLoop>(
        control, ControlLoop::World{commits_, readers_, feed_, *options.transport, clock_});
}

CoordinatorRuntime::~CoordinatorRuntime() = default;

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
        request::ReportWorker{.name = worker->name,
                              .state = worker->state,
                              .incarnation = Incarnation(worker->incarnation->value() + 1),
                              .reason = "begins with its process"});
}

Result<std::unique_ptr<CoordinatorRuntime>> CoordinatorRuntime::open(
    std::unique_ptr<SqlDatabase> database, const Clock& clock, const CoordinatorOptions& options) {
    TRY_ASSIGN(writer, database->connect(Access::write));
    TRY(migrate(*writer));
    TRY_ASSIGN(start, Reader(*writer).revision());
    TRY_ASSIGN(sync, writer->defer_sync());
    std::unique_ptr<CoordinatorRuntime> opened(new CoordinatorRuntime(
        std::move(database), std::move(writer), std::move(sync), clock, options, start));
    TRY(opened->client_queries_.drop_left_over(opened->commits_, opened->readers_));
    return opened;
}

LiveCounts CoordinatorRuntime::live_counts() const {
    return control_ ? control_->counters().all() : LiveCounts{};
}

Result<PlanningView> CoordinatorRuntime::planning_view(const MentionedNames& names) {
    TRY_ASSIGN(now, snapshot());
    Reader::KnownCluster known;
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

Result<Done> CoordinatorRuntime::plan_ahead(Bundle& bundle) {
    for (std::size_t i = 0; i < bundle.steps.size(); ++i) {
        request::CreateQuery* query = query_of(bundle.steps[i]);
        if (query == nullptr || query->plan) continue;
        TRY_ASSIGN(view, planning_view(names_in(query->tree)));
        auto made = planner_(query->tree, view);
        if (made) {
            query->plan = *std::move(made);
        } else if (i == 0) {
            return made.error();
        }
        // Otherwise it may need what the steps before it make: the writer gives it a view of that.
    }
    return Done{};
}

Outcome CoordinatorRuntime::execute(Bundle bundle) {
    // A refusal that does not reach the writer is logged here.
    const auto refuse = [&](std::size_t step, const Error& error) -> Outcome {
        if (const std::string& statement = bundle.steps.at(step).statement; !statement.empty()) {
            commits_.log({.received = bundle.received,
                          .principal = bundle.principal,
                          .statement = statement,
                          .error = error,
                          .took = clock_.now() - bundle.started,
                          .revision = {}});
        }
        return Refused{.step = step, .error = error};
    };
    if (auto planned = plan_ahead(bundle); !planned) return refuse(0, planned.error());
    for (int attempt = 0;; ++attempt) {
        Outcome outcome = commits_.submit_and_wait(bundle);
        auto* wanted = std::get_if<NeedsPlan>(&outcome);
        if (wanted == nullptr) return outcome;
        request::CreateQuery* query = query_of(bundle.steps.at(wanted->step));
        CHECK(query != nullptr);
        auto made = planner_(query->tree, wanted->view);
        if (!made) return refuse(wanted->step, made.error());
        query->plan = *std::move(made);
        if (attempt >= kAttemptsOutside) bundle.plan_in_place = planner_;
    }
}

Result<Answer> CoordinatorRuntime::execute(const Request& request) {
    Bundle bundle;
    bundle.steps.push_back({.what = request, .statement = {}});
    bundle.received = clock_.wall_now();
    bundle.started = clock_.now();
    Outcome outcome = execute(std::move(bundle));
    if (auto* refused = std::get_if<Refused>(&outcome)) return std::move(refused->error);
    return std::get<Answer>(std::get<Accepted>(outcome).answers.front());
}

Result<std::unique_ptr<Watch>> CoordinatorRuntime::watch(const ViewQuery& query,
                                                         std::optional<Revision> since,
                                                         std::function<void()> wake) {
    return Watch::open(feed_, readers_, query, since, std::move(wake));
}

Result<Done> CoordinatorRuntime::backup_to(const std::string& path) {
    return database_->backup_to(path);
}

}  // namespace baton
