#include "threads/later.h"

#include <string>
#include <thread>

#include <gtest/gtest.h>

namespace baton::threads {
namespace {

TEST(Later, TheTakerIsWokenOnceTheValueIsGiven) {
    Later<std::string> later;
    int calls = 0;
    later.wake_with([&] { calls += 1; });
    EXPECT_FALSE(later.given());
    EXPECT_EQ(calls, 0);
    later.give("x");
    EXPECT_EQ(calls, 1);
    EXPECT_TRUE(later.given());
    EXPECT_EQ(later.take(), "x");
}

TEST(Later, ATakerThatComesLateIsWokenAtOnce) {
    Later<int> later;
    later.give(7);
    bool woken = false;
    later.wake_with([&] { woken = true; });
    EXPECT_TRUE(woken);
    later.wake_with(nullptr);
    EXPECT_EQ(later.take(), 7);
}

TEST(Later, AValueComesFromAnotherThread) {
    const auto later = std::make_shared<Later<int>>();
    std::thread giver([later] { later->give(1); });
    giver.join();
    EXPECT_EQ(later->take(), 1);
}

}  // namespace
}  // namespace baton::threads
