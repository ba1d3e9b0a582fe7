#include "sim/world.h"

#include <algorithm>

namespace baton::sim {

Duration World::travel() {
    constexpr Duration kQuick = std::chrono::milliseconds(5);
    if (!happens(unkindness.slow)) return up_to(kQuick);
    // A heavy tail: a tenth of the slow ones are ten times as slow as the others, and so on.
    Duration limit = unkindness.slow_max;
    while (limit > kQuick && prng.chance(9, 10)) limit /= 10;
    return up_to(std::max(limit, kQuick));
}

void World::add_line(const std::string& text) {
    const auto us = agenda.now().time_since_epoch().count();
    std::string time = std::to_string(us / 1000);
    time.insert(0, time.size() < 7 ? 7 - time.size() : 0, ' ');
    story_.push_back(time + " ms  " + text);
}

}  // namespace baton::sim
