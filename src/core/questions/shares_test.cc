#include "core/questions/shares.h"

#include <numeric>

#include <gtest/gtest.h>

namespace baton::questions {
namespace {

using Shares = std::vector<std::vector<std::size_t>>;

TEST(Shares, AreAboutEquallyLarge) {
    EXPECT_EQ(share_out({10, 10, 10, 10}, 2), (Shares{{0, 2}, {1, 3}}));
    EXPECT_EQ(share_out({1, 100, 1, 1}, 2), (Shares{{1}, {0, 2, 3}}));
}

TEST(Shares, AreNeverEmpty) {
    EXPECT_EQ(share_out({}, 4), Shares{});
    EXPECT_EQ(share_out({5}, 4), (Shares{{0}}));
    EXPECT_EQ(share_out({0, 0, 0}, 2), (Shares{{0, 2}, {1}}));
    EXPECT_EQ(share_out({1, 2}, 0), Shares{});
}

TEST(Shares, HoldEachObjectOnce) {
    std::vector<std::uint64_t> bytes(1'000);
    std::iota(bytes.begin(), bytes.end(), std::uint64_t{0});
    std::vector<int> seen(bytes.size());
    for (const auto& share : share_out(bytes, 7)) {
        for (const std::size_t object : share) seen[object] += 1;
    }
    EXPECT_EQ(seen, std::vector<int>(bytes.size(), 1));
}

}  // namespace
}  // namespace baton::questions
