#include "doors/desk/shares.h"

#include <gtest/gtest.h>

namespace baton::desk {
namespace {

TEST(Shares, OneUserGetsAtMostHalf) {
    Shares shares(10);
    EXPECT_TRUE(shares.take("ann", 5));
    EXPECT_FALSE(shares.take("ann", 1));
    EXPECT_TRUE(shares.take("bob", 5));
    EXPECT_EQ(shares.taken(), 10U);
}

TEST(Shares, UsersTogetherGetNoMoreThanThereIs) {
    Shares shares(10);
    EXPECT_TRUE(shares.take("ann", 4));
    EXPECT_TRUE(shares.take("bob", 4));
    EXPECT_FALSE(shares.take("eve", 3));
    EXPECT_TRUE(shares.take("eve", 2));
}

TEST(Shares, WhereUsersAreNotToldApartTheyShareAllOfIt) {
    Shares shares(10);
    EXPECT_TRUE(shares.take("", 10));
    EXPECT_FALSE(shares.take("", 1));
}

TEST(Shares, WhatIsGivenBackCanBeTakenAgain) {
    const auto shares = std::make_shared<Shares>(10);
    {
        Share share(shares, "ann");
        EXPECT_TRUE(share.becomes(5));
        EXPECT_FALSE(share.becomes(6));
        EXPECT_TRUE(share.becomes(2));
        EXPECT_EQ(shares->taken(), 2U);
    }
    EXPECT_EQ(shares->taken(), 0U);
}

}  // namespace
}  // namespace baton::desk
