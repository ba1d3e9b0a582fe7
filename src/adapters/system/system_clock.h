// SystemClock reads the clocks of this machine.
//
// now() is CLOCK_BOOTTIME: it goes on while the machine is suspended, so that a lease which ran out
// meanwhile is seen to have run out. steady_clock would stop.
#pragma once

#include "ports/clock.h"

namespace baton::system {

class SystemClock final : public Clock {
public:
    [[nodiscard]] Instant now() const override;
    [[nodiscard]] WallTime wall_now() const override;
};

}  // namespace baton::system
