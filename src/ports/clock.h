// Clock gives the time to the code that may ask: coordinator, workers, doors and adapters.
#pragma once

#include "base/time.h"

namespace baton {

class Clock {
public:
    virtual ~Clock() = default;

    [[nodiscard]] virtual Instant now() const = 0;        // never goes back
    [[nodiscard]] virtual WallTime wall_now() const = 0;  // for people; may jump
};

}  // namespace baton
