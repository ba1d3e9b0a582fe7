// ElectionTimers are the times of an election, all of them from one: how long a lease lasts.
//
//     margin      min(max(500 ms, TTL/20), TTL/5)   what a leader stops before its lease ends
//     renew_every TTL/3                             less up to a tenth of it, by the dice
//     attempt     min(1.5 s, TTL x 15 %)            for one call of the lease store
//     retry       attempt/3                         between a call that failed and the next
//     give_up     TTL x 2/3                         after the last success
//     look_every  750 ms                            of a standby, unless the lease ends before
//     look_slack  250 ms                            how far standbys spread when it has ended
//     back_off    10 s                              at most, before one that was superseded again
//                                                   and again stands for election
//     steady      60 s                              a term this long makes the next back-off short
//
// The share of the TTL that bounds margin and attempt is what lets a TTL of 1 s work: 200 ms and
// 150 ms there. Two attempts fit between a renewal and giving up, so one call that hangs ends no
// term.
//
// margin/TTL is how much slower than the store's clock ours may run: 5 % or more, which is a
// hundred times the error of a broken quartz; the rest covers the work that a guarded action
// begins.
#pragma once

#include "base/result.h"
#include "base/time.h"

namespace baton::election {

struct ElectionTimers {
    Duration ttl{};
    Duration margin{};
    Duration renew_every{};
    Duration attempt{};
    Duration retry{};
    Duration give_up{};
    Duration look_every{};
    Duration look_slack{};
    Duration back_off = std::chrono::seconds(10);
    Duration steady = std::chrono::seconds(60);

    // Fails with invalid_configuration for a TTL below 1 s or above 10 min.
    [[nodiscard]] static Result<ElectionTimers> of(Duration ttl);
};

// Fails with invalid_configuration unless renew_every + 2 x attempt <= give_up < TTL - margin,
// every time is positive and the TTL is within its bounds. For times that were set one by one.
[[nodiscard]] Result<Done> validate(const ElectionTimers& timers);

}  // namespace baton::election
