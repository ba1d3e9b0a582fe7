// Pace limits the requests to one store after the store has asked for fewer: half of what was sent
// in the last second, and from then on a tenth more every second, until no limit is needed.
//
// All calls to a store share one; it is halved once a second at most, since one burst of requests
// is refused many times over.
#pragma once

#include <cstdint>
#include <optional>

#include "base/time.h"

namespace baton::store_calls {

class Pace {
public:
    static constexpr double kPerSecondMin = 1;
    static constexpr double kPerSecondMax = 10'000;  // beyond it there is no limit
    static constexpr double kGrowth = 1.1;           // a second

    // When the next request may be sent, which is `now` or later; it counts as sent then.
    [[nodiscard]] Instant reserve(Instant now);
    // The store has answered 429 or 503.
    void slow_down(Instant now);

    // Requests a second; none: as many as there are.
    [[nodiscard]] std::optional<double> limit(Instant now);

private:
    void count(Instant sent);
    void recover(Instant now);

    std::optional<double> per_second_;
    Instant recovered_;              // how far kGrowth was applied
    std::optional<Instant> slowed_;  // last
    Instant next_;                   // free from here on
    std::int64_t second_ = 0;        // the requests of this second ..
    std::uint64_t in_second_ = 0;
    std::uint64_t in_one_before_ = 0;  // .. and of the one before it
};

}  // namespace baton::store_calls
