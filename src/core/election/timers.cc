#include "core/election/timers.h"

#include <algorithm>
#include <string>

namespace baton::election {

namespace {

using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;

constexpr Duration kTtlMin = seconds(1);
constexpr Duration kTtlMax = minutes(10);

std::string in_ms(Duration duration) {
    return std::to_string(std::chrono::duration_cast<milliseconds>(duration).count()) + " ms";
}

Error refused(std::string message, std::string hint) {
    return Error{.code = ErrorCode::invalid_configuration,
                 .message = "these times cannot hold an election: " + std::move(message),
                 .hint = std::move(hint)};
}

Result<Done> within_bounds(Duration ttl) {
    if (ttl >= kTtlMin && ttl <= kTtlMax) return Done{};
    return refused("a lease of " + in_ms(ttl) + " is too " + (ttl < kTtlMin ? "short" : "long"),
                   "give it between " + in_ms(kTtlMin) + " and " + in_ms(kTtlMax));
}

}  // namespace

Result<ElectionTimers> ElectionTimers::of(Duration ttl) {
    TRY(within_bounds(ttl));
    ElectionTimers timers;
    timers.ttl = ttl;
    timers.margin = std::min(std::max<Duration>(milliseconds(500), ttl / 20), ttl / 5);
    timers.renew_every = ttl / 3;
    timers.attempt = std::min<Duration>(milliseconds(1500), ttl * 15 / 100);
    timers.retry = timers.attempt / 3;
    timers.give_up = ttl * 2 / 3;
    timers.look_every = milliseconds(750);  // who is asked to leave hands over within a second
    timers.look_slack = milliseconds(250);
    TRY(validate(timers));
    return timers;
}

Result<Done> validate(const ElectionTimers& timers) {
    TRY(within_bounds(timers.ttl));
    for (const Duration each : {timers.margin, timers.renew_every, timers.attempt, timers.retry,
                                timers.look_every, timers.look_slack}) {
        if (each <= Duration::zero()) return refused("one of them is not positive", "");
    }
    const Duration needed = timers.renew_every + 2 * timers.attempt;
    if (needed > timers.give_up) {
        return refused("a renewal every " + in_ms(timers.renew_every) + " and two attempts of " +
                           in_ms(timers.attempt) + " take " + in_ms(needed) +
                           ", but a leader gives up after " + in_ms(timers.give_up),
                       "renew more often, or give an attempt less time");
    }
    const Duration held = timers.ttl - timers.margin;
    if (timers.give_up >= held) {
        return refused("a leader gives up " + in_ms(timers.give_up) +
                           " after its last renewal, but may not act after " + in_ms(held),
                       "let it give up earlier, or make the margin smaller");
    }
    return Done{};
}

}  // namespace baton::election
