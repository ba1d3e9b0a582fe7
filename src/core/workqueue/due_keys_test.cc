#include "core/workqueue/due_keys.h"

#include <gtest/gtest.h>

namespace baton::workqueue {
namespace {

using namespace std::chrono_literals;

DueKeys<int> keys() {
    return DueKeys<int>({.first = 1s, .limit = 4s});
}

TEST(DueKeys, AKeyThatChangedIsStaleUntilItIsRead) {
    auto due = keys();
    due.add(7);
    EXPECT_FALSE(due.is_stale(7));
    due.changed(7);
    EXPECT_TRUE(due.is_stale(7));
    EXPECT_EQ(due.take(at(0s)), 7);
    due.read(7);
    EXPECT_FALSE(due.is_stale(7));
    EXPECT_EQ(due.take(at(0s)), std::nullopt);
}

TEST(DueKeys, AKeyThatIsBeingWrittenIsNotHandedOut) {
    auto due = keys();
    due.add(7);
    EXPECT_EQ(due.take(at(0s)), 7);
    due.submitted(1, 7);
    due.changed(7);
    EXPECT_EQ(due.take(at(0s)), std::nullopt);
}

TEST(DueKeys, AKeyThatWasWrittenIsReadAgainAtOnce) {
    auto due = keys();
    due.add(7);
    (void)due.take(at(0s));
    due.submitted(1, 7);
    EXPECT_EQ(due.written(at(0s), 1, true), 7);
    EXPECT_TRUE(due.is_stale(7));
    EXPECT_EQ(due.take(at(0s)), 7);
}

TEST(DueKeys, AKeyThatCouldNotBeWrittenIsReadAgainLater) {
    auto due = keys();
    due.add(7);
    (void)due.take(at(0s));
    due.submitted(1, 7);
    EXPECT_EQ(due.written(at(0s), 1, false), 7);
    EXPECT_EQ(due.take(at(0s)), std::nullopt);
    EXPECT_TRUE(due.is_stale(7));
    EXPECT_EQ(due.take(at(1s)), 7);
}

TEST(DueKeys, AWriteIsSettledOnce) {
    auto due = keys();
    due.add(7);
    (void)due.take(at(0s));
    due.submitted(1, 7);
    EXPECT_EQ(due.written(at(0s), 2, true), std::nullopt);
    EXPECT_EQ(due.written(at(0s), 1, true), 7);
    EXPECT_EQ(due.written(at(0s), 1, true), std::nullopt);
}

}  // namespace
}  // namespace baton::workqueue
