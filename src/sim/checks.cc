#include "sim/checks.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/check.h"
#include "base/text.h"
#include "catalog/check.h"

namespace baton::sim {

namespace {

using namespace std::chrono_literals;

std::string name_of(const Query& query) {
    return "query " + query.name + " (" + to_string(query.id) + ")";
}

FragmentKey key_of(const Query& query, const Fragment& fragment) {
    return {.query = query.id, .run = fragment.run, .fragment = fragment.id};
}

// What users and failures can only take further.
int progress(QueryDesire desired) {
    switch (desired) {
        case QueryDesire::running:
            return 0;
        case QueryDesire::stopped:
        case QueryDesire::failed:
            return 1;
        case QueryDesire::dropped:
            return 2;
    }
    CHECK(false && "a desire that is not in the list");
}

bool may_run_once(const Query& query) {
    const auto found = query.settings.find("ON_FAILURE");
    if (found == query.settings.end()) return false;
    const auto* choice = std::get_if<std::string>(&found->second);
    return choice != nullptr && *choice == "FAIL";
}

bool is_wanted(const Query& query) {
    return query.desired == QueryDesire::running && !has_ended(query.state);
}

}  // namespace

Checks::Checks(World& world, SqlDatabase& disk,
               const std::vector<std::unique_ptr<SimWorker>>& workers, FragmentRuns& ran)
    : world_(world), sql_(*disk.connect(Access::read)), workers_(workers), ran_(ran) {
    read();
}

void Checks::read() {
    CHECK(sql_->begin(Access::read));
    const catalog::Reader reader(*sql_);
    revision_ = *reader.revision();
    Seen seen;
    for (const auto& [id, known] : queries_) seen.queries[id];
    for (Query& query : *reader.queries()) {
        const QueryId id = query.id;
        seen.queries[id] = QueryRows{.query = std::move(query), .fragments = {}};
    }
    for (Fragment& fragment : *reader.fragments({.query = {}, .worker = {}, .with_plan = false})) {
        seen.queries.at(fragment.query)->fragments.push_back(std::move(fragment));
    }
    for (const auto& [name, worker] : catalog_workers_) seen.workers[name];
    for (Worker& worker : *reader.workers()) {
        const std::string name = worker.name;
        seen.workers[name] = std::move(worker);
    }
    sql_->rollback();
    take_in(std::move(seen));
}

// A commit says what it changed. That it says all of it is not taken for granted: every now and
// then everything is read.
void Checks::read(const std::vector<catalog::Change>& changes) {
    constexpr std::uint64_t kAllEvery = 64;
    if (++reads_ % kAllEvery == 0) return read();
    CHECK(sql_->begin(Access::read));
    const catalog::Reader reader(*sql_);
    revision_ = *reader.revision();
    Seen seen;
    for (const catalog::Change& change : changes) {
        if (change.entity == kinds::Entity::query) seen.queries[QueryId(std::stoull(change.key))];
        if (change.entity == kinds::Entity::worker) seen.workers[change.key];
        if (change.entity != kinds::Entity::fragment) continue;
        const auto fragment = *reader.fragment(FragmentId(std::stoull(change.key)));
        if (fragment) seen.queries[fragment->query];
    }
    for (auto& [name, worker] : seen.workers) worker = *reader.worker(name);
    for (auto& [id, known] : seen.queries) {
        auto query = *reader.query(id);
        if (!query) continue;
        known = {.query = *std::move(query),
                 .fragments = *reader.fragments({.query = id, .worker = {}, .with_plan = false})};
    }
    sql_->rollback();
    take_in(std::move(seen));
}

void Checks::take_in(Seen seen) {
    for (auto& [name, worker] : seen.workers) {
        check_worker(name, worker);
        const auto before = catalog_workers_.find(name);
        const auto life =
            before == catalog_workers_.end() ? std::nullopt : before->second.incarnation;
        if (life && (!worker || worker->incarnation != life)) replaced_[{name, *life}] = revision_;
        if (worker) catalog_workers_[name] = *std::move(worker);
        if (!worker) catalog_workers_.erase(name);
    }
    for (const auto& [id, known] : seen.queries) {
        const auto before = queries_.find(id);
        if (known) check_query(*known, before == queries_.end() ? nullptr : &before->second);
        if (!known && before != queries_.end()) check_gone(before->second);
    }
    for (auto& [id, known] : seen.queries) {
        if (known) queries_[id] = *std::move(known);
        if (!known) queries_.erase(id);
    }
    if (seen.workers.empty()) return;
    for (const auto& [id, known] : queries_) check_query(known, &known);
}

void Checks::committed(const coordinator::CommittedBatch& batch) {
    if (batch.changes.empty()) return;
    read(batch.changes);
    check_capacity();
    check_acknowledged();
}

void Checks::published(std::size_t coordinator, Revision revision) {
    published_[coordinator] = revision;
}

void Checks::term_began(std::size_t coordinator) {
    read();  // also what was committed without anybody being told
    term_began_ = world_.agenda.now();
    coordinator_disturbed();
    published_[coordinator] = revision_;
    check_acknowledged();
}

void Checks::worker_renewed(const std::string& worker) {
    for (const auto& [id, known] : queries_) {
        for (const Fragment& fragment : known.fragments) {
            if (fragment.worker == worker) ran_.harm(id, fragment.run);
        }
    }
}

void Checks::check_query(const QueryRows& known, const QueryRows* before) {
    const Query& query = known.query;
    if (before == nullptr || before->query.state != query.state) reached_[query.state] += 1;
    for (const Fragment& fragment : known.fragments) {
        if (has_ended(fragment.state)) ran_.end(key_of(query, fragment));
        if (!is_wanted(query)) unwanted_.try_emplace(key_of(query, fragment), revision_);
        const auto worker = catalog_workers_.find(fragment.worker);
        if (worker == catalog_workers_.end()) {
            world_.violated(name_of(query) + " has a fragment on " + fragment.worker +
                            ", which is not in the catalog");
            continue;
        }
        const bool reachable = worker->second.state == WorkerState::active;
        if (before == nullptr && (!reachable || worker->second.draining) &&
            query.state == QueryState::pending && revision_ == query.revision) {
            world_.violated(name_of(query) + " was placed on " + fragment.worker +
                            ", which is unreachable or draining");
        }
        if (query.state == QueryState::running) check_running(query, fragment);
    }
    if (before == nullptr) return;
    check_course(before->query, query);
    if (before->query.run != query.run) {
        for (const Fragment& fragment : before->fragments) {
            ran_.end(key_of(before->query, fragment));
            unwanted_.try_emplace(key_of(before->query, fragment), revision_);
        }
    }
    if (has_ended(query.state) && !has_ended(before->query.state)) check_gone(*before);
}

void Checks::check_running(const Query& query, const Fragment& fragment) {
    const FragmentKey key = key_of(query, fragment);
    const std::string but = name_of(query) + " is RUNNING, but fragment " + to_string(key);
    const Worker& worker = catalog_workers_.at(fragment.worker);
    if (!ran_.has(key)) world_.violated(but + " never ran");
    if (fragment.state == FragmentState::terminated) return;
    if (fragment.state != FragmentState::running) {
        world_.violated(but + " is " + std::string(to_string(fragment.state)));
    }
    if (worker.state != WorkerState::active) {
        world_.violated(name_of(query) + " is RUNNING while " + worker.name + " is UNREACHABLE");
    }
    if (ran_.process_of(key) != worker.incarnation) {
        world_.violated(but + " ran in another life of " + worker.name);
    }
}

void Checks::check_course(const Query& before, const Query& after) {
    const auto text = [](const Query& query) {
        return std::string(to_string(query.state)) + ", to be " +
               std::string(to_string(query.desired));
    };
    const bool again = has_ended(before.state) && after.state != before.state;
    if (again || progress(after.desired) < progress(before.desired)) {
        world_.violated(name_of(after) + " was " + text(before) + ", and is " + text(after));
    }
    check_deadline(before, after);
    check_patience(before, after);
    check_cause(before, after);
    if (after.run < before.run) world_.violated(name_of(after) + " goes back to an earlier run");
    if (after.run > 1 && may_run_once(after)) {
        world_.violated(name_of(after) + " is to fail when it fails, and was restarted");
    }
}

void Checks::check_deadline(const Query& before, const Query& after) {
    if (before.state != QueryState::deploying || after.state != QueryState::running) return;
    const auto limit = before.settings.find("DEPLOY_TIMEOUT_MS");
    if (limit == before.settings.end()) return;
    const auto* ms = std::get_if<std::int64_t>(&limit->second);
    if (ms == nullptr) return;
    // The coordinator's clock may be slow, and a write may have to be tried again.
    constexpr Duration kSlack = 10s;
    const Duration timeout = std::chrono::milliseconds(*ms);
    const Instant latest(before.since.time_since_epoch() + timeout + timeout / 10 + kSlack);
    if (world_.agenda.now() <= latest || undisturbed_since_ + kSlack > latest) return;
    world_.violated(name_of(after) + " runs, long after it should have been given up");
}

// In a world that is kind there is one reason to wait for ever: somebody else has the slot.
void Checks::check_patience(const Query& before, const Query& after) {
    constexpr Duration kAllIsWell = 5min;
    if (!healed_ || world_.agenda.now() < *healed_ + kAllIsWell) return;
    const bool fails =
        after.desired == QueryDesire::failed && before.desired != QueryDesire::failed;
    const bool late = after.reason.code == ReasonCode::timed_out;
    if (!fails || !late || after.reason.error == number(ErrorCode::placement)) return;
    world_.violated(name_of(after) + " is given up, though nothing keeps it: " + after.reason.text);
}

// D12: what becomes of a query is the work of its users, or of what befell its workers. That there
// is another coordinator, or none for a while, is no cause.
void Checks::check_cause(const Query& before, const Query& after) {
    const bool harmed = ran_.is_harmed(before.id, before.run);
    if (after.run > before.run && !harmed) {
        world_.violated(
            name_of(after) +
            " is restarted, though nothing has befallen its workers: " + after.reason.text);
    }
    if (after.desired == before.desired) return;
    const bool fails = after.desired == QueryDesire::failed;
    const bool late = after.reason.code == ReasonCode::timed_out;
    if (fails && !harmed && !late) {
        world_.violated(name_of(after) +
                        " fails, though nothing has befallen its workers: " + after.reason.text);
    }
    if (!fails && !ends_asked_.contains(after.name)) {
        world_.violated(name_of(after) + " is ended, though no user has asked for it");
    }
}

// Who starts has heard of nobody yet, and gives everybody the time to be heard.
void Checks::check_worker(const std::string& name, const std::optional<Worker>& after) {
    constexpr Duration kGrace = 2300ms;
    if (world_.agenda.now() >= term_began_ + kGrace) return;
    const auto before = catalog_workers_.find(name);
    if (before == catalog_workers_.end() || !after || before->second.state == after->state) return;
    if (after->state == WorkerState::unreachable) {
        world_.violated(name + " is UNREACHABLE for a coordinator that has just started");
    }
}

// The query has ended, or its row is gone and its name free: nobody may still have any of it.
void Checks::check_gone(const QueryRows& before) {
    for (const Fragment& fragment : before.fragments) {
        ran_.end(key_of(before.query, fragment));
        unwanted_.try_emplace(key_of(before.query, fragment), revision_);
    }
    for (const auto& worker : workers_) {
        if (!catalog_workers_.contains(worker->name())) continue;
        for (const FragmentKey& key : worker->alive()) {
            if (key.query != before.query.id) continue;
            world_.violated(name_of(before.query) + " has ended, but " + worker->name() +
                            " still has fragment " + to_string(key));
        }
    }
}

void Checks::check_capacity() {
    std::map<std::string, std::uint64_t> used;
    for (const auto& [id, known] : queries_) {
        for (const Fragment& fragment : known.fragments) {
            if (!has_ended(fragment.state)) used[fragment.worker] += fragment.slots;
        }
    }
    for (const auto& [name, worker] : catalog_workers_) {
        if (!worker.capacity || used[name] <= *worker.capacity) continue;
        world_.violated("worker " + name + " has " + std::to_string(*worker.capacity) +
                        " slots, and " + std::to_string(used[name]) + " are used");
    }
}

bool Checks::may_start(std::size_t coordinator, const FragmentKey& key,
                       const std::string& worker) const {
    const auto unwanted = unwanted_.find(key);
    if (unwanted != unwanted_.end()) return has_yet_to_hear(coordinator, unwanted->second);
    const auto known = queries_.find(key.query);
    if (known == queries_.end()) return false;
    const auto& fragments = known->second.fragments;
    return std::any_of(fragments.begin(), fragments.end(), [&](const Fragment& fragment) {
        return fragment.id == key.fragment && fragment.run == key.run && fragment.worker == worker;
    });
}

bool Checks::has_yet_to_hear(std::size_t coordinator, Revision of) const {
    const auto published = published_.find(coordinator);
    return published != published_.end() && published->second < of;
}

bool Checks::is_known(std::size_t coordinator, const std::string& worker,
                      std::optional<Incarnation> process) const {
    if (!process) return false;
    const auto found = catalog_workers_.find(worker);
    if (found != catalog_workers_.end() && found->second.incarnation == process) return true;
    const auto replaced = replaced_.find({worker, *process});
    return replaced != replaced_.end() && has_yet_to_hear(coordinator, replaced->second);
}

void Checks::commanded(std::size_t coordinator, const std::string& worker,
                       std::optional<Incarnation> process, const control::Command& command) {
    commands_ += 1;
    const bool starts = std::holds_alternative<control::RegisterFragment>(command.what) ||
                        std::holds_alternative<control::StartFragment>(command.what);
    const FragmentKey& key = control::key_of(command.what);
    world_.tell(30, [&] {
        constexpr std::array kWords = {"register", "start", "stop", "forget"};
        return "the coordinator tells " + worker + " to " + kWords.at(command.what.index()) + " " +
               to_string(key);
    });
    const bool fine =
        !starts || (may_start(coordinator, key, worker) && is_known(coordinator, worker, process));
    if (fine && !out_of_order(command)) return;
    read();  // a commit whose outcome is unknown may have happened, and the coordinator may have
             // seen it
    if (const auto problem = out_of_order(command)) world_.violated(*problem);
    if (!starts) return;
    if (!is_known(coordinator, worker, process)) {
        world_.violated("the coordinator starts fragment " + to_string(key) + " on " + worker +
                        " in a life that the catalog does not know");
    }
    if (may_start(coordinator, key, worker)) return;
    world_.violated("the coordinator starts fragment " + to_string(key) + " on " + worker +
                    ", which the catalog does not want");
}

// Nothing is started before all is registered and what is downstream was started; nothing is
// drained before what is upstream has ended.
std::optional<std::string> Checks::out_of_order(const control::Command& command) const {
    const FragmentKey& key = control::key_of(command.what);
    const bool starts = std::holds_alternative<control::StartFragment>(command.what);
    const auto* stop = std::get_if<control::StopFragment>(&command.what);
    const bool drains = stop != nullptr && stop->mode == StopMode::graceful;
    const auto known = queries_.find(key.query);
    if (known == queries_.end() || !(starts || drains)) return std::nullopt;
    const auto& fragments = known->second.fragments;
    const auto told = std::find_if(fragments.begin(), fragments.end(),
                                   [&](const Fragment& f) { return f.id == key.fragment; });
    if (told == fragments.end()) return std::nullopt;
    for (const Fragment& other : fragments) {
        if (other.run != key.run) continue;
        const bool unstarted =
            other.state == FragmentState::pending ||
            (other.stage < told->stage && other.state == FragmentState::registered);
        const bool lives_upstream = other.stage > told->stage && !has_ended(other.state);
        if (!(starts && unstarted) && !(drains && lives_upstream)) continue;
        return "the coordinator " + std::string(starts ? "starts" : "drains") + " fragment " +
               to_string(key) + ", though " + to_string(other.id) + " is " +
               std::string(to_string(other.state));
    }
    return std::nullopt;
}

void Checks::given_up(const std::string& worker, std::size_t unanswered) {
    constexpr std::size_t kMissesMax = 3;
    if (unanswered >= kMissesMax) return;
    read();
    if (!catalog_workers_.contains(worker)) return;
    world_.violated(worker + " is given up after " + std::to_string(unanswered) +
                    " beats without an answer");
}

// ---- what users were promised -------------------------------------------------------------------

void Checks::create_acknowledged(const std::string& query, Instant asked) {
    const auto drops = drops_.find(query);
    if (drops != drops_.end() && (drops->second.open > 0 || drops->second.last >= asked)) return;
    for (const auto& [id, known] : queries_) {
        if (known.query.name != query || known.query.desired == QueryDesire::dropped) continue;
        acknowledged_.insert_or_assign(query, id);
        return;
    }
    world_.violated("query " + query + " was acknowledged and is not there");
}

void Checks::drop_asked(const std::string& query) {
    ends_asked_.insert(query);
    Drops& drops = drops_[query];
    drops.open += 1;
    drops.last = world_.agenda.now();
    acknowledged_.erase(query);
    stopped_.erase(query);
}

void Checks::drop_answered(const std::string& query) {
    Drops& drops = drops_[query];
    drops.open -= 1;
    drops.last = world_.agenda.now();
}

void Checks::stop_acknowledged(const std::string& query) {
    if (acknowledged_.contains(query)) stopped_.insert(query);
}

void Checks::check_acknowledged() {
    for (const auto& [name, id] : acknowledged_) {
        const auto found = queries_.find(id);
        if (found == queries_.end()) {
            world_.violated("query " + name + " was acknowledged and is lost");
            continue;
        }
        if (stopped_.contains(name) && found->second.query.desired == QueryDesire::running &&
            !has_ended(found->second.query.state)) {
            world_.violated("query " + name + " was stopped and is wanted again");
        }
    }
}

std::vector<Query> Checks::queries() const {
    std::vector<Query> all;
    for (const auto& [id, known] : queries_) all.push_back(known.query);
    return all;
}

std::vector<Worker> Checks::workers() const {
    std::vector<Worker> all;
    for (const auto& [name, worker] : catalog_workers_) all.push_back(worker);
    return all;
}

std::vector<std::string> Checks::unsettled() {
    read();
    std::vector<std::string> left;
    std::map<std::string, std::set<FragmentKey>> wanted;
    for (const auto& [id, known] : queries_) {
        const Query& query = known.query;
        const bool settled = query.state == QueryState::running || has_ended(query.state);
        if (!settled || query.desired == QueryDesire::dropped) {
            left.push_back(name_of(query) + " is " + std::string(to_string(query.state)) + ": " +
                           query.reason.text);
        }
        if (!query.lagging.empty()) {
            left.push_back(name_of(query) + " still waits for " + enumerate(query.lagging));
        }
        if (query.state == QueryState::failed && query.reason.text.empty()) {
            left.push_back(name_of(query) + " is FAILED without a reason");
        }
        if (query.state != QueryState::running) continue;
        for (const Fragment& fragment : known.fragments) {
            if (!has_ended(fragment.state)) wanted[fragment.worker].insert(key_of(query, fragment));
        }
    }
    for (const auto& worker : workers_) {
        if (!catalog_workers_.contains(worker->name())) continue;
        if (catalog_workers_[worker->name()].state != WorkerState::active) {
            left.push_back(worker->name() + " is UNREACHABLE");
        }
        if (worker->alive() != wanted[worker->name()]) {
            left.push_back(worker->name() + " does not hold what the catalog wants");
        }
        if (worker->remembered() != wanted[worker->name()].size()) {
            left.push_back(worker->name() + " still remembers what has ended");
        }
    }
    if (!left.empty()) return left;
    const auto problems = catalog::catalog_problems(*sql_);
    if (!problems) left.push_back(problems.error().message);
    if (problems) left.insert(left.end(), problems->begin(), problems->end());
    return left;
}

}  // namespace baton::sim
