#include "core/worker/partition_duty.h"

namespace baton::worker {

namespace {

// True if there is something to do.
bool add(const Holdings::Effects& changes, duty::Effects& effects) {
    for (const holdings::Effect& change : changes) {
        std::visit([&](const auto& what) { effects.emplace_back(what); }, change);
    }
    return !changes.empty();
}

}  // namespace

void PartitionDuty::welcome(Instant at, control::Welcome& welcome, duty::Effects& effects) {
    (void)add(holdings_.welcomed(at), effects);
    welcome.held = holdings_.held();
}

void PartitionDuty::beat(Instant at, const control::Beat& beat, control::Pulse& /*pulse*/,
                         duty::Effects& effects) {
    if (add(holdings_.beat(at, beat), effects)) say_held(effects);
}

void PartitionDuty::tick(Instant at, duty::Effects& effects) {
    if (add(holdings_.tick(at), effects)) say_held(effects);
}

bool PartitionDuty::may_leave(bool is_heard) const {
    return !is_heard || holdings_.may_leave();
}

void PartitionDuty::obey(Instant at, const control::Assign& assign, duty::Effects& effects) {
    (void)add(holdings_.assign(at, assign), effects);
    say_held(effects);
}

void PartitionDuty::released(Instant at, const std::vector<PartitionKey>& partitions,
                             duty::Effects& effects) {
    (void)add(holdings_.released(at, partitions), effects);
    say_held(effects);
}

void PartitionDuty::say_held(duty::Effects& effects) const {
    effects.emplace_back(duty::Say{holdings_.told()});
}

}  // namespace baton::worker
