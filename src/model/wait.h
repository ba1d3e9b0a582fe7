// The state that a request waits for, beyond being durable, of the queries that it creates. Those
// that it stops or drops are waited for until they have ended, unless it waits for nothing.
#pragma once

#include <cstdint>
#include <optional>

#include "base/time.h"
#include "model/states.h"

namespace baton {

struct Wait {
    enum class Until : std::uint8_t {
        accepted,  // nothing: what was answered is durable
        steady,    // they run, or have ended
        state,     // they are in `state`
        ended,     // they are STOPPED, TERMINATED or FAILED, or no longer there
    };
    Until until = Until::accepted;
    QueryState state = QueryState::running;
    // None: for ever. When it is over the answer is wait_timed_out; what was accepted stays.
    std::optional<Duration> timeout;
};

}  // namespace baton
