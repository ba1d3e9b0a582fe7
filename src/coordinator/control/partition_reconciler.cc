#include "coordinator/control/partition_reconciler.h"

#include <algorithm>
#include <utility>

namespace baton::coordinator {

EntitySet PartitionReconciler::watches() const {
    return entities_of({kinds::Entity::task_list, kinds::Entity::partition});
}

void PartitionReconciler::start(Instant /*now*/, const CatalogLook& everything) {
    allocator_.record(everything.task_lists, everything.partitions);
    due_.add({});
}

void PartitionReconciler::changed(const EntityKey& /*key*/) {
    due_.changed({});
}

void PartitionReconciler::written(Instant now, CatalogDoor::Ticket ticket,
                                  const Result<Done>& outcome) {
    due_.written(now, ticket, outcome.has_value());
}

void PartitionReconciler::recorded(Instant /*now*/, const std::string& worker,
                                   const std::optional<Worker>& as_read) {
    allocator_.record(worker, as_read);
    due_.add({});
}

void PartitionReconciler::connected(Instant now, const transport::Dialled& event) {
    allocator_.connected(now, event.worker, event.welcome);
    due_.add({});
}

void PartitionReconciler::heard(Instant now, const transport::MessageArrived& event) {
    if (const auto* pulse = std::get_if<control::Pulse>(&event.message)) {
        if (pulse->beat != 0) allocator_.answered(now, event.worker, pulse->beat);
    } else if (const auto* holding = std::get_if<control::Holding>(&event.message)) {
        allocator_.heard(event.worker, *holding);
        due_.add({});
    }
}

void PartitionReconciler::disconnected(Instant /*now*/, const std::string& worker) {
    allocator_.disconnected(worker);
    due_.add({});
}

void PartitionReconciler::add_to(control::Beat& beat, const std::string& worker) const {
    beat.answered = allocator_.last_answered(worker);
}

bool PartitionReconciler::refresh() {
    if (!due_.is_stale({})) return true;
    CatalogWanted wanted;
    wanted.partitions = true;
    const auto seen = actions_.look(wanted);
    if (!seen) return false;
    due_.read({});
    allocator_.record(seen->task_lists, seen->partitions);
    return true;
}

void PartitionReconciler::tick(Instant now) {
    if (!look_at_ || *look_at_ > now) return;
    look_at_.reset();  // they may have to wait for the catalog
    due_.add({});
}

void PartitionReconciler::reconcile(Instant now) {
    while (const auto all = due_.take(now)) {
        if (!refresh()) return due_.retry(*all, now);
        allocation::Allocator::Plan plan = allocator_.plan(now);
        look_at_ = plan.wake_at;
        for (const auto& [worker, assign] : plan.sends) actions_.send(worker, assign);
        if (plan.moves.empty()) {
            due_.done(*all);
            continue;
        }
        const auto ticket =
            actions_.submit(*this, {controllers::AssignPartitions{std::move(plan.moves)}});
        due_.submitted(ticket, *all);
    }
}

std::optional<Instant> PartitionReconciler::wake_at(Instant now) const {
    auto earliest = due_.wake_at(now);
    if (look_at_) earliest = std::min(earliest.value_or(*look_at_), *look_at_);
    return earliest;
}

}  // namespace baton::coordinator
