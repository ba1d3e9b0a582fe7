// A simulation plays a scenario on a stage. First the world is as unkind as the scenario says, and
// every event is followed by the checks. Then the world heals, and everything must come to rest
// within a bound, and stay there. Coordinators that contend are then killed and asked to leave
// while all is at rest: others must take over, and nothing else may happen.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "model/states.h"
#include "sim/scenario.h"

namespace baton::sim {

struct Report {
    std::optional<std::string> problem;  // none: all was well
    std::uint64_t fingerprint = 0;       // the same for the same scenario
    std::uint64_t events = 0;
    std::uint64_t terms = 0;      // of coordinators that contend
    std::uint64_t fenced = 0;     // writes of those that had looked before they were paused
    std::uint64_t handovers = 0;  // of partitions, from one worker to another
    std::uint64_t forwarded = 0;  // orders from one coordinator to another
    std::uint64_t unknown = 0;    // requests whose outcome is unknown
    std::map<QueryState, std::uint64_t> reached;  // how often queries came into each state
    std::vector<std::string> story;               // the events, if the caller asked for them
};

enum class Telling : std::uint8_t { nothing, story };
[[nodiscard]] Report simulate(const Scenario& scenario, Telling telling = Telling::nothing);

// A smaller scenario that fails as well, though perhaps otherwise; at most so many runs are tried.
[[nodiscard]] Scenario shrink(const Scenario& failing, unsigned runs_max = 300);

}  // namespace baton::sim
