// What holds in every world, also in those that nobody thought of: see testing/exchange/world.h.
#include <cstdlib>
#include <ostream>
#include <string>

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include "testing/exchange/world.h"

namespace baton::testing {

// How rapidcheck tells what it found.
void showValue(const ExchangeScenario& scenario, std::ostream& to) {
    to << "seed " << scenario.seed << "\n";
    for (const std::string& line : describe(scenario)) to << line << "\n";
}

namespace {

// BATON_EXCHANGE_SEEDS=100000 for a night.
std::uint64_t seeds() {
    const char* text = std::getenv("BATON_EXCHANGE_SEEDS");
    return text != nullptr ? std::strtoull(text, nullptr, 10) : 400;
}

TEST(ExchangeProperty, EveryItemIsTakenOnceAndInOrderAndItEnds) {
    ExchangeRun sum;
    for (std::uint64_t seed = 1; seed <= seeds(); ++seed) {
        const ExchangeRun run = run_exchange(exchange_scenario_of(seed));
        ASSERT_FALSE(run.problem) << "baton-sim --seed " << seed << " --runs 1: " << *run.problem;
        sum.taken += run.taken;
        sum.doubled += run.doubled;
        sum.late += run.late;
        sum.reconnects += run.reconnects;
        sum.completed += run.completed;
        sum.told_late += run.told_late;
    }
    if (seeds() < 400) return;
    // A world in which nothing happens proves nothing.
    EXPECT_GT(sum.taken, seeds() * 100);
    EXPECT_GT(sum.doubled, seeds() / 40);
    EXPECT_GT(sum.late, seeds() / 100);
    EXPECT_GT(sum.reconnects, seeds());
    EXPECT_GT(sum.completed, seeds());
    EXPECT_GT(sum.told_late, seeds() / 100);
}

rc::Seq<ExchangeScenario> smaller(const ExchangeScenario& scenario) {
    return rc::seq::map(rc::shrink::removeChunks(scenario.incidents), [=](const auto& fewer) {
        ExchangeScenario made = scenario;
        made.incidents = fewer;
        return made;
    });
}

RC_GTEST_PROP(ExchangeProperty, WhateverIsDrawnIsTakenOnceAndEnds, ()) {
    const auto drawn = rc::gen::map(rc::gen::inRange<std::uint64_t>(1'000'000, 2'000'000'000),
                                    [](std::uint64_t seed) { return exchange_scenario_of(seed); });
    const ExchangeScenario scenario = *rc::gen::shrink(drawn, smaller);
    const ExchangeRun run = run_exchange(scenario);
    if (run.problem) RC_FAIL(*run.problem);
}

TEST(ExchangeProperty, ASeedGivesTheSameRunWithItsStoryOrWithout) {
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
        const ExchangeScenario scenario = exchange_scenario_of(seed);
        const ExchangeRun once = run_exchange(scenario);
        EXPECT_EQ(once.fingerprint, run_exchange(scenario).fingerprint) << "seed " << seed;
        EXPECT_EQ(once.fingerprint, run_exchange(scenario, true).fingerprint) << "seed " << seed;
        EXPECT_TRUE(once.story.empty());
    }
    EXPECT_NE(run_exchange(exchange_scenario_of(1)).fingerprint,
              run_exchange(exchange_scenario_of(2)).fingerprint);
}

}  // namespace
}  // namespace baton::testing
