#include "doors/desk/strangers.h"

#include <gtest/gtest.h>

namespace baton::desk {
namespace {

TEST(Strangers, TheAddressWithMostOfThemGivesWayFirst) {
    Strangers strangers;
    EXPECT_EQ(strangers.first_to_go(), std::nullopt);
    strangers.came(1, "a");
    strangers.came(2, "b");
    strangers.came(3, "b");
    EXPECT_EQ(strangers.first_to_go(), 2U);
    strangers.left(2);
    strangers.came(4, "a");
    EXPECT_EQ(strangers.first_to_go(), 1U);
    EXPECT_EQ(strangers.size(), 3U);
    EXPECT_FALSE(strangers.contains(2));
}

TEST(Strangers, ThoseThatProveThemselvesGiveWayLast) {
    Strangers strangers;
    for (const Strangers::Number who : {1U, 2U, 3U}) strangers.came(who, "a");
    strangers.proves(1);
    strangers.proves(9);  // is not there
    EXPECT_EQ(strangers.first_to_go(), 2U);
    strangers.left(2);
    strangers.left(3);
    EXPECT_EQ(strangers.first_to_go(), 1U);
    strangers.left(1);
    EXPECT_EQ(strangers.first_to_go(), std::nullopt);
    EXPECT_EQ(strangers.size(), 0U);
}

}  // namespace
}  // namespace baton::desk
