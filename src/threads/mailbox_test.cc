#include "threads/mailbox.h"

#include <memory>
#include <thread>

#include <gtest/gtest.h>

namespace baton::threads {
namespace {

using namespace std::chrono_literals;

TEST(Mailbox, GivesValuesInTheOrderInWhichTheyWerePosted) {
    Mailbox<int> box;
    for (const int value : {1, 2, 3}) box.post(int(value));
    EXPECT_EQ(box.take(2), (std::vector{1, 2}));
    EXPECT_EQ(box.take_one(), 3);
}

TEST(Mailbox, RefusesWhatDoesNotFitAndLeavesItUntouched) {
    Mailbox<std::unique_ptr<int>> box(1);
    auto first = std::make_unique<int>(1);
    auto second = std::make_unique<int>(2);
    EXPECT_TRUE(box.post(first));
    EXPECT_FALSE(box.post(second));
    EXPECT_NE(second, nullptr);
    EXPECT_EQ(box.size(), 1U);
    EXPECT_EQ(**box.take_one(), 1);
    EXPECT_TRUE(box.post(second));
}

TEST(Mailbox, ALimitOfOnePostHoldsForThatPostAlone) {
    Mailbox<int> box;
    int value = 1;
    EXPECT_TRUE(box.post_below(1, value));
    EXPECT_FALSE(box.post_below(1, value));
    EXPECT_TRUE(box.post(value));
    EXPECT_EQ(box.take_all().size(), 2U);
}

TEST(Mailbox, NoLimitOfAPostExceedsTheCapacity) {
    Mailbox<int> box(1);
    int value = 1;
    EXPECT_TRUE(box.post_below(Mailbox<int>::kNoLimit, value));
    EXPECT_FALSE(box.post_below(Mailbox<int>::kNoLimit, value));
}

TEST(Mailbox, KeepsWhatIsInsideWhenItIsClosed) {
    Mailbox<int> box;
    box.post(1);
    box.close();
    EXPECT_FALSE(box.post(2));
    EXPECT_EQ(box.take_all(), std::vector{1});
    EXPECT_EQ(box.take_one(), std::nullopt);
}

TEST(Mailbox, LosesWhatIsInsideWhenItIsDropped) {
    Mailbox<int> box;
    box.post(1);
    box.drop();
    EXPECT_TRUE(box.closed());
    EXPECT_FALSE(box.post(2));
    EXPECT_EQ(box.take_one(), std::nullopt);
}

TEST(Mailbox, AWakeBeforeATakeIsNotLostAndHoldsOnce) {
    Mailbox<int> box;
    box.wake();
    EXPECT_TRUE(box.take_all().empty());
    EXPECT_EQ(box.take_one(0ms), std::nullopt) << "its patience is over";
}

TEST(Mailbox, AThreadThatTakesGetsWhatOthersPostUntilItIsClosed) {
    constexpr int kEach = 1'000;
    Mailbox<int> box;
    int sum = 0;
    std::thread taker([&] {
        while (const auto value = box.take_one()) sum += *value;
    });
    std::thread one([&] {
        for (int i = 0; i < kEach; ++i) box.post(1);
    });
    std::thread other([&] {
        for (int i = 0; i < kEach; ++i) box.post(2);
    });
    one.join();
    other.join();
    box.close();
    taker.join();
    EXPECT_EQ(sum, 3 * kEach);
}

}  // namespace
}  // namespace baton::threads
