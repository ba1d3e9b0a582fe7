#include "sim/stage.h"

#include <algorithm>

#include "adapters/sqlite/sqlite.h"
#include "base/text.h"
#include "catalog/schema.h"

namespace baton::sim {

namespace {

using namespace std::chrono_literals;

// Somebody else may have taken the slot of a fragment that is to come back: then its query waits
// for deploy_timeout, which is 10 minutes, and fails.
constexpr Duration kSettlesWithin = 13min;
constexpr Duration kRests = 1min;
constexpr Duration kComesLater = 61s;  // fragments whose end or failure was decided before

std::unique_ptr<SqlDatabase> new_disk() {
    SqliteOptions options;
    options.initialise = [](Sql& sql) { return migrate(sql); };
    return *open_temporary_sqlite(options);
}

// "CREATE QUERY Q7 AS .." -> "Q7" for "CREATE QUERY "
std::optional<std::string> name_after(std::string_view statement, std::string_view words) {
    if (!statement.starts_with(words)) return std::nullopt;
    const std::string_view rest = statement.substr(words.size());
    return std::string(rest.substr(0, rest.find(' ')));
}

}  // namespace

Stage::Stage(const Scenario& scenario, bool with_story)
    : scenario_(scenario),
      world_(scenario, with_story),
      disk_(new_disk()),
      network_(world_),
      workers_(start_workers()),
      checks_(world_, *disk_, workers_, ran_),
      coordinator_(world_, network_, *disk_, observer()) {}

std::vector<std::unique_ptr<SimWorker>> Stage::start_workers() {
    std::vector<std::unique_ptr<SimWorker>> workers;
    for (const std::string& name : scenario_.workers) {
        workers.push_back(std::make_unique<SimWorker>(world_, name, ran_, incarnations_));
        network_.add(*workers.back());
    }
    return workers;
}

SimCoordinator::Observer Stage::observer() {
    return {.committed = [this](const CommittedBatch& batch) { checks_.committed(batch); },
            .published = [this](Revision revision) { checks_.published(revision); },
            .commanded =
                [this](const std::string& worker, std::optional<Incarnation> process,
                       const control::Command& command) {
                    checks_.commanded(worker, process, command);
                },
            .given_up = [this](const std::string& worker,
                               std::size_t unanswered) { checks_.given_up(worker, unanswered); }};
}

void Stage::start_coordinator() {
    checks_.coordinator_started();
    coordinator_.start();
}

// A machine that spins is a failure, not a run that never ends.
void Stage::run_for(Duration span) {
    const Instant end = world_.agenda.now() + span;
    const auto seconds = static_cast<std::uint64_t>(span / 1s) + 1;
    const std::uint64_t limit =
        world_.agenda.happened() + 20'000 + seconds * (200 + 100 * scenario_.workers.size());
    while (!world_.problem() && world_.agenda.step(end)) {
        if (world_.agenda.happened() > limit) world_.violated("too much happens: it spins");
    }
}

void Stage::set_up() {
    world_.unkindness = {};
    start_coordinator();
    for (const std::string& statement : scenario_.setup) {
        std::optional<Told> answer;
        std::string why;
        coordinator_.ask(statement, [&](Told told, const Error* error) {
            answer = told;
            if (error != nullptr) why = error->message;
        });
        const Instant end = world_.agenda.now() + 1min;
        while (!answer && world_.agenda.step(end)) {
        }
        if (answer != Told::accepted) {
            return world_.violated("cannot set up: " + statement + ": " + why);
        }
    }
}

void Stage::begin_scenario() {
    world_.unkindness = scenario_.unkindness;
    for (const Ask& ask : scenario_.asks) {
        world_.agenda.after(ask.at, [this, statement = ask.statement] { this->ask(statement); });
    }
    for (const Incident& incident : scenario_.incidents) {
        world_.agenda.after(incident.at, [this, incident] { begin(incident); });
    }
}

void Stage::ask(const std::string& statement) {
    world_.tell(40, [&] { return "a user asks: " + statement; });
    const auto created = name_after(statement, "CREATE QUERY ");
    const auto dropped = name_after(statement, "DROP QUERY ");
    const auto stopped = name_after(statement, "STOP QUERY ");
    if (dropped) checks_.drop_asked(*dropped);
    const Instant asked = world_.agenda.now();
    coordinator_.ask(statement, [=, this](Told told, const Error* error) {
        answers_.push_back(statement + ": " +
                           (told == Told::accepted ? "accepted" : to_string(*error)));
        world_.tell(41, [&] { return "a user is told: " + answers_.back(); });
        if (dropped && told != Told::nothing) checks_.drop_answered(*dropped);
        if (told != Told::accepted) return;
        if (created) checks_.create_acknowledged(*created, asked);
        if (stopped) checks_.stop_acknowledged(*stopped);
    });
}

void Stage::begin(const Incident& incident) {
    world_.tell(42, [&] {
        const bool of_worker = incident.kind < IncidentKind::coordinator_killed;
        return (of_worker ? scenario_.workers.at(incident.worker) + " " : "") +
               std::string(to_string(incident.kind));
    });
    SimWorker& worker = *workers_.at(incident.worker);
    if (incident.kind == IncidentKind::worker_killed) {
        worker.kill();
        network_.worker_died(worker.name());
    }
    if (incident.kind == IncidentKind::coordinator_killed) coordinator_.kill();
    change(incident, true);
    under_way_.push_back(incident);
    world_.agenda.after(incident.lasts, [this, incident] { end(incident); });
}

void Stage::end(const Incident& incident) {
    const auto found = std::find(under_way_.begin(), under_way_.end(), incident);
    if (found == under_way_.end()) return;  // healed already
    under_way_.erase(found);
    change(incident, false);
}

void Stage::change(const Incident& incident, bool begins) {
    SimWorker& worker = *workers_.at(incident.worker);
    const auto others = [&](const Incident& other) {
        return other.kind == incident.kind && (other.worker == incident.worker ||
                                               incident.kind >= IncidentKind::coordinator_killed);
    };
    const bool goes_on = std::any_of(under_way_.begin(), under_way_.end(), others);
    if (incident.kind >= IncidentKind::coordinator_killed) checks_.coordinator_disturbed();
    switch (incident.kind) {
        case IncidentKind::worker_killed:
            if (!begins && !goes_on) worker.start();
            break;
        case IncidentKind::worker_paused:
            if (begins) worker.pause();
            if (!begins && !goes_on) worker.resume();
            break;
        case IncidentKind::cut_to_worker:
            network_.cut(worker.name(), true, false, begins);
            break;
        case IncidentKind::cut_from_worker:
            network_.cut(worker.name(), false, true, begins);
            break;
        case IncidentKind::cut_both:
            network_.cut(worker.name(), true, true, begins);
            break;
        case IncidentKind::coordinator_killed:
            if (!begins && !goes_on) start_coordinator();
            break;
        case IncidentKind::coordinator_paused:
            if (begins) coordinator_.pause();
            if (!begins && !goes_on) coordinator_.resume();
            break;
        case IncidentKind::disk_full:
            coordinator_.set_disk_full(begins || goes_on);
            break;
    }
}

std::string Stage::query_name(QueryId id) const {
    for (const Query& query : queries()) {
        if (query.id == id) return query.name;
    }
    return "a query that is gone (" + to_string(id) + ")";
}

void Stage::heal() {
    world_.tell(43, [] { return std::string("the world heals"); });
    world_.unkindness = {};
    checks_.world_healed();
    while (!under_way_.empty()) end(Incident(under_way_.back()));
}

void Stage::settle() {
    run_for(kComesLater);
    std::vector<std::string> left;
    for (Duration waited{}; waited < kSettlesWithin; waited += 5s) {
        run_for(5s);
        if (world_.problem()) return;
        left = checks_.unsettled();
        if (left.empty()) return;
    }
    world_.violated("it does not come to rest: " + join(left, "; "));
}

// What runs, runs: nothing is written any more.
void Stage::rest() {
    const Revision before = checks_.revision();
    const std::uint64_t commands = checks_.commands();
    run_for(kRests);
    const auto left = checks_.unsettled();
    if (!left.empty()) world_.violated("it does not stay at rest: " + join(left, "; "));
    if (checks_.revision() != before) {
        world_.violated("the catalog is written to, though nothing happens");
    }
    if (checks_.commands() != commands) {
        world_.violated("workers are told to do things, though nothing happens");
    }
}

}  // namespace baton::sim
