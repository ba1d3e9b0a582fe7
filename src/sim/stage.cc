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
constexpr Duration kFailsOver = 20s;
constexpr Duration kComesLater = 61s;  // fragments whose end or failure was decided before

bool stands_still(IncidentKind kind) {
    return kind == IncidentKind::coordinator_killed || kind == IncidentKind::coordinator_paused ||
           kind == IncidentKind::coordinator_leaves;
}

std::unique_ptr<SqlDatabase> new_disk() {
    sqlite::SqliteOptions options;
    options.initialise = [](Sql& sql) { return catalog::migrate(sql); };
    return *sqlite::open_temporary_sqlite(options);
}

}  // namespace

Stage::Stage(const Scenario& scenario, bool with_story)
    : scenario_(scenario),
      world_(scenario, with_story),
      disk_(new_disk()),
      network_(world_),
      workers_(start_workers()),
      checks_(world_, *disk_, workers_, ran_),
      leader_checks_(world_, *disk_, scenario.lease_ttl, coordinators_),
      partition_checks_(world_, *disk_, workers_),
      lease_store_(world_, *disk_, [this] { leader_checks_.store_called(); }),
      request_checks_(world_, *disk_, scenario.is_contest() && scenario.forwards,
                      [this](std::size_t coordinator, Instant since) {
                          return is_undisturbed(coordinator, since);
                      }),
      lines_(world_, request_checks_),
      coordinators_(make_coordinators()) {}

LeaderChecks::Coordinators Stage::make_coordinators() {
    LeaderChecks::Coordinators made;
    for (std::size_t i = 0; i < scenario_.coordinators(); ++i) {
        SimCoordinator::Identity identity{
            .name = coordinator_name(scenario_, i), .number = i, .timers = {}};
        if (scenario_.is_contest()) {
            identity.timers = *election::ElectionTimers::of(scenario_.lease_ttl);
            identity.drift_ppm = scenario_.drifts.at(i);
            if (scenario_.forwards) identity.lines = &lines_;
        }
        made.push_back(std::make_unique<SimCoordinator>(world_, network_, *disk_, lease_store_,
                                                        std::move(identity), observer(i)));
        SimCoordinator& one = *made.back();
        lines_.add(one.name(),
                   {.is_up = [&one] { return one.is_up(); },
                    .take = [&one](const std::string& order,
                                   const auto& answer) { one.take_order(order, answer); }});
    }
    return made;
}

std::vector<std::unique_ptr<SimWorker>> Stage::start_workers() {
    std::vector<std::unique_ptr<SimWorker>> workers;
    for (const std::string& name : scenario_.workers) {
        const auto& drifts = scenario_.worker_drifts;
        const std::int64_t drift = drifts.empty() ? 0 : drifts.at(workers.size());
        workers.push_back(std::make_unique<SimWorker>(world_, name, ran_, incarnations_, drift));
        network_.add(*workers.back());
        if (!scenario_.is_contest()) continue;
        workers.back()->watch([this, name](Epoch epoch) { leader_checks_.obeyed(name, epoch); });
    }
    return workers;
}

SimCoordinator::Observer Stage::observer(std::size_t coordinator) {
    return {.term = term_observer(coordinator),
            .began =
                [this, coordinator](Epoch epoch) {
                    leader_checks_.began(*coordinators_.at(coordinator), epoch);
                    checks_.term_began(coordinator);
                },
            .ended =
                [this](Epoch epoch) {
                    leader_checks_.ended(epoch);
                    checks_.coordinator_disturbed();
                },
            .superseded =
                [this, coordinator] { leader_checks_.superseded(*coordinators_.at(coordinator)); },
            .gone = [this, coordinator] { gone(coordinator); },
            .arrived = [this](const std::string& user) { request_checks_.arrived(user); },
            .answered =
                [this](const std::string& user, const coordinator::Outcome& outcome) {
                    request_checks_.answered(user, outcome);
                },
            .commit_lost = [this] { request_checks_.commit_lost(); }};
}

