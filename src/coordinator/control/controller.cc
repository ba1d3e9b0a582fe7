#include "coordinator/control/controller.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include "base/epoch.h"
#include "base/overload.h"

namespace baton {

using deployment::Plan;

namespace {

constexpr Backoff kCatalogBackoff = {.first = std::chrono::milliseconds(50),
                                     .limit = std::chrono::seconds(5)};

Request request_of(QueryId query, const deployment::Write& write) {
    return std::visit(
        Overload{
            [](const deployment::ReportFragment& w) -> Request {
                return request::ReportFragment{.fragment = w.fragment,
                                               .state = w.state,
                                               .reason = w.reason,
                                               .counts = w.counts};
            },
            [&](const deployment::MarkQuery& w) -> Request {
                return request::MarkQuery{
                    .query = query, .state = w.state, .reason = w.reason, .lagging = w.lagging};
            },
            [&](const deployment::FailQuery& w) -> Request {
                return request::FailQuery{.query = query, .reason = w.reason};
            },
            [&](const deployment::RestartQuery& w) -> Request {
                return request::RestartQuery{
                    .query = query, .reason = w.reason, .restarts = w.restarts};
            },
            [&](const deployment::ReleaseQuery&) -> Request {
                return request::ReleaseQuery{.query = query};
            },
        },
        write);
}

control::Order order_of(const deployment::Send& send, PlanText plan) {
    return std::visit(Overload{
                          [&](const deployment::Register&) -> control::Order {
                              return control::RegisterFragment{
                                  .key = send.key,
                                  .plan = std::move(plan.text),
                                  .fingerprint = std::move(plan.fingerprint)};
                          },
                          [&](const deployment::Start&) -> control::Order {
                              return control::StartFragment{send.key};
                          },
                          [&](const deployment::Stop& o) -> control::Order {
                              return control::StopFragment{.key = send.key, .mode = o.mode};
                          },
                          [&](const deployment::Forget&) -> control::Order {
                              return control::ForgetFragment{send.key};
                          },
                      },
                      send.order);
}

std::uint64_t number_of(const std::string& key) {
    std::uint64_t number = 0;
    (void)std::from_chars(key.data(), key.data() + key.size(), number);
    return number;
}

bool registers(const deployment::Send& send) {
    return std::holds_alternative<deployment::Register>(send.order);
}

}  // namespace

Controller::Controller(const ControllerOptions& options, CatalogDoor& door, Transport& transport,
                       const Clock& clock, Post post)
    : options_(options),
      door_(door),
      transport_(transport),
      clock_(clock),
      post_(std::move(post)),
      prng_(options.seed),
      membership_(options.membership, clock.now()),
      roster_(options.pace),
      ledger_(options.pace),
      allocator_(options.allocation, options.epoch, clock.now()),
      workers_due_(kCatalogBackoff),
      queries_due_(kCatalogBackoff),
      partitions_due_(kCatalogBackoff) {}

Result<Done> Controller::start() {
    CatalogWanted wanted;
    wanted.everything = true;
    TRY_ASSIGN(seen, door_.look(wanted));
    catalog_ = seen.catalog;
    const Instant now = clock_.now();
    for (const auto& [id, query] : seen.queries) record(now, id, query);
    for (const auto& [name, worker] : seen.workers) record(now, name, worker);
    allocator_.record(seen.task_lists, seen.partitions);
    partitions_due_.add({});
    for (const QueryId id : ledger_.unfinished()) queries_due_.add(id);
    return Done{};
}

void Controller::take(const ControlEvent& event) {
    const Instant now = clock_.now();
    std::visit([&](const auto& e) { on(now, e); }, event);
    reconcile(now);
}

std::optional<Instant> Controller::wake_at() const {
    const Instant now = clock_.now();
    std::optional<Instant> earliest = membership_.wake_at();
    const auto consider = [&](std::optional<Instant> at) {
        if (at) earliest = std::min(earliest.value_or(*at), *at);
    };
    consider(workers_due_.wake_at(now));
    consider(queries_due_.wake_at(now));
    consider(partitions_due_.wake_at(now));
    consider(partitions_at_);
    if (!timers_.empty()) consider(timers_.begin()->first);
    return earliest;
}

// ---- events -------------------------------------------------------------------------------------

void Controller::on(Instant now, const control_event::Tick& /*tick*/) {
    member(now, membership::Tick{});
    while (!timers_.empty() && timers_.begin()->first <= now) {
        const QueryId query = timers_.begin()->second;
        set_timer(query, std::nullopt);
        queries_due_.add(query);
    }
    if (partitions_at_ && *partitions_at_ <= now) {
        partitions_at_.reset();  // they may have to wait for the catalog
        partitions_due_.add({});
    }
}

void Controller::on(Instant /*now*/, const control_event::Changed& event) {
    for (const EntityKey& changed : event.keys) {
        if (changed.entity == Entity::worker) {
            stale_workers_.insert(changed.key);
            workers_due_.add(changed.key);
            continue;
        }
        if (changed.entity == Entity::task_list || changed.entity == Entity::partition) {
            stale_partitions_ = true;
            partitions_due_.add({});
            continue;
        }
        std::optional<QueryId> query;
        if (changed.entity == Entity::query) query = QueryId(number_of(changed.key));
        if (changed.entity == Entity::fragment) {
            query = ledger_.query_of(FragmentId(number_of(changed.key)));
        }
        if (!query) continue;  // a fragment comes and goes with its query, which is told, too
        stale_queries_.insert(*query);
        queries_due_.add(*query);
    }
}

void Controller::on(Instant now, const control_event::Settled& event) {
    const auto found = under_way_.find(event.ticket);
    if (found == under_way_.end()) return;
    const UnderWay what = found->second;
    under_way_.erase(found);
    // Whatever came of it: what is there now is what counts.
    const bool again = !event.outcome;
    if (what.restart && again && event.outcome.error().code == ErrorCode::placement) {
        const QueryId query = std::get<QueryId>(what.subject);
        ledger_.restart_refused(query, now, event.outcome.error().message, prng_.next());
    }
    std::visit(Overload{
                   [&](QueryId query) {
                       stale_queries_.insert(query);
                       if (again) {
                           queries_due_.retry(query, now);
                       } else {
                           queries_due_.add(query);
                           queries_due_.done(query);
                       }
                   },
                   [&](const std::string& worker) {
                       stale_workers_.insert(worker);
                       if (again) {
                           workers_due_.retry(worker, now);
                       } else {
                           workers_due_.add(worker);
                           workers_due_.done(worker);
                       }
                   },
                   [&](Partitions all) {
                       stale_partitions_ = true;
                       if (again) {
                           partitions_due_.retry(all, now);
                       } else {
                           partitions_due_.add(all);
                           partitions_due_.done(all);
                       }
                   },
               },
               what.subject);
}

void Controller::on(Instant now, const transport::Dialled& event) {
    if (!membership_.awaits(event.worker, event.attempt)) return;
    touch(roster_.connected(now, event.worker, event.attempt, event.welcome));
    touch_queries_on(event.worker);
    allocator_.connected(now, event.worker, event.welcome);
    partitions_due_.add({});
    member(now, membership::Dialled{.worker = event.worker,
                                    .attempt = event.attempt,
                                    .incarnation = event.welcome.incarnation});
}

void Controller::on(Instant now, const transport::DialFailed& event) {
    const bool absurd = !is_believable(event.highest, options_.epoch);
    member(now, membership::DialFailed{.worker = event.worker,
                                       .attempt = event.attempt,
                                       .why = absurd ? no_belief_in(event.highest) : event.why,
                                       .refused = event.refused});
}

void Controller::on(Instant now, const transport::Heard& event) {
    std::visit(Overload{
                   [&](const control::Pulse& pulse) {
                       touch(roster_.heard(now, event.worker, event.attempt, pulse, prng_.next()));
                       const bool present = roster_.attempt(event.worker) == event.attempt;
                       if (present && pulse.draining) leaves(event.worker);
                       if (pulse.beat == 0) return;
                       if (present) counters_.tell(event.worker, pulse.counts);
                       if (present) allocator_.answered(now, event.worker, pulse.beat);
                       member(now, membership::Answered{.worker = event.worker,
                                                        .attempt = event.attempt,
                                                        .beat = pulse.beat});
                   },
                   [&](const control::CommandAnswer& answer) {
                       const auto query =
                           roster_.heard(now, event.worker, event.attempt, answer, prng_.next());
                       if (query) queries_due_.add(*query);
                   },
                   [&](const control::Holding& holding) {
                       if (roster_.attempt(event.worker) != event.attempt) return;
                       allocator_.heard(event.worker, holding);
                       partitions_due_.add({});
                   },
               },
               event.message);
}

void Controller::on(Instant now, const transport::Broken& event) {
    if (roster_.attempt(event.worker) == event.attempt) disconnect(now, event.worker);
    member(now,
           membership::Broken{.worker = event.worker, .attempt = event.attempt, .why = event.why});
}

// ---- workers ------------------------------------------------------------------------------------

std::string Controller::no_belief_in(Epoch claimed) const {
    return "it claims to have obeyed epoch " + to_string(claimed) + ", which is too far above " +
           to_string(options_.epoch) + ", the present one, to be believed; to change that, " +
           control::kRelease;
}

void Controller::member(Instant now, const membership::Event& event) {
    for (const membership::Effect& effect : membership_.step(now, event)) perform(now, effect);
}

void Controller::perform(Instant now, const membership::Effect& effect) {
    std::visit(Overload{
                   [&](const membership::Dial& e) {
                       const Worker* worker = roster_.recorded(e.worker);
                       transport_.dial(
                           e.worker, worker == nullptr ? std::nullopt : worker->control, e.attempt,
                           control::Hello{
                               .epoch = options_.epoch, .worker = e.worker, .catalog = catalog_});
                   },
                   [&](const membership::Beat& e) {
                       transport_.send(
                           e.worker, e.attempt,
                           control::Beat{.number = e.beat,
                                         .seen = roster_.seen(e.worker),
                                         .answered = allocator_.last_answered(e.worker)});
                   },
                   [&](const membership::HangUp& e) {
                       transport_.hang_up(e.worker, e.attempt);
                       if (roster_.attempt(e.worker) == e.attempt) disconnect(now, e.worker);
                   },
                   [&](const membership::Judge& e) {
                       judged_[e.worker] = {
                           .state = e.state, .incarnation = e.incarnation, .reason = e.reason};
                       workers_due_.add(e.worker);
                   },
               },
               effect);
}

void Controller::leaves(const std::string& worker) {
    const auto judged = judged_.find(worker);
    if (judged == judged_.end() || judged->second.state != WorkerState::active) return;
    if (std::exchange(judged->second.leaving, true)) return;
    workers_due_.add(worker);
}

void Controller::disconnect(Instant now, const std::string& worker) {
    counters_.forget(worker);
    allocator_.disconnected(worker);
    partitions_due_.add({});
    touch(roster_.disconnected(now, worker));
    touch_queries_on(worker);
}

void Controller::record(Instant now, const std::string& name, const std::optional<Worker>& worker) {
    const Worker* known = roster_.recorded(name);
    const bool moved = known != nullptr && worker && known->control != worker->control;
    if (known != nullptr && (!worker || moved)) {
        member(now, membership::Left{name});
        disconnect(now, name);
        roster_.remove(name);
        judged_.erase(name);
        known = nullptr;
    }
    allocator_.record(name, worker);
    partitions_due_.add({});
    if (!worker) return;
    if (roster_.record(now, *worker)) {
        touch_queries_on(name);
        touch(roster_.queries_held(name));
    }
    if (known == nullptr) {
        member(now, membership::Joined{.worker = name, .known = worker->state});
    }
}

void Controller::reconcile_workers(Instant now) {
    while (const auto name = workers_due_.take(now)) {
        if (stale_workers_.contains(*name)) {
            CatalogWanted wanted;
            wanted.workers.insert(*name);
            const auto seen = door_.look(wanted);
            if (!seen) {
                workers_due_.retry(*name, now);
                continue;
            }
            stale_workers_.erase(*name);
            record(now, *name, seen->workers.at(*name));
        }
        const Worker* known = roster_.recorded(*name);
        const auto judged = judged_.find(*name);
        const bool so_already =
            known == nullptr || judged == judged_.end() ||
            (known->state == judged->second.state && known->reason == judged->second.reason &&
             known->leaving == judged->second.leaving &&
             (!judged->second.incarnation || known->incarnation == judged->second.incarnation));
        if (so_already) {
            workers_due_.done(*name);
            continue;
        }
        submit({.subject = *name, .restart = false},
               {request::ReportWorker{.name = *name,
                                      .state = judged->second.state,
                                      .incarnation = judged->second.incarnation,
                                      .reason = judged->second.reason,
                                      .leaving = judged->second.leaving}});
    }
}

// ---- queries ------------------------------------------------------------------------------------

void Controller::record(Instant now, QueryId id, const std::optional<StoredQuery>& stored) {
    if (!stored) return ledger_.remove(id);
    const auto on_our_clock = [&](WallTime then) {
        const Duration age = clock_.wall_now() - then;
        return now - std::max(age, Duration::zero());
    };
    const Query& query = stored->query;
    ledger_.record(query, stored->fragments, on_our_clock(query.since),
                   query.restarted ? on_our_clock(*query.restarted) : Instant());
}

void Controller::touch(const std::set<QueryId>& queries) {
    for (const QueryId query : queries) queries_due_.add(query);
}

void Controller::touch_queries_on(const std::string& worker) {
    touch(ledger_.on_worker(worker));
}

void Controller::reconcile(Instant now) {
    reconcile_workers(now);
    reconcile_queries(now);
    reconcile_partitions(now);
}

bool Controller::refresh(Instant now, const std::set<QueryId>& queries) {
    CatalogWanted wanted;
    for (const QueryId query : queries) {
        if (stale_queries_.contains(query)) wanted.queries.insert(query);
    }
    if (wanted.empty()) return true;
    const auto seen = door_.look(wanted);
    if (!seen) return false;
    for (const auto& [id, query] : seen->queries) {
        stale_queries_.erase(id);
        record(now, id, query);
    }
    return true;
}

void Controller::reconcile_queries(Instant now) {
    std::set<QueryId> due;
    while (due.size() < options_.looks_max) {
        const auto query = queries_due_.take(now);
        if (!query) break;
        due.insert(*query);
    }
    if (due.empty()) return;
    const bool fresh = refresh(now, due);
    for (const QueryId query : due) {
        if (!fresh) {
            queries_due_.retry(query, now);
            continue;
        }
        const Plan plan = deployment::plan(ledger_.view(query, roster_), now, options_.pace);
        reconcile(now, query, plan);
    }
}

// The key is finished here, or when what was submitted is settled.
void Controller::reconcile(Instant now, QueryId query, const Plan& plan) {
    set_timer(query, plan.wake_at);
    if (!plan.writes.empty()) {
        std::vector<Request> requests;
        bool restart = false;
        for (const deployment::Write& write : plan.writes) {
            requests.push_back(request_of(query, write));
            restart = restart || std::holds_alternative<deployment::RestartQuery>(write);
        }
        submit({.subject = query, .restart = restart}, std::move(requests));
    } else if (send(now, plan.sends)) {
        queries_due_.done(query);
    } else {
        queries_due_.retry(query, now);
    }
}

bool Controller::send(Instant now, const std::vector<deployment::Send>& sends) {
    CatalogWanted wanted;
    for (const deployment::Send& send : sends) {
        if (registers(send)) wanted.plans.insert(send.key.fragment);
    }
    CatalogLook seen;
    if (!wanted.empty()) {
        auto looked = door_.look(wanted);
        if (!looked) return false;
        seen = *std::move(looked);
    }
    for (const deployment::Send& send : sends) {
        const auto attempt = roster_.attempt(send.worker);
        const auto plan = seen.plans.find(send.key.fragment);
        if (!attempt || (registers(send) && plan == seen.plans.end())) continue;
        const std::uint64_t request = next_request_++;
        roster_.asked(now, send, request);
        transport_.send(
            send.worker, *attempt,
            control::Command{
                .request = request,
                .epoch = options_.epoch,
                .order = order_of(send, plan == seen.plans.end() ? PlanText{} : plan->second)});
    }
    return true;
}

void Controller::set_timer(QueryId query, std::optional<Instant> at) {
    if (const auto found = timer_of_.find(query); found != timer_of_.end()) {
        timers_.erase({found->second, query});
        timer_of_.erase(found);
    }
    if (!at) return;
    timers_.insert({*at, query});
    timer_of_[query] = *at;
}

void Controller::submit(UnderWay what, std::vector<Request> requests) {
    const CatalogDoor::Ticket ticket = next_ticket_++;
    under_way_.emplace(ticket, std::move(what));
    door_.submit(ticket, std::move(requests),
                 [post = post_](CatalogDoor::Ticket settled, const Result<Done>& outcome) {
                     post(control_event::Settled{.ticket = settled, .outcome = outcome});
                 });
}

}  // namespace baton
