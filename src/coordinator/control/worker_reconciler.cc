#include "coordinator/control/worker_reconciler.h"

namespace baton::coordinator {

EntitySet WorkerReconciler::watches() const {
    return entities_of({kinds::Entity::worker});
}

void WorkerReconciler::start(Instant now, const CatalogLook& everything) {
    for (const auto& [name, worker] : everything.workers) actions_.record(now, name, worker);
}

void WorkerReconciler::written(Instant now, CatalogDoor::Ticket ticket,
                               const Result<Done>& outcome) {
    due_.written(now, ticket, outcome.has_value());
}

void WorkerReconciler::recorded(Instant /*now*/, const std::string& worker,
                                const std::optional<Worker>& as_read) {
    verdicts_.record(worker, as_read);
}

void WorkerReconciler::heard(Instant /*now*/, const transport::MessageArrived& event) {
    const auto* pulse = std::get_if<control::Pulse>(&event.message);
    if (pulse == nullptr || !pulse->draining) return;
    if (verdicts_.leaves(event.worker)) due_.add(event.worker);
}

void WorkerReconciler::judged(const membership::Judge& judgement) {
    verdicts_.judge(judgement);
    due_.add(judgement.worker);
}

bool WorkerReconciler::refresh(Instant now, const std::string& worker) {
    if (!due_.is_stale(worker)) return true;
    CatalogWanted wanted;
    wanted.workers.insert(worker);
    const auto seen = actions_.look(wanted);
    if (!seen) return false;
    due_.read(worker);
    actions_.record(now, worker, seen->workers.at(worker));
    return true;
}

void WorkerReconciler::reconcile(Instant now) {
    while (const auto name = due_.take(now)) {
        if (!refresh(now, *name)) {
            due_.retry(*name, now);
            continue;
        }
        const auto verdict = verdicts_.unreported(*name);
        if (!verdict) {
            due_.done(*name);
            continue;
        }
        due_.submitted(actions_.submit(*this, {*verdict}), *name);
    }
}

std::optional<Instant> WorkerReconciler::wake_at(Instant now) const {
    return due_.wake_at(now);
}

}  // namespace baton::coordinator
