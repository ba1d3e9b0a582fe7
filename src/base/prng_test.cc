#include "base/prng.h"

#include <cstdint>
#include <set>

#include <gtest/gtest.h>

namespace baton {
namespace {

// The published sequence of SplitMix64: seeds written down today must replay on any platform.
TEST(Prng, GivesTheSameSequenceEverywhere) {
    Prng prng(0);
    EXPECT_EQ(prng.next(), 0xe220a8397b1dcdafULL);
    EXPECT_EQ(prng.next(), 0x6e789e6aa1b965f4ULL);
    EXPECT_EQ(prng.next(), 0x06c45d188009454fULL);
}

TEST(Prng, BetweenIncludesBothEnds) {
    Prng prng(1);
    std::set<std::uint64_t> seen;
    for (int i = 0; i < 200; ++i) seen.insert(prng.between(3, 5));
    EXPECT_EQ(seen, (std::set<std::uint64_t>{3, 4, 5}));
    EXPECT_EQ(prng.between(7, 7), 7U);
}

TEST(Prng, ChanceIsAShare) {
    Prng prng(1);
    int hits = 0;
    for (int i = 0; i < 10'000; ++i) hits += prng.chance(1, 4) ? 1 : 0;
    EXPECT_NEAR(hits, 2'500, 200);
    EXPECT_FALSE(prng.chance(0, 4));
    EXPECT_TRUE(prng.chance(4, 4));
}

TEST(Prng, BetweenCoversTheWholeRange) {
    Prng prng(1);
    EXPECT_NE(prng.between(0, UINT64_MAX), prng.between(0, UINT64_MAX));
}

}  // namespace
}  // namespace baton