TermObserver Stage::term_observer(std::size_t coordinator) {
    const bool contest = scenario_.is_contest();
    return {.committed =
                [this](const coordinator::CommittedBatch& batch) {
                    checks_.committed(batch);
                    partition_checks_.committed(batch);
                },
            .wrote =
                [=, this](Epoch epoch) {
                    if (contest) leader_checks_.wrote(*coordinators_.at(coordinator), epoch);
                },
            .published = [=, this](Revision revision) { checks_.published(coordinator, revision); },
            .commanded =
                [=, this](const std::string& worker, std::optional<Incarnation> process,
                          const control::Command& command) {
                    checks_.commanded(coordinator, worker, process, command);
                },
            .assigned = [this] { partition_checks_.assigned(); },
            .spoke =
                [=, this](Epoch epoch) {
                    if (contest) leader_checks_.spoke(*coordinators_.at(coordinator), epoch);
                },
            .given_up = [this](const std::string& worker,
                               std::size_t unanswered) { checks_.given_up(worker, unanswered); }};
}

void Stage::start_coordinator(std::size_t number) {
    if (!scenario_.is_contest()) checks_.term_began(number);
    coordinators_.at(number)->start();
}

// Who has left is started again, unless an incident does that.
void Stage::gone(std::size_t coordinator) {
    disturbed_[coordinator] = world_.agenda.now();
    if (!is_kept_down(coordinator)) start_coordinator(coordinator);
}

bool Stage::step(Instant end) {
    const bool happened = world_.agenda.step(end);
    if (scenario_.is_contest()) leader_checks_.look();
    partition_checks_.look();
    return happened;
}

// A machine that spins is a failure, not a run that never ends.
void Stage::run_for(Duration span) {
    constexpr std::uint64_t kPerSecond = 200;
    const Instant end = world_.agenda.now() + span;
    const auto seconds = static_cast<std::uint64_t>(span / 1s) + 1;
    const std::uint64_t a_second =
        kPerSecond * scenario_.coordinators() + 100 * scenario_.workers.size();
    const std::uint64_t limit = world_.agenda.happened() + 20'000 + seconds * a_second;
    while (!world_.problem() && step(end)) {
        if (world_.agenda.happened() > limit) world_.violated("too much happens: it spins");
    }
}

