// ManualClock shows the time that a test sets.
#pragma once

#include "base/time.h"
#include "ports/clock.h"

namespace baton::testing {

class ManualClock : public Clock {
public:
    [[nodiscard]] Instant now() const override { return now_; }
    [[nodiscard]] WallTime wall_now() const override {
        return WallTime(std::chrono::hours(24) + now_.time_since_epoch());
    }

    void set(Instant now) { now_ = now; }

private:
    Instant now_{};
};

}  // namespace baton::testing
