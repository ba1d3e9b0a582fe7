#include "coordinator/control/controller.h"

#include <algorithm>
#include <utility>

#include "base/epoch.h"
#include "base/overload.h"
#include "coordinator/control/partition_reconciler.h"
#include "coordinator/control/query_reconciler.h"
#include "coordinator/control/worker_reconciler.h"

namespace baton::coordinator {

Controller::Controller(const ControllerOptions& options, CatalogDoor& door, Transport& transport,
                       const Clock& clock, Post post)
    : options_(options),
      door_(door),
      transport_(transport),
      clock_(clock),
      post_(std::move(post)),
      membership_(options.membership, clock.now()),
      reconcilers_(reconcilers_of(options)) {}

Controller::~Controller() = default;

// One a kind, in the order in which they look and act.
std::vector<std::unique_ptr<Reconciler>> Controller::reconcilers_of(
    const ControllerOptions& options) {
    const QueryReconcilerOptions queries{.pace = options.pace,
                                         .epoch = options.epoch,
                                         .seed = options.seed,
                                         .looks_max = options.looks_max};
    ReconcilerActions& actions = *this;
    std::vector<std::unique_ptr<Reconciler>> all;
    all.push_back(std::make_unique<WorkerReconciler>(actions));
    all.push_back(std::make_unique<QueryReconciler>(actions, queries, clock_, counters_));
    all.push_back(std::make_unique<PartitionReconciler>(actions, options.allocation, options.epoch,
                                                        clock_.now()));
    return all;
}

Result<Done> Controller::start() {
    CatalogWanted wanted;
    wanted.everything = true;
    TRY_ASSIGN(everything, door_.look(wanted));
    catalog_ = everything.catalog;
    const Instant now = clock_.now();
    for (const auto& reconciler : reconcilers_) reconciler->start(now, everything);
    return Done{};
}

void Controller::take(const ControlEvent& event) {
    const Instant now = clock_.now();
    std::visit([&](const auto& e) { on(now, e); }, event);
    for (const auto& reconciler : reconcilers_) reconciler->reconcile(now);
}

std::optional<Instant> Controller::wake_at() const {
    const Instant now = clock_.now();
    std::optional<Instant> earliest = membership_.wake_at();
    for (const auto& reconciler : reconcilers_) {
        const auto at = reconciler->wake_at(now);
        if (at) earliest = std::min(earliest.value_or(*at), *at);
    }
    return earliest;
}

EntitySet Controller::watches() const {
    EntitySet all;
    for (const auto& reconciler : reconcilers_) all |= reconciler->watches();
    return all;
}

// ---- events -------------------------------------------------------------------------------------

void Controller::on(Instant now, const control_event::Tick& /*tick*/) {
    member(now, membership::Tick{});
    for (const auto& reconciler : reconcilers_) reconciler->tick(now);
}

void Controller::on(Instant /*now*/, const control_event::Changed& event) {
    for (const EntityKey& key : event.keys) {
        for (const auto& reconciler : reconcilers_) {
            const EntitySet watched = reconciler->watches();
            if (watched.test(static_cast<std::size_t>(key.entity))) reconciler->changed(key);
        }
    }
}

void Controller::on(Instant now, const control_event::WriteOutcome& event) {
    const auto found = under_way_.find(event.ticket);
    if (found == under_way_.end()) return;
    Reconciler& submitter = *found->second;
    under_way_.erase(found);
    submitter.written(now, event.ticket, event.outcome);
}

void Controller::on(Instant now, const transport::Dialled& event) {
    if (!membership_.awaits(event.worker, event.attempt)) return;
    streams_[event.worker] = event.attempt;
    for (const auto& reconciler : reconcilers_) reconciler->connected(now, event);
    member(now, event);
}

void Controller::on(Instant now, const transport::DialFailed& event) {
    transport::DialFailed failed = event;
    if (!is_believable(event.highest, options_.epoch)) failed.why = no_belief_in(event.highest);
    member(now, failed);
}

void Controller::on(Instant now, const transport::MessageArrived& event) {
    if (!is_present(event.worker, event.attempt)) return;
    for (const auto& reconciler : reconcilers_) reconciler->heard(now, event);
    const auto* pulse = std::get_if<control::Pulse>(&event.message);
    if (pulse == nullptr || pulse->beat == 0) return;
    member(now, membership::Answered{
                    .worker = event.worker, .attempt = event.attempt, .beat = pulse->beat});
}

void Controller::on(Instant now, const transport::Broken& event) {
    if (is_present(event.worker, event.attempt)) disconnect(now, event.worker);
    member(now, event);
}

// ---- streams ------------------------------------------------------------------------------------

bool Controller::is_present(const std::string& worker, transport::Attempt attempt) const {
    const auto found = streams_.find(worker);
    return found != streams_.end() && found->second == attempt;
}

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
                       const auto found = addresses_.find(e.worker);
                       transport_.dial(
                           e.worker, found == addresses_.end() ? std::nullopt : found->second,
                           e.attempt,
                           control::Hello{
                               .epoch = options_.epoch, .worker = e.worker, .catalog = catalog_});
                   },
                   [&](const membership::Beat& e) {
                       control::Beat beat{.number = e.beat};
                       for (const auto& reconciler : reconcilers_)
                           reconciler->add_to(beat, e.worker);
                       transport_.send(e.worker, e.attempt, beat);
                   },
                   [&](const membership::HangUp& e) {
                       transport_.hang_up(e.worker, e.attempt);
                       if (is_present(e.worker, e.attempt)) disconnect(now, e.worker);
                   },
                   [&](const membership::Judge& e) {
                       for (const auto& reconciler : reconcilers_) reconciler->judged(e);
                   },
               },
               effect);
}

void Controller::disconnect(Instant now, const std::string& worker) {
    streams_.erase(worker);
    for (const auto& reconciler : reconcilers_) reconciler->disconnected(now, worker);
}

// ---- for the reconcilers ------------------------------------------------------------------------

Result<CatalogLook> Controller::look(const CatalogWanted& wanted) {
    return door_.look(wanted);
}

CatalogDoor::Ticket Controller::submit(Reconciler& by, std::vector<catalog::Request> requests) {
    const CatalogDoor::Ticket ticket = next_ticket_++;
    under_way_.emplace(ticket, &by);
    door_.submit(ticket, std::move(requests),
                 [post = post_](CatalogDoor::Ticket written, const Result<Done>& outcome) {
                     post(control_event::WriteOutcome{.ticket = written, .outcome = outcome});
                 });
    return ticket;
}

void Controller::send(const std::string& worker, const control::Down& message) {
    const auto found = streams_.find(worker);
    if (found != streams_.end()) transport_.send(worker, found->second, message);
}

void Controller::record(Instant now, const std::string& worker,
                        const std::optional<Worker>& as_read) {
    const auto known = addresses_.find(worker);
    const bool stays = known != addresses_.end() && as_read && known->second == as_read->control;
    if (known != addresses_.end() && !stays) {
        addresses_.erase(known);
        member(now, membership::Left{worker});
        disconnect(now, worker);
    }
    for (const auto& reconciler : reconcilers_) reconciler->recorded(now, worker, as_read);
    if (!as_read || stays) return;
    addresses_.emplace(worker, as_read->control);
    member(now, membership::Joined{.worker = worker, .known = as_read->state});
}

}  // namespace baton::coordinator
