#include "threads/lane.h"

#include <future>
#include <vector>

#include <gtest/gtest.h>

namespace baton::threads {
namespace {

TEST(Lane, UsersTakeTurns) {
    std::vector<std::string> done;
    std::promise<void> may_go_on;
    const auto gone_on = may_go_on.get_future().share();
    std::promise<void> begun;
    Lane lane(1, 100);
    ASSERT_TRUE(lane.post("ann", [&](bool) {
        begun.set_value();
        gone_on.wait();
    }));
    begun.get_future().wait();
    for (int i = 0; i < 10; ++i) {
        ASSERT_TRUE(lane.post("ann", [&](bool) { done.emplace_back("ann"); }));
    }
    ASSERT_TRUE(lane.post("bob", [&](bool) { done.emplace_back("bob"); }));
    may_go_on.set_value();
    lane.close();
    ASSERT_EQ(done.size(), 11U);
    EXPECT_EQ(done[1], "bob");
}

TEST(Lane, OneUserFillsAtMostHalfOfIt) {
    std::promise<void> may_go_on;
    const auto gone_on = may_go_on.get_future().share();
    std::promise<void> begun;
    Lane lane(1, 4);
    ASSERT_TRUE(lane.post("ann", [&](bool) {
        begun.set_value();
        gone_on.wait();
    }));
    begun.get_future().wait();
    EXPECT_TRUE(lane.post("ann", [](bool) {}));
    EXPECT_TRUE(lane.post("ann", [](bool) {}));
    EXPECT_FALSE(lane.post("ann", [](bool) {}));
    EXPECT_TRUE(lane.post("bob", [](bool) {}));
    may_go_on.set_value();
    lane.close();
}

}  // namespace
}  // namespace baton::threads
