#include "coordinator/control/query_reconciler.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include "base/overload.h"

namespace baton::coordinator {

using queries::Plan;

namespace {

control::WorkerCommand command_of(const queries::FragmentStep& step, const PlanText& plan) {
    return std::visit(Overload{
                          [&](const queries::RegisterFragment& s) -> control::WorkerCommand {
                              return control::RegisterFragment{
                                  .key = s.key, .plan = plan.text, .fingerprint = plan.fingerprint};
                          },
                          [](const auto& s) -> control::WorkerCommand { return s; },
                      },
                      step);
}

std::uint64_t number_of(const std::string& key) {
    std::uint64_t number = 0;
    (void)std::from_chars(key.data(), key.data() + key.size(), number);
    return number;
}

bool registers(const queries::Send& send) {
    return std::holds_alternative<queries::RegisterFragment>(send.step);
}

}  // namespace

QueryReconciler::QueryReconciler(ReconcilerActions& actions, const QueryReconcilerOptions& options,
                                 const Clock& clock, CounterBoard& counters)
    : actions_(actions),
      options_(options),
      clock_(clock),
      counters_(counters),
      prng_(options.seed),
      roster_(options.pace),
      ledger_(options.pace),
      due_(kCatalogBackoff) {}

EntitySet QueryReconciler::watches() const {
    return entities_of({kinds::Entity::query, kinds::Entity::fragment});
}

// ---- events -------------------------------------------------------------------------------------

void QueryReconciler::start(Instant now, const CatalogLook& everything) {
    for (const auto& [id, query] : everything.queries) record(now, id, query);
    for (const QueryId id : ledger_.unfinished()) due_.add(id);
}

void QueryReconciler::changed(const EntityKey& key) {
    const std::uint64_t number = number_of(key.key);
    const auto query =
        key.entity == kinds::Entity::query ? QueryId(number) : ledger_.query_of(FragmentId(number));
    // A fragment comes and goes with its query, whose change is heard, too.
    if (query) due_.changed(*query);
}

void QueryReconciler::written(Instant now, CatalogDoor::Ticket ticket,
                              const Result<Done>& outcome) {
    const auto query = due_.written(now, ticket, outcome.has_value());
    const bool restart = restarts_.erase(ticket) == 1;
    if (query && restart && !outcome && outcome.error().code == ErrorCode::placement) {
        const Error& error = outcome.error();
        ledger_.restart_refused(*query, now, {.why = error.message, .error = number(error.code)},
                                prng_.next());
    }
}

void QueryReconciler::recorded(Instant now, const std::string& worker,
                               const std::optional<Worker>& as_read) {
    const Worker* known = roster_.recorded(worker);
    const bool moved = known != nullptr && as_read && known->control != as_read->control;
    if (!as_read || moved) roster_.remove(worker);
    if (!as_read || !roster_.record(now, *as_read)) return;
    touch(ledger_.on_worker(worker));
    touch(roster_.queries_held(worker));
}

void QueryReconciler::connected(Instant now, const transport::Dialled& event) {
    touch(roster_.connected(now, event.worker, event.attempt, event.welcome));
    touch(ledger_.on_worker(event.worker));
}

void QueryReconciler::heard(Instant now, const transport::MessageArrived& event) {
    if (const auto* pulse = std::get_if<control::Pulse>(&event.message)) {
        touch(roster_.heard(now, event.worker, event.attempt, *pulse, prng_.next()));
        if (pulse->beat != 0) counters_.tell(event.worker, pulse->counts);
    } else if (const auto* answer = std::get_if<control::CommandAnswer>(&event.message)) {
        const auto query = roster_.heard(now, event.worker, event.attempt, *answer, prng_.next());
        if (query) due_.add(*query);
    }
}

void QueryReconciler::disconnected(Instant now, const std::string& worker) {
    counters_.forget(worker);
    touch(roster_.disconnected(now, worker));
    touch(ledger_.on_worker(worker));
}

void QueryReconciler::add_to(control::Beat& beat, const std::string& worker) const {
    beat.seen = roster_.seen(worker);
}

void QueryReconciler::tick(Instant now) {
    while (!timers_.empty() && timers_.begin()->first <= now) {
        const QueryId query = timers_.begin()->second;
        set_timer(query, std::nullopt);
        due_.add(query);
    }
}

std::optional<Instant> QueryReconciler::wake_at(Instant now) const {
    auto earliest = due_.wake_at(now);
    if (timers_.empty()) return earliest;
    const Instant first = timers_.begin()->first;
    return std::min(earliest.value_or(first), first);
}

// ---- what is known ------------------------------------------------------------------------------

void QueryReconciler::record(Instant now, QueryId id, const std::optional<StoredQuery>& stored) {
    if (!stored) return ledger_.remove(id);
    const auto on_our_clock = [&](WallTime then) {
        const Duration age = clock_.wall_now() - then;
        return now - std::max(age, Duration::zero());
    };
    const Query& query = stored->query;
    ledger_.record(query, stored->fragments, on_our_clock(query.since),
                   query.restarted ? on_our_clock(*query.restarted) : Instant());
}

void QueryReconciler::touch(const std::set<QueryId>& queries) {
    for (const QueryId query : queries) due_.add(query);
}

bool QueryReconciler::refresh(Instant now, const std::set<QueryId>& queries) {
    CatalogWanted wanted;
    for (const QueryId query : queries) {
        if (due_.is_stale(query)) wanted.queries.insert(query);
    }
    if (wanted.empty()) return true;
    const auto seen = actions_.look(wanted);
    if (!seen) return false;
    for (const auto& [id, query] : seen->queries) {
        due_.read(id);
        record(now, id, query);
    }
    return true;
}

// ---- what follows -------------------------------------------------------------------------------

void QueryReconciler::reconcile(Instant now) {
    std::set<QueryId> looked_at;
    while (looked_at.size() < options_.looks_max) {
        const auto query = due_.take(now);
        if (!query) break;
        looked_at.insert(*query);
    }
    if (looked_at.empty()) return;
    const bool fresh = refresh(now, looked_at);
    for (const QueryId query : looked_at) {
        if (fresh) {
            carry_out(now, query, queries::plan(ledger_.view(query, roster_), now, options_.pace));
        } else {
            due_.retry(query, now);
        }
    }
}

// The key is finished here, or when what was submitted is written.
void QueryReconciler::carry_out(Instant now, QueryId query, const Plan& plan) {
    set_timer(query, plan.wake_at);
    if (!plan.writes.empty()) {
        write(query, plan.writes);
    } else if (send(now, plan.sends)) {
        due_.done(query);
    } else {
        due_.retry(query, now);
    }
}

void QueryReconciler::write(QueryId query, const std::vector<queries::Write>& writes) {
    std::vector<catalog::Request> requests;
    requests.reserve(writes.size());
    for (const queries::Write& write : writes) {
        std::visit([&](const auto& request) { requests.emplace_back(request); }, write);
    }
    const auto ticket = actions_.submit(*this, std::move(requests));
    due_.submitted(ticket, query);
    const bool restart = std::any_of(writes.begin(), writes.end(), [](const auto& write) {
        return std::holds_alternative<queries::RestartQuery>(write);
    });
    if (restart) restarts_.insert(ticket);
}

bool QueryReconciler::send(Instant now, const std::vector<queries::Send>& sends) {
    CatalogWanted wanted;
    for (const queries::Send& send : sends) {
        if (registers(send)) wanted.plans.insert(key_of(send.step).fragment);
    }
    CatalogLook seen;
    if (!wanted.empty()) {
        auto looked = actions_.look(wanted);
        if (!looked) return false;
        seen = *std::move(looked);
    }
    for (const queries::Send& send : sends) {
        const auto plan = seen.plans.find(key_of(send.step).fragment);
        const bool vanished = registers(send) && plan == seen.plans.end();
        if (!roster_.attempt(send.worker) || vanished) continue;
        const std::uint64_t request = actions_.next_request();
        roster_.asked(now, send, request);
        actions_.send(
            send.worker,
            control::Command{.request = request,
                             .epoch = options_.epoch,
                             .what = command_of(
                                 send.step, plan == seen.plans.end() ? PlanText{} : plan->second)});
    }
    return true;
}

void QueryReconciler::set_timer(QueryId query, std::optional<Instant> at) {
    if (const auto found = timer_of_.find(query); found != timer_of_.end()) {
        timers_.erase({found->second, query});
        timer_of_.erase(found);
    }
    if (!at) return;
    timers_.insert({*at, query});
    timer_of_[query] = *at;
}

}  // namespace baton::coordinator
