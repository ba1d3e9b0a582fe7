// The controller's care for partitions.
#include "coordinator/control/controller.h"

namespace baton {

void Controller::reconcile_partitions(Instant now) {
    while (const auto all = partitions_due_.take(now)) {
        if (stale_partitions_) {
            CatalogWanted wanted;
            wanted.partitions = true;
            const auto seen = door_.look(wanted);
            if (!seen) return partitions_due_.retry(*all, now);
            stale_partitions_ = false;
            allocator_.record(seen->task_lists, seen->partitions);
        }
        Allocator::Plan plan = allocator_.plan(now);
        partitions_at_ = plan.wake_at;
        for (const auto& [worker, assign] : plan.sends) {
            if (const auto attempt = roster_.attempt(worker)) {
                transport_.send(worker, *attempt, assign);
            }
        }
        if (plan.moves.empty()) {
            partitions_due_.done(*all);
        } else {
            submit({.subject = *all, .restart = false},
                   {request::AssignPartitions{std::move(plan.moves)}});
        }
    }
}

}  // namespace baton
