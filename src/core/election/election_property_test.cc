// What holds in every world, also in those that nobody thought of: see testing/election/world.h.
#include <algorithm>
#include <cstdlib>
#include <string>

#include <gtest/gtest.h>

#include "testing/election/world.h"

namespace baton::election {
namespace {

// BATON_ELECTION_SEEDS=100000 for a night.
std::uint64_t seeds() {
    const char* told = std::getenv("BATON_ELECTION_SEEDS");
    return told != nullptr ? std::strtoull(told, nullptr, 10) : 400;
}

TEST(ElectionProperty, AtMostOneActsAndSomebodyLeadsAgain) {
    testing::ElectionRun sum;
    for (std::uint64_t seed = 1; seed <= seeds(); ++seed) {
        const testing::ElectionRun run = testing::run_election(seed);
        ASSERT_FALSE(run.problem) << "seed " << seed << " " << *run.problem;
        sum.terms += run.terms;
        sum.writes += run.writes;
        sum.fenced += run.fenced;
        sum.pauses += run.pauses;
        sum.failover_us = std::max(sum.failover_us, run.failover_us);
        sum.handover_us = std::max(sum.handover_us, run.handover_us);
    }
    // A world in which nothing happens proves nothing.
    EXPECT_GT(sum.terms, seeds() * 4);
    EXPECT_GT(sum.fenced, seeds() / 10);
    EXPECT_GT(sum.pauses, seeds());
    RecordProperty("terms", std::to_string(sum.terms));
    RecordProperty("writes", std::to_string(sum.writes));
    RecordProperty("fenced", std::to_string(sum.fenced));
    RecordProperty("pauses", std::to_string(sum.pauses));
    RecordProperty("failover_us", std::to_string(sum.failover_us));
    RecordProperty("handover_us", std::to_string(sum.handover_us));
}

TEST(ElectionProperty, ARestoredStoreIsObeyedAgain) {
    for (std::uint64_t seed = 1; seed <= seeds(); ++seed) {
        const testing::ElectionRun run = testing::run_election(seed, true);
        ASSERT_FALSE(run.problem) << "seed " << seed << " " << *run.problem;
    }
}

TEST(ElectionProperty, TheSameSeedGivesTheSameRun) {
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
        const testing::ElectionRun one = testing::run_election(seed);
        const testing::ElectionRun two = testing::run_election(seed);
        EXPECT_EQ(one.writes, two.writes);
        EXPECT_EQ(one.failover_us, two.failover_us);
    }
}

}  // namespace
}  // namespace baton::election
