// Epochs that are believed. Epochs grow by one per term, and after a restore by as many terms as
// the backup is behind. A number far above that is a mistake or an attack: a worker that obeyed it
// could never be led by another coordinator again, so it is ignored.
#pragma once

#include <cstdint>

#include "base/id.h"

namespace baton {

// One term a second reaches it in 30,000 years.
inline constexpr Epoch kEpochMax{1'000'000'000'000};
// How far above the highest one known an epoch may be: a leader that changes every ten seconds
// takes four months for it.
inline constexpr std::uint64_t kEpochJumpMax = 1'000'000;

// Whether one that knows the epoch `known` believes that there is `claimed`.
[[nodiscard]] constexpr bool is_believable(Epoch claimed, Epoch known) {
    if (claimed > kEpochMax) return false;
    return claimed <= known || claimed.value() - known.value() <= kEpochJumpMax;
}

}  // namespace baton
