#include "core/workqueue/work_queue.h"

#include <gtest/gtest.h>

namespace baton::workqueue {
namespace {

using namespace std::chrono_literals;

WorkQueue<int> queue() {
    return WorkQueue<int>({.first = 1s, .limit = 4s});
}

TEST(WorkQueue, HandsOutAKeyAddedTwiceOnlyOnce) {
    auto q = queue();
    q.add(7);
    q.add(7);
    EXPECT_EQ(q.take(at(0s)), 7);
    EXPECT_EQ(q.take(at(0s)), std::nullopt);
}

TEST(WorkQueue, HandsOutAKeyAgainIfItWasAddedWhileBusy) {
    auto q = queue();
    q.add(7);
    (void)q.take(at(0s));
    q.add(7);
    EXPECT_EQ(q.take(at(0s)), std::nullopt);
    q.done(7);
    EXPECT_EQ(q.take(at(0s)), 7);
}

TEST(WorkQueue, DoublesTheDelayOfAKeyThatKeepsFailing) {
    auto q = queue();
    q.add(7);
    Instant now = at(0s);
    for (const Duration delay : {Duration(1s), Duration(2s), Duration(4s), Duration(4s)}) {
        EXPECT_EQ(q.take(now), 7);
        q.retry(7, now);
        EXPECT_EQ(q.wake_at(now), now + delay);
        EXPECT_EQ(q.take(now + delay - Duration(1)), std::nullopt);
        now += delay;
    }
}

}  // namespace
}  // namespace baton::workqueue
