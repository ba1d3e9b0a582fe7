#include "core/store_calls/sure_call.h"

#include <algorithm>

#include "base/check.h"
#include "base/overload.h"

namespace baton::store_calls {

namespace {

bool may_help_to_repeat(Reply reply) {
    switch (reply) {
        case Reply::not_sent:
        case Reply::throttled:
        case Reply::server:
        case Reply::unknown:
            return true;
        case Reply::done:
        case Reply::condition_failed:
        case Reply::refused:
        case Reply::too_large:
        case Reply::full:
        case Reply::given_up:
            return false;
    }
    CHECK(false);
}

bool may_have_happened(Reply reply) {
    return reply == Reply::throttled || reply == Reply::server || reply == Reply::unknown ||
           reply == Reply::given_up;
}

Duration kept_for_look(const CallPlan& plan) {
    return plan.is_put ? std::min(SureCall::kLookMax, plan.patience / 4) : Duration(0);
}

}  // namespace

SureCall::SureCall(const CallPlan& plan, Instant begun)
    : is_put_(plan.is_put),
      end_(begun + plan.patience),
      attempts_end_(end_ - kept_for_look(plan)),
      prng_(plan.seed) {}

CallEffect SureCall::begin(Instant now, Pace& pace) {
    const Instant slot = pace.reserve(now);
    if (slot >= end_of_aim() && sent_ > 0) return stop(now, pace);
    if (slot > now) {
        if (slot >= end_of_aim()) return EndCall{.ending = Ending::failed};
        reserved_ = true;
        return WaitUntil{.time = slot};
    }
    return send(now);
}

CallEffect SureCall::send(Instant now) {
    const Deadlines deadlines{.connect = kConnectMax,
                              .silence = kSilenceMax,
                              .whole = std::max(end_of_aim() - now, Duration(1))};
    if (aim_ == Aim::look) return LookAtObject{.deadlines = deadlines};
    ++sent_;
    under_way_ = true;
    return SendAttempt{.deadlines = deadlines};
}

CallEffect SureCall::repeat(Instant now, Pace& pace) {
    const auto most = static_cast<std::uint64_t>(pause_max_.count());
    const Duration pause(static_cast<std::int64_t>(prng_.between(0, most)));
    pause_max_ = std::min(pause_max_ * 2, kPauseMax);
    if (now + pause >= end_of_aim()) return stop(now, pace);
    return WaitUntil{.time = now + pause};
}

CallEffect SureCall::stop(Instant now, Pace& pace) {
    if (!may_have_happened_) return EndCall{.ending = Ending::failed};
    if (aim_ == Aim::look || now >= end_) return EndCall{.ending = Ending::unknown};
    aim_ = Aim::look;
    pause_max_ = kPauseFirst;
    return begin(now, pace);
}

CallEffect SureCall::ended(Instant now, Reply reply, Pace& pace) {
    under_way_ = false;
    if (reply == Reply::throttled) pace.slow_down(now);
    if (aim_ == Aim::attempt) {
        if (reply == Reply::done) return EndCall{.ending = Ending::done};
        if (reply == Reply::condition_failed && !may_have_happened_) {
            return EndCall{.ending = Ending::condition_failed};
        }
        if (is_put_ && may_have_happened(reply)) may_have_happened_ = true;
    }
    if (reply == Reply::given_up) return give_up(false);
    if (may_help_to_repeat(reply)) return repeat(now, pace);
    return stop(now, pace);
}

CallEffect SureCall::seen(Finding finding) const {
    CHECK(aim_ == Aim::look);
    switch (finding) {
        case Finding::ours:
            return EndCall{.ending = Ending::found_done};
        case Finding::others:
            return EndCall{.ending = Ending::condition_failed};
        case Finding::unclear:
            return EndCall{.ending = Ending::unknown};
    }
    CHECK(false);
}

CallEffect SureCall::give_up(bool under_way) const {
    const bool unsure = may_have_happened_ || (is_put_ && under_way);
    return EndCall{.ending = unsure ? Ending::unknown : Ending::cancelled};
}

CallEffect SureCall::step(Instant now, const CallEvent& event, Pace& pace) {
    return std::visit(
        Overload{
            [&](const CallBegun&) { return begin(now, pace); },
            [&](const WaitOver&) -> CallEffect {
                if (now >= end_of_aim()) return stop(now, pace);
                if (!reserved_) return begin(now, pace);
                reserved_ = false;
                return send(now);
            },
            [&](const AttemptEnded& attempt) { return ended(now, attempt.reply, pace); },
            [&](const ObjectSeen& object) { return seen(object.finding); },
            [&](const CallGivenUp&) { return give_up(under_way_); },
        },
        event);
}

}  // namespace baton::store_calls
