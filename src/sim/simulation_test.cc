// Safety: whatever goes wrong, the checks hold after every event. Liveness: once the world heals,
// everything comes to rest. A failure prints its seed and how to replay it.
#include "sim/simulation.h"

#include <cstdlib>

#include <gtest/gtest.h>

namespace baton::sim {
namespace {

std::uint64_t setting(const char* name, std::uint64_t fallback) {
    const char* text = std::getenv(name);
    return text == nullptr ? fallback : std::strtoull(text, nullptr, 10);
}

TEST(Simulation, NothingBadHappensAndAllComesToRestOnceTheWorldHeals) {
    const std::uint64_t first = setting("BATON_SEED", 1);
    const std::uint64_t runs = setting("BATON_RUNS", 200);
    std::map<QueryState, std::uint64_t> reached;
    for (std::uint64_t seed = first; seed < first + runs; ++seed) {
        const Report report = simulate(scenario_of(seed));
        ASSERT_FALSE(report.problem)
            << "baton-sim --seed " << seed << " --runs 1 --story: " << *report.problem;
        for (const auto& [state, times] : report.reached) reached[state] += times;
    }
    if (runs < 100) return;
    // A simulator that tries nothing finds nothing.
    for (const auto& [state, name] : StateNames<QueryState>::kNames) {
        EXPECT_GT(reached[state], 0U) << "no query was ever " << name;
    }
}

TEST(Simulation, ASeedGivesTheSameRunEveryTime) {
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
        const Scenario scenario = scenario_of(seed);
        const std::uint64_t once = simulate(scenario).fingerprint;
        EXPECT_EQ(once, simulate(scenario).fingerprint) << "seed " << seed;
        EXPECT_EQ(once, simulate(scenario, Telling::story).fingerprint)
            << "telling the story changes it, seed " << seed;
    }
}

TEST(Simulation, SeedsGiveDifferentRuns) {
    EXPECT_NE(simulate(scenario_of(1)).fingerprint, simulate(scenario_of(2)).fingerprint);
}

}  // namespace
}  // namespace baton::sim
