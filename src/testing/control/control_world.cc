#include "testing/control/control_world.h"

#include <cstdio>
#include <utility>

#include "base/check.h"
#include "catalog/reader.h"
#include "catalog/schema.h"
#include "coordinator/statements/bind.h"
#include "core/planning/planner.h"
#include "sql/parser.h"

namespace baton::testing {

namespace {

constexpr int kStepsMax = 100'000;  // without time passing: more is a machine that spins

constexpr std::string_view kCluster =
    "CREATE WORKER 'hub:1' SET ('HUB' AS NAME);"
    "CREATE WORKER 'edge:1' SET ('EDGE' AS NAME, 'HUB' AS DOWNSTREAM);"
    "CREATE LOGICAL SOURCE readings (id UINT64 NOT NULL, value FLOAT64);"
    "CREATE PHYSICAL SOURCE FOR readings TYPE File "
    "SET ('in.csv' AS SOURCE.FILE_PATH, 'EDGE' AS SOURCE.HOST);"
    "CREATE SINK alerts (id UINT64 NOT NULL) TYPE Print SET ('HUB' AS SINK.HOST)";

// EDGE lies upstream of HUB.
Result<planning::QueryPlan> planned_in_stages(const sql::CreateQuery& query,
                                              const planning::PlanningView& view) {
    TRY_ASSIGN(planned, planning::plan(query, view));
    for (planning::PlannedFragment& fragment : planned.fragments) {
        fragment.stage = fragment.worker == "EDGE" ? 1 : 0;
    }
    return planned;
}

}  // namespace

ControlWorld::ControlWorld(const coordinator::ControllerOptions& options) : options_(options) {
    sqlite::SqliteOptions sqlite;
    sqlite.initialise = [](Sql& sql) { return catalog::migrate(sql); };
    database_ = *sqlite::open_temporary_sqlite(sqlite);
    sql_ = *database_->connect(Access::write);
    door_ = std::make_unique<DirectDoor>(
        *sql_, clock_, options_.epoch, planned_in_stages,
        [this](const std::set<coordinator::EntityKey>& keys) {
            events_.emplace_back(coordinator::control_event::Changed{keys});
        });
    run(kCluster);
    workers_.start("HUB");
    workers_.start("EDGE");
    start();
}

ControlWorld::~ControlWorld() {
    workers_.listen(nullptr);
}

void ControlWorld::start() {
    workers_.listen([this](transport::Event event) {
        std::visit([&](auto&& e) { events_.emplace_back(std::forward<decltype(e)>(e)); },
                   std::move(event));
    });
    controller_ = std::make_unique<coordinator::Controller>(
        options_, *door_, workers_, clock_,
        [this](coordinator::ControlEvent event) { events_.push_back(std::move(event)); });
    CHECK(controller_->start());
    settle();
}

void ControlWorld::crash() {
    workers_.listen(nullptr);
    controller_.reset();
    events_.clear();
    door_->forget();
}

Result<catalog::Answer> ControlWorld::try_run(std::string_view text) {
    TRY_ASSIGN(statements, sql::parse(text));
    catalog::Answer last;
    for (const sql::Statement& statement : statements) {
        TRY_ASSIGN(request, coordinator::bind(statement));
        TRY_ASSIGN(answer, door_->execute(request));
        last = std::move(answer);
    }
    return last;
}

void ControlWorld::run(std::string_view text) {
    const auto answer = try_run(text);
    if (!answer) (void)std::fprintf(stderr, "%s\n", to_string(answer.error()).c_str());
    CHECK(answer);
}

bool ControlWorld::step() {
    if (!controller_) return false;
    if (!events_.empty()) {
        const coordinator::ControlEvent event = std::move(events_.front());
        events_.pop_front();
        controller_->take(event);
        return true;
    }
    if (door_->waiting() && !held_) {
        door_->settle_next();
        return true;
    }
    const auto due = controller_->wake_at();
    if (!due || *due > clock_.now()) return false;
    controller_->take(coordinator::control_event::Tick{});
    return true;
}

void ControlWorld::settle() {
    for (int steps = 0; step(); ++steps) CHECK(steps < kStepsMax);
}

void ControlWorld::run_for(Duration span) {
    const Instant end = clock_.now() + span;
    settle();
    while (controller_) {
        const auto due = controller_->wake_at();
        if (!due || *due > end) break;
        clock_.set(std::max(*due, clock_.now()));
        settle();
    }
    clock_.set(end);
    settle();
}

std::optional<Query> ControlWorld::query(const std::string& name) {
    return *catalog::Reader(*sql_).query(name);
}

std::string ControlWorld::state(const std::string& name) {
    const auto found = query(name);
    return found ? std::string(to_string(found->state)) : "none";
}

std::vector<Fragment> ControlWorld::fragments(const std::string& name) {
    return *catalog::Reader(*sql_).fragments({.query = query(name)->id});
}

Worker ControlWorld::worker(const std::string& name) {
    return **catalog::Reader(*sql_).worker(name);
}

std::vector<Partition> ControlWorld::partitions() {
    return *catalog::Reader(*sql_).partitions();
}

Revision ControlWorld::revision() {
    return *catalog::Reader(*sql_).revision();
}

}  // namespace baton::testing
