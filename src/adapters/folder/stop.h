// Stop says whether an attempt has to end, and why: its time is over, or its caller gave up.
#pragma once

#include <string>

#include "ports/clock.h"
#include "ports/store_attempts.h"

namespace baton::folder {

class Stop {
public:
    Stop(const Clock& clock, const AttemptCall& call)
        : clock_(clock), call_(call), end_(clock.now() + call.time_max) {}

    [[nodiscard]] bool operator()() const { return is_given_up() || clock_.now() >= end_; }
    // Of an attempt that has changed no object yet.
    [[nodiscard]] AttemptFailure failure(const std::string& late) const {
        if (is_given_up()) {
            return {.trouble = AttemptTrouble::given_up, .why = "the caller gave up"};
        }
        return {.trouble = AttemptTrouble::not_sent, .why = late};
    }

private:
    [[nodiscard]] bool is_given_up() const { return call_.given_up && call_.given_up(); }

    const Clock& clock_;
    const AttemptCall& call_;
    const Instant end_;
};

}  // namespace baton::folder
