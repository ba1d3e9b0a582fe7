#include "core/election/election.h"

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "base/epoch.h"
#include "base/overload.h"

namespace baton::election {

using namespace election;  // NOLINT: its own events and effects

namespace {

constexpr std::uint64_t kDiceSides = 1'000;

}  // namespace

Election::Election(const ElectionTimers& timers, std::string me, Instant start)
    : timers_(timers), me_(std::move(me)), state_(Standby{.look_at = start}) {
    CHECK(!me_.empty() && validate(timers_));
}

std::vector<Effect> Election::step(Instant now, const Event& event, std::uint64_t dice) {
    Step step{.now = now, .dice = dice, .effects = {}};
    watch_over_term(step);
    std::visit([&](const auto& e) { on(step, e); }, event);
    do_what_is_due(step);
    return std::move(step.effects);
}

std::optional<Instant> Election::wake_at() const {
    using When = std::optional<Instant>;
    return std::visit(Overload{
                          [](const Standby& s) { return When(s.look_at); },
                          [](const Watching& s) { return When(s.waiting.deadline); },
                          [](const Acquiring& s) { return When(s.waiting.deadline); },
                          [](const Leading& s) {
                              const Instant next = s.renewal ? s.renewal->deadline : s.renew_at;
                              return When(std::min({next, s.give_up_at, s.valid_until}));
                          },
                          [](const Draining& s) { return When(s.until); },
                          [](const Releasing& s) { return When(s.waiting.deadline); },
                          [](const Gone&) { return When(); },
                      },
                      state_);
}

bool Election::may_act(Instant now) const {
    const auto* term = std::get_if<Leading>(&state_);
    return term != nullptr && now < term->valid_until;
}

std::optional<Instant> Election::valid_until() const {
    const auto* term = std::get_if<Leading>(&state_);
    if (term == nullptr) return std::nullopt;
    return term->valid_until;
}

std::optional<Epoch> Election::epoch() const {
    const auto* term = std::get_if<Leading>(&state_);
    if (term == nullptr) return std::nullopt;
    return term->epoch;
}

// ---- time ---------------------------------------------------------------------------------------

// Whatever happened meanwhile: a term whose time is over has ended.
void Election::watch_over_term(Step& step) {
    const auto* term = std::get_if<Leading>(&state_);
    if (term == nullptr || step.now < term->valid_until) return;
    step_down(step, Reason::expired, "no renewal was heard of in time");
}

void Election::do_what_is_due(Step& step) {
    const auto at = wake_at();
    if (!at || step.now < *at) return;
    if (std::holds_alternative<Standby>(state_)) {
        look(step);
    } else if (std::holds_alternative<Leading>(state_)) {
        attend_to_term(step);
    } else if (std::holds_alternative<Draining>(state_)) {
        stand_by(step, up_to(timers_.look_slack, step));
    } else if (const auto* watching = std::get_if<Watching>(&state_)) {
        abandon(step, watching->waiting.call);
    } else if (const auto* acquiring = std::get_if<Acquiring>(&state_)) {
        abandon(step, acquiring->waiting.call);
    } else if (const auto* releasing = std::get_if<Releasing>(&state_)) {
        abandon(step, releasing->waiting.call);
    }
}

void Election::attend_to_term(Step& step) {
    auto& term = std::get<Leading>(state_);
    if (step.now >= term.give_up_at) {
        step_down(step, Reason::gave_up,
                  trouble_.empty() ? "the lease store does not answer" : trouble_);
        return;
    }
    if (term.renewal) abandon(step, term.renewal->call);
    renew(step);
}

void Election::abandon(Step& step, Call call) {
    step.effects.emplace_back(Abandon{call});
    call_failed(step, call, "the lease store did not answer in time");
}

Duration Election::up_to(Duration most, const Step& step) const {
    return most * static_cast<Duration::rep>(step.dice % (kDiceSides + 1)) /
           static_cast<Duration::rep>(kDiceSides);
}

// ---- what is asked ------------------------------------------------------------------------------

Election::Waiting Election::ask(const Step& step) {
    return {.call = next_call_++, .asked = step.now, .deadline = step.now + timers_.attempt};
}

void Election::look(Step& step) {
    const Waiting waiting = ask(step);
    state_ = Watching{waiting};
    step.effects.emplace_back(Watch{waiting.call});
}

void Election::acquire(Step& step) {
    const Waiting waiting = ask(step);
    state_ = Acquiring{waiting};
    step.effects.emplace_back(Acquire{.call = waiting.call, .least_epoch = highest_.next()});
}

void Election::release(Step& step, Epoch epoch) {
    const Waiting waiting = ask(step);
    state_ = Releasing{waiting};
    step.effects.emplace_back(Release{.call = waiting.call, .epoch = epoch});
}

void Election::renew(Step& step) {
    const Waiting waiting = ask(step);
    auto& term = std::get<Leading>(state_);
    term.renewal = waiting;
    step.effects.emplace_back(Renew{.call = waiting.call, .epoch = term.epoch});
}

// The store has taken or renewed our lease in a call that was asked for then.
void Election::hold(Leading& term, const Step& step, Instant asked) {
    term.valid_until = asked + timers_.ttl - timers_.margin;
    term.give_up_at = asked + timers_.give_up;
    term.renew_at = asked + timers_.renew_every - up_to(timers_.renew_every / 10, step);
    term.renewal.reset();
    trouble_.clear();
}

// ---- answers ------------------------------------------------------------------------------------

template <class S>
S* Election::awaiting(Call call) {
    auto* state = std::get_if<S>(&state_);
    return state != nullptr && state->waiting.call == call ? state : nullptr;
}

bool Election::renewal_is(Call call) const {
    const auto* term = std::get_if<Leading>(&state_);
    return term != nullptr && term->renewal && term->renewal->call == call;
}

void Election::hear(Instant now, const Held& held) {
    highest_ = std::max(highest_, held.epoch);
    trouble_.clear();
    if (held.remaining <= Duration::zero()) {
        known_.reset();
        return;
    }
    const bool same = known_ && known_->epoch == held.epoch && known_->owner == held.owner;
    known_ = ForeignLease{.owner = held.owner,
                          .epoch = held.epoch,
                          .since = same ? known_->since : now,
                          .until = now + held.remaining};
}

// A standby has learnt how the lease stands.
void Election::consider(Step& step, const Held& held) {
    hear(step.now, held);
    const bool left_behind = held.owner == me_ && !undrained_.contains(held.epoch);
    if (held.remaining <= Duration::zero() || !left_behind) {
        const Duration pause = std::max(held.remaining, Duration::zero());
        stand_by(step, std::min(timers_.look_every, pause + up_to(timers_.look_slack, step)));
        return;
    }
    // What we tried to acquire and never heard of, or gave up and then renewed.
    release(step, held.epoch);
}

void Election::on(Step& /*step*/, const Tick& /*event*/) {}

void Election::on(Step& step, const Watched& event) {
    if (awaiting<Watching>(event.call) == nullptr) return;
    if (event.held.remaining > Duration::zero()) {
        consider(step, event.held);
        return;
    }
    hear(step.now, event.held);
    if (step.now < acquires_from_) {
        stand_by(step, std::min(timers_.look_every, acquires_from_ - step.now));
        return;
    }
    acquire(step);
}

void Election::on(Step& step, const Refused& event) {
    if (awaiting<Acquiring>(event.call) == nullptr) return;
    consider(step, event.held);
}

void Election::on(Step& step, const Acquired& event) {
    highest_ = std::max(highest_, event.epoch);
    const auto* acquiring = awaiting<Acquiring>(event.call);
    if (acquiring == nullptr) return;  // the next look will find it, and release it
    const Instant asked = acquiring->waiting.asked;
    if (leaving_ || step.now >= asked + timers_.give_up) {
        release(step, event.epoch);
        return;
    }
    Leading term{.epoch = event.epoch, .since = step.now};
    hold(term, step, asked);
    state_ = term;
    known_.reset();
    step.effects.emplace_back(Lead{event.epoch});
}

void Election::on(Step& step, const Renewed& event) {
    if (!renewal_is(event.call)) return;
    auto& term = std::get<Leading>(state_);
    hold(term, step, term.renewal->asked);
}

void Election::on(Step& step, const Lost& event) {
    const auto* term = std::get_if<Leading>(&state_);
    if (term == nullptr || term->epoch != event.epoch) return;
    step_down(step, Reason::lost, "the lease store no longer has a lease of this process");
}

void Election::on(Step& step, const Released& event) {
    if (awaiting<Releasing>(event.call) == nullptr) return;
    stand_by(step, up_to(timers_.look_slack, step));
}

void Election::on(Step& step, const Failed& event) {
    call_failed(step, event.call, event.why);
}

void Election::on(Step& step, const Uncertain& event) {
    if (event.epoch) highest_ = std::max(highest_, *event.epoch);
    if (!event.epoch || awaiting<Acquiring>(event.call) == nullptr) {
        call_failed(step, event.call, event.why);
        return;
    }
    release(step, *event.epoch);
    trouble_ = event.why;
}

void Election::call_failed(Step& step, Call call, const std::string& why) {
    if (renewal_is(call)) {
        auto& term = std::get<Leading>(state_);
        term.renewal.reset();
        term.renew_at = step.now + timers_.retry;
    } else if (awaiting<Watching>(call) != nullptr || awaiting<Acquiring>(call) != nullptr ||
               awaiting<Releasing>(call) != nullptr) {
        stand_by(step, timers_.retry + up_to(timers_.look_slack, step));
    } else {
        return;
    }
    trouble_ = why;
}

// ---- the end of a term --------------------------------------------------------------------------

void Election::step_down(Step& step, Reason reason, const std::string& why) {
    const Leading term = std::get<Leading>(state_);
    if (term.renewal) step.effects.emplace_back(Abandon{term.renewal->call});
    step.effects.emplace_back(StepDown{.epoch = term.epoch, .reason = reason, .why = why});
    undrained_.insert(term.epoch);
    if (reason == Reason::lost || step.now >= term.valid_until) {
        stand_by(step, up_to(timers_.look_slack, step));
        return;
    }
    state_ = Draining{.epoch = term.epoch, .until = term.valid_until};
}

void Election::stand_by(Step& step, Duration pause) {
    if (!leaving_) {
        state_ = Standby{.look_at = step.now + pause};
        return;
    }
    state_ = Gone{};
    step.effects.emplace_back(Left{});
}

void Election::on(Step& step, const Drained& event) {
    undrained_.erase(event.epoch);
    const auto* draining = std::get_if<Draining>(&state_);
    if (draining == nullptr || draining->epoch != event.epoch) return;
    release(step, event.epoch);
}

void Election::on(Step& step, const EpochHeard& event) {
    if (!is_believable(event.epoch, highest_)) return;
    highest_ = std::max(highest_, event.epoch);
    const auto* term = std::get_if<Leading>(&state_);
    if (term == nullptr || term->epoch >= event.epoch) return;
    back_off(step, *term);
    step_down(step, Reason::superseded,
              "a worker has obeyed epoch " + baton::to_string(event.epoch));
}

void Election::on(Step& step, const Unable& event) {
    if (!std::holds_alternative<Leading>(state_)) return;
    acquires_from_ = std::max(acquires_from_, step.now + 2 * timers_.ttl);
    step_down(step, Reason::unable, event.why);
}

// The first time is that of a restored database, which is led again at once.
void Election::back_off(const Step& step, const Leading& term) {
    const bool steady = step.now - term.since >= timers_.steady;
    superseded_ = steady ? 1 : superseded_ + 1;
    Duration pause = superseded_ == 1 ? Duration::zero() : timers_.look_slack;
    for (unsigned i = 2; i < superseded_ && pause < timers_.back_off; ++i) pause *= 2;
    acquires_from_ = step.now + std::min(pause, timers_.back_off);
}

void Election::on(Step& step, const Hinted& /*event*/) {
    if (auto* standby = std::get_if<Standby>(&state_)) standby->look_at = step.now;
}

void Election::on(Step& step, const LeaveAsked& /*event*/) {
    if (leaving_) return;
    leaving_ = true;
    if (std::holds_alternative<Leading>(state_)) {
        step_down(step, Reason::leaving, "this process was asked to leave");
    } else if (std::holds_alternative<Standby>(state_) ||
               std::holds_alternative<Watching>(state_)) {
        stand_by(step, Duration::zero());
    }
}

// ---- for people ---------------------------------------------------------------------------------

ElectionStatus Election::status(Instant now) const {
    using Role = ElectionStatus::Role;
    ElectionStatus status{.trouble = trouble_};
    if (known_ && now < known_->until) {
        status.leader = {.owner = known_->owner,
                         .epoch = known_->epoch,
                         .since = known_->since,
                         .left = known_->until - now};
    }
    if (const auto* term = std::get_if<Leading>(&state_)) {
        status.role = Role::leading;
        status.leader = {.owner = me_,
                         .epoch = term->epoch,
                         .since = term->since,
                         .left = std::max(term->valid_until - now, Duration::zero())};
    } else if (std::holds_alternative<Draining>(state_) ||
               std::holds_alternative<Releasing>(state_)) {
        status.role = Role::stepping_down;
    } else if (std::holds_alternative<Gone>(state_)) {
        status.role = Role::gone;
    }
    return status;
}

std::string to_string(Reason reason) {
    switch (reason) {
        case Reason::lost:
            return "lost";
        case Reason::expired:
            return "expired";
        case Reason::gave_up:
            return "gave up";
        case Reason::superseded:
            return "superseded";
        case Reason::unable:
            return "unable";
        case Reason::leaving:
            return "leaving";
    }
    CHECK(false && "an unknown reason");
}

std::string to_string(const Effect& effect) {
    return std::visit(
        Overload{
            [](const Watch&) { return std::string("watch"); },
            [](const Acquire& e) { return "acquire at least " + baton::to_string(e.least_epoch); },
            [](const Renew& e) { return "renew " + baton::to_string(e.epoch); },
            [](const Release& e) { return "release " + baton::to_string(e.epoch); },
            [](const Abandon& e) { return "abandon " + std::to_string(e.call); },
            [](const Lead& e) { return "lead " + baton::to_string(e.epoch); },
            [](const StepDown& e) {
                return "step down from " + baton::to_string(e.epoch) + ", " + to_string(e.reason) +
                       ": " + e.why;
            },
            [](const Left&) { return std::string("left"); },
        },
        effect);
}

}  // namespace baton::election
