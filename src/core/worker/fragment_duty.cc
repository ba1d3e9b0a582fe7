#include "core/worker/fragment_duty.h"

#include <algorithm>
#include <utility>

namespace baton::worker {

using control::Fault;
using control::FragmentStatus;

// ---- what is told -------------------------------------------------------------------------------

void FragmentDuty::welcome(Instant /*at*/, control::Welcome& welcome, duty::Effects& /*effects*/) {
    welcome.last_event = last_event_;
    for (const auto& [key, status] : held_) welcome.fragments.push_back(status);
    unseen_.clear();  // the list says it all
    told_ = last_event_;
}

void FragmentDuty::beat(Instant /*at*/, const control::Beat& beat, control::Pulse& pulse,
                        duty::Effects& /*effects*/) {
    unseen_.erase(unseen_.begin(), unseen_.upper_bound(beat.seen));
    tell_after(beat.seen, pulse);
}

void FragmentDuty::tell_news(control::Pulse& pulse) {
    tell_after(told_, pulse);
}

void FragmentDuty::tell_after(std::uint64_t from, control::Pulse& pulse) {
    pulse.from = from;
    pulse.through = last_event_;
    for (auto it = unseen_.upper_bound(from); it != unseen_.end(); ++it) {
        pulse.changed.push_back(it->second);
    }
    told_ = last_event_;
}

bool FragmentDuty::may_leave(bool is_heard) const {
    if (is_heard) return held_.empty();
    return std::all_of(held_.begin(), held_.end(),
                       [](const auto& held) { return has_ended(*held.second.state); });
}

// ---- commands -----------------------------------------------------------------------------------

void FragmentDuty::obey(const control::Command& command, duty::Effects& effects) {
    control::CommandAnswer answer{.request = command.request, .outcome = {}};
    if (leaving_ && is_new(command.what)) {
        answer.outcome =
            control::Refusal{.highest = command.epoch, .why = "the worker is draining"};
    } else {
        std::visit([&](const auto& order) { obey(order, effects); }, command.what);
        const auto found = held_.find(control::key_of(command.what));
        answer.outcome = found != held_.end()
                             ? found->second
                             : FragmentStatus{.key = control::key_of(command.what)};
    }
    effects.emplace_back(duty::Say{std::move(answer)});
}

bool FragmentDuty::is_new(const control::WorkerCommand& order) const {
    return std::holds_alternative<control::RegisterFragment>(order) &&
           !held_.contains(control::key_of(order));
}

void FragmentDuty::obey(const control::RegisterFragment& order, duty::Effects& effects) {
    const auto [found, added] = held_.try_emplace(order.key);
    if (!added) return;
    found->second.key = order.key;
    found->second.state = FragmentState::pending;
    found->second.fingerprint = order.fingerprint;
    changed(found->second);
    effects.emplace_back(engine_calls::Prepare{.key = order.key, .plan = order.plan});
}

void FragmentDuty::obey(const control::StartFragment& order, duty::Effects& effects) {
    FragmentStatus* status = living(order.key);
    if (status == nullptr || status->stopping || status->state != FragmentState::registered) return;
    status->state = FragmentState::started;
    changed(*status);
    effects.emplace_back(engine_calls::Start{order.key});
}

void FragmentDuty::obey(const control::StopFragment& order, duty::Effects& effects) {
    FragmentStatus* status = living(order.key);
    if (status == nullptr || status->stopping == StopMode::forceful) return;
    const bool has_data =
        status->state == FragmentState::started || status->state == FragmentState::running;
    // There is nothing to drain in what was not started.
    const StopMode mode = has_data ? order.mode : StopMode::forceful;
    if (status->stopping == mode) return;
    status->stopping = mode;
    changed(*status);
    if (mode == StopMode::graceful) {
        effects.emplace_back(engine_calls::Drain{order.key});
    } else {
        effects.emplace_back(engine_calls::Abort{order.key});
    }
}

void FragmentDuty::obey(const control::ForgetFragment& order, duty::Effects& /*effects*/) {
    const auto found = held_.find(order.key);
    if (found == held_.end() || !has_ended(*found->second.state)) return;
    unseen_.erase(found->second.event);
    held_.erase(found);
}

// ---- the engine ---------------------------------------------------------------------------------

FragmentStatus* FragmentDuty::living(const FragmentKey& key) {
    const auto found = held_.find(key);
    if (found == held_.end() || has_ended(*found->second.state)) return nullptr;
    return &found->second;
}

void FragmentDuty::changed(FragmentStatus& status) {
    unseen_.erase(status.event);
    status.event = ++last_event_;
    unseen_.emplace(status.event, status);
}

void FragmentDuty::end(FragmentStatus& status, FragmentState state, Fault fault, std::string reason,
                       std::uint32_t error) {
    status.state = state;
    status.stopping.reset();
    status.fault = fault;
    status.reason = std::move(reason);
    status.error = error;
    changed(status);
}

void FragmentDuty::on(const fragments::Prepared& event) {
    FragmentStatus* status = living(event.key);
    if (status == nullptr || status->stopping || status->state != FragmentState::pending) return;
    status->state = FragmentState::registered;
    changed(*status);
}

void FragmentDuty::on(const fragments::PrepareFailed& event) {
    FragmentStatus* status = living(event.key);
    if (status == nullptr || status->state != FragmentState::pending) return;
    if (status->stopping) return end(*status, FragmentState::stopped, Fault::transient, "");
    if (event.fault == Fault::terminal) {
        return end(*status, FragmentState::failed, Fault::terminal, event.why, event.error);
    }
    status->state.reset();
    status->reason = event.why;
    status->error = event.error;
    changed(*status);
    held_.erase(event.key);
}

void FragmentDuty::on(const fragments::BeganToRun& event) {
    FragmentStatus* status = living(event.key);
    if (status == nullptr || status->state != FragmentState::started) return;
    status->state = FragmentState::running;
    changed(*status);
}

void FragmentDuty::on(const fragments::Ended& event) {
    FragmentStatus* status = living(event.key);
    if (status == nullptr) return;
    const bool told = status->stopping.has_value();
    status->counts = event.counts;
    end(*status, told ? FragmentState::stopped : FragmentState::terminated, Fault::transient, "");
}

void FragmentDuty::on(const fragments::Halted& event) {
    FragmentStatus* status = living(event.key);
    if (status == nullptr || !status->stopping) return;
    status->counts = event.counts;
    end(*status, FragmentState::stopped, Fault::transient, "");
}

void FragmentDuty::on(const fragments::Broke& event) {
    FragmentStatus* status = living(event.key);
    if (status == nullptr) return;
    status->counts = event.counts;
    end(*status, FragmentState::failed, event.fault, event.why, event.error);
}

}  // namespace baton::worker
