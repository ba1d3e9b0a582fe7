// Safety: whatever goes wrong, the checks hold after every event. Liveness: once the world heals,
// everything comes to rest. A failure prints its seed and how to replay it.
#include "sim/simulation.h"

#include <cstdlib>

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

namespace baton::sim {

// How rapidcheck tells what it found.
void showValue(const Scenario& scenario, std::ostream& to) {
    for (const std::string& line : describe(scenario)) to << line << "\n";
}

namespace {

std::uint64_t setting(const char* name, std::uint64_t fallback) {
    const char* text = std::getenv(name);
    return text == nullptr ? fallback : std::strtoull(text, nullptr, 10);
}

TEST(Simulation, NothingBadHappensAndAllComesToRestOnceTheWorldHeals) {
    const std::uint64_t first = setting("BATON_SEED", 1);
    const std::uint64_t runs = setting("BATON_RUNS", 200);
    std::map<QueryState, std::uint64_t> reached;
    std::uint64_t contests = 0;
    std::uint64_t terms = 0;
    std::uint64_t fenced = 0;
    std::uint64_t handovers = 0;
    std::uint64_t forwarded = 0;
    std::uint64_t unknown = 0;
    for (std::uint64_t seed = first; seed < first + runs; ++seed) {
        const Scenario scenario = scenario_of(seed);
        const Report report = simulate(scenario);
        ASSERT_FALSE(report.problem)
            << "baton-sim --seed " << seed << " --runs 1 --story: " << *report.problem;
        for (const auto& [state, times] : report.reached) reached[state] += times;
        contests += scenario.coordinators() > 1 ? 1 : 0;
        terms += report.terms;
        fenced += report.fenced;
        handovers += report.handovers;
        forwarded += report.forwarded;
        unknown += report.unknown;
    }
    if (runs < 100) return;
    // A simulator that tries nothing finds nothing.
    for (const auto& [state, name] : StateNames<QueryState>::kNames) {
        EXPECT_GT(reached[state], 0U) << "no query was ever " << name;
    }
    EXPECT_GT(contests, runs / 4) << "coordinators were alone";
    EXPECT_GT(terms, 5 * contests) << "leaders stayed as they were";
    EXPECT_GT(fenced, 0U) << "no deposed leader ever tried to write";
    EXPECT_GT(handovers, runs) << "partitions stayed where they were";
    EXPECT_GT(forwarded, runs) << "coordinators that follow did not forward";
    EXPECT_GT(unknown, runs / 10) << "no answer was ever lost";
}

// Smaller ones: with fewer statements, with fewer incidents.
rc::Seq<Scenario> smaller(const Scenario& scenario) {
    const auto with = [&](auto member) {
        return rc::seq::map(rc::shrink::removeChunks(scenario.*member), [=](const auto& fewer) {
            Scenario made = scenario;
            made.*member = fewer;
            return made;
        });
    };
    return rc::seq::concat(with(&Scenario::incidents), with(&Scenario::asks));
}

RC_GTEST_PROP(SimulationProperty, WhateverIsDrawnComesToRest, ()) {
    const auto drawn = rc::gen::map(rc::gen::inRange<std::uint64_t>(1'000'000, 2'000'000'000),
                                    [](std::uint64_t seed) { return scenario_of(seed); });
    const Scenario scenario = *rc::gen::shrink(drawn, smaller);
    const Report report = simulate(scenario);
    if (report.problem) RC_FAIL(*report.problem);
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
