#include "threads/fair_queue.h"

#include <string>

#include <gtest/gtest.h>

namespace baton::threads {
namespace {

std::string drained(FairQueue<std::string>& queue) {
    std::string all;
    while (!queue.empty()) all += queue.pop() + " ";
    return all;
}

TEST(FairQueue, OneAloneIsServedInOrder) {
    FairQueue<std::string> queue;
    for (const char* item : {"1", "2", "3"}) queue.push("ann", item);
    EXPECT_EQ(queue.size_of("ann"), 3U);
    EXPECT_EQ(drained(queue), "1 2 3 ");
    EXPECT_EQ(queue.size_of("ann"), 0U);
}

TEST(FairQueue, WhoComesLateWithLittleDoesNotWaitForWhoHasMuch) {
    FairQueue<std::string> queue;
    for (const char* item : {"a1", "a2", "a3", "a4"}) queue.push("ann", item);
    queue.push("bob", "b1");
    queue.push("eve", "e1");
    EXPECT_EQ(queue.size(), 6U);
    EXPECT_EQ(drained(queue), "a1 b1 e1 a2 a3 a4 ");
}

}  // namespace
}  // namespace baton::threads