void Stage::set_up() {
    world_.unkindness = {};
    for (std::size_t i = 0; i < coordinators_.size(); ++i) start_coordinator(i);
    if (scenario_.is_contest() && !somebody_leads(5s)) {
        return world_.violated("no coordinator leads, though nothing stands in the way");
    }
    const SimCoordinator* leader = leader_checks_.leader();
    for (const std::string& statement : scenario_.setup) {
        std::optional<UserAnswer> answer;
        std::string why;
        const auto told = [&](UserAnswer outcome, const Error* error) {
            answer = outcome;
            if (error != nullptr) why = error->message;
        };
        for (std::size_t i = 0; i < coordinators_.size(); ++i) {
            if (leader != nullptr && leader != coordinators_[i].get()) continue;
            coordinators_[i]->ask(user_of(i), statement, told);
        }
        const Instant end = world_.agenda.now() + 1min;
        while (!answer && step(end)) {
        }
        if (answer != UserAnswer::accepted) {
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

// ---- incidents ----------------------------------------------------------------------------------

void Stage::begin(const Incident& planned) {
    Incident incident = planned;
    if (incident.coordinator >= coordinators_.size()) {
        const SimCoordinator* leader = leader_checks_.leader();
        incident.coordinator = 0;
        for (std::size_t i = 0; i < coordinators_.size(); ++i) {
            if (coordinators_[i].get() == leader) incident.coordinator = i;
        }
    }
    world_.tell(42, [&] { return told(scenario_, incident); });
    SimWorker& worker = *workers_.at(incident.worker);
    if (incident.kind == IncidentKind::worker_paused) worker.pause();
    if (incident.kind == IncidentKind::worker_killed) {
        worker.kill();
        network_.worker_died(worker.name());
        checks_.worker_renewed(worker.name());
    }
    SimCoordinator& coordinator = *coordinators_.at(incident.coordinator);
    if (incident.kind == IncidentKind::coordinator_killed) coordinator.kill();
    if (incident.kind == IncidentKind::coordinator_leaves) coordinator.leave();
    change(incident, true);
    under_way_.push_back(incident);
    if (incident.kind >= IncidentKind::worker_courted) play_stranger(incident);
    world_.agenda.after(incident.lasts, [this, incident] { end(incident); });
}

void Stage::end(const Incident& incident) {
    const auto found = std::find(under_way_.begin(), under_way_.end(), incident);
    if (found == under_way_.end()) return;  // healed already
    under_way_.erase(found);
    change(incident, false);
}

bool Stage::is_under_way(IncidentKind kind, const Incident& like) const {
    const bool of_worker = is_of_worker(kind);
    const bool of_all = is_of_all(kind);
    return std::any_of(under_way_.begin(), under_way_.end(), [&](const Incident& other) {
        return other.kind == kind &&
               (of_all ||
                (of_worker ? other.worker == like.worker : other.coordinator == like.coordinator));
    });
}

bool Stage::is_kept_down(std::size_t coordinator) const {
    const Incident like{.at = {},
                        .kind = IncidentKind::coordinator_killed,
                        .worker = 0,
                        .lasts = {},
                        .coordinator = coordinator};
    return is_under_way(IncidentKind::coordinator_killed, like) ||
           is_under_way(IncidentKind::coordinator_leaves, like);
}

void Stage::change(const Incident& incident, bool begins) {
    if (incident.kind >= IncidentKind::coordinator_killed) checks_.coordinator_disturbed();
    if (stands_still(incident.kind)) disturbed_[incident.coordinator] = world_.agenda.now();
    const bool goes_on = begins || is_under_way(incident.kind, incident);
    const auto& worker = *workers_.at(incident.worker);
    const auto& coordinator = coordinators_.at(incident.coordinator);
    switch (incident.kind) {
        case IncidentKind::worker_killed:
        case IncidentKind::worker_paused:
        case IncidentKind::coordinator_killed:
        case IncidentKind::coordinator_leaves:
            if (!goes_on) wake(incident);
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
        case IncidentKind::coordinator_paused:
            if (begins) coordinator->pause();
            if (!goes_on) coordinator->resume();
            break;
        case IncidentKind::disk_full:
            for (const auto& each : coordinators_) each->set_disk_full(goes_on);
            lease_store_.set_full(goes_on);
            break;
        case IncidentKind::store_away:
        case IncidentKind::store_restored:
            lease_store_.set_away(begins || is_under_way(IncidentKind::store_away, incident) ||
                                  is_under_way(IncidentKind::store_restored, incident));
            if (incident.kind == IncidentKind::store_restored && !goes_on) restore_leases();
            break;
        case IncidentKind::coordinator_cut_off:
            network_.cut_off(incident.coordinator, begins);
            break;
        case IncidentKind::coordinator_storeless:
            coordinator->set_storeless(goes_on);
            break;
        case IncidentKind::worker_lies:
            workers_.at(incident.worker)->set_lying(goes_on);
            break;
        case IncidentKind::worker_courted:
        case IncidentKind::worker_poisoned:
        case IncidentKind::worker_haunted:
        case IncidentKind::worker_contested:
            break;  // play_stranger()
    }
}

void Stage::restore_leases() {
    const bool disturbs = std::any_of(
        coordinators_.begin(), coordinators_.end(),
        [](const auto& each) { return each->acting() || each->in_term() || each->is_paused(); });
    if (disturbs || world_.problem()) return;
    world_.tell(44, [] { return std::string("the leases are those of an old backup"); });
    leader_checks_.restore(world_.prng.next());
}

// A process that was stopped is there again.
void Stage::wake(const Incident& incident) {
    SimWorker& worker = *workers_.at(incident.worker);
    if (incident.kind == IncidentKind::worker_paused) return worker.resume();
    if (incident.kind == IncidentKind::worker_killed) {
        worker.start();
        return checks_.worker_renewed(worker.name());
    }
    if (!is_kept_down(incident.coordinator)) start_coordinator(incident.coordinator);
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

bool Stage::somebody_leads(Duration within) {
    const Instant end = world_.agenda.now() + within;
    while (!world_.problem() && leader_checks_.leader() == nullptr) {
        if (!step(end)) break;
    }
    return leader_checks_.leader() != nullptr;
}

std::vector<std::string> Stage::unsettled() {
    std::vector<std::string> left = checks_.unsettled();
    const auto partitions = partition_checks_.unsettled();
    left.insert(left.end(), partitions.begin(), partitions.end());
    return left;
}

void Stage::settle() {
    // Calls that were slow, and what they left in the store, come to an end.
    // One that was fought for has the back-off of its leader to wait for.
    constexpr Duration kBackOff = 10s;
    const bool contested =
        std::any_of(scenario_.incidents.begin(), scenario_.incidents.end(),
                    [](const Incident& i) { return i.kind == IncidentKind::worker_contested; });
    const Duration within = 4 * scenario_.lease_ttl + 2s + (contested ? kBackOff : Duration());
    if (scenario_.is_contest() && !somebody_leads(within)) {
        return world_.violated("no coordinator leads, though all is well again");
    }
    run_for(kComesLater);
    std::vector<std::string> left;
    for (Duration waited{}; waited < kSettlesWithin; waited += 5s) {
        run_for(5s);
        if (world_.problem()) return;
        left = unsettled();
        if (left.empty()) return;
    }
    world_.violated("it does not come to rest: " + join(left, "; "));
}

void Stage::rest() {
    request_checks_.check_all();
    const SimCoordinator* leader = leader_checks_.leader();
    const std::uint64_t terms = leader_checks_.terms();
    const std::uint64_t assignments = partition_checks_.assignments();
    check_still(kRests);
    if (partition_checks_.assignments() != assignments) {
        world_.violated("partitions are assigned, though nothing happens");
    }
    if (leader_checks_.leader() != leader || leader_checks_.terms() != terms) {
        world_.violated("another leads, though all is well");
    }
}

// What runs, runs: nothing is written any more.
void Stage::check_still(Duration span) {
    const Revision before = checks_.revision();
    const std::uint64_t commands = checks_.commands();
    run_for(span);
    const auto left = unsettled();
    if (!left.empty()) world_.violated("it does not stay at rest: " + join(left, "; "));
    if (checks_.revision() != before) {
        world_.violated("the catalog is written to, though nothing happens");
    }
    if (checks_.commands() != commands) {
        world_.violated("workers are commanded, though nothing happens");
    }
}

void Stage::fail_over() {
    constexpr Duration kSlack = 500ms;
    constexpr Duration kHandsOver = 2500ms;
    if (!scenario_.is_contest()) return;
    replace_leader(IncidentKind::coordinator_killed, scenario_.lease_ttl + kSlack);
    check_still(kFailsOver);
    replace_leader(IncidentKind::coordinator_leaves, kHandsOver);
    check_still(kFailsOver);
}

void Stage::replace_leader(IncidentKind how, Duration within) {
    if (world_.problem()) return;
    const std::uint64_t terms = leader_checks_.terms();
    const bool alone = coordinators_.size() == 1;
    begin({.at = {},
           .kind = how,
           .worker = 0,
           .lasts = alone ? Duration(200ms) : scenario_.lease_ttl,
           .coordinator = Incident::kWhoLeads});
    const Instant end = world_.agenda.now() + within;
    const auto replaced = [&] {
        return leader_checks_.leader() != nullptr && leader_checks_.terms() > terms;
    };
    while (!world_.problem() && !replaced() && step(end)) {
    }
    if (!replaced()) world_.violated("no coordinator leads in time after the leader is gone");
}

}  // namespace baton::sim
