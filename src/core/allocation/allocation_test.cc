#include "core/allocation/allocation.h"

#include <gtest/gtest.h>

#include "base/overload.h"

namespace baton::allocation {
namespace {

View view_of(std::uint32_t partitions, const std::vector<std::string>& workers) {
    View view{.lists = {{.name = "L", .partitions = partitions}}, .epoch = Epoch(1)};
    for (const std::string& name : workers) view.workers.push_back({.name = name});
    return view;
}

// "a a b>c -": by owner; on its way to another; nobody's.
std::string told(const Assignment& assignment) {
    std::string text;
    for (const auto& [partition, ownership] : assignment) {
        if (!text.empty()) text += ' ';
        text += std::visit(Overload{
                               [](const Unowned&) { return std::string("-"); },
                               [](const Owned& o) { return o.owner; },
                               [](const Releasing& r) { return r.owner + ">" + r.next_owner; },
                           },
                           ownership);
    }
    return text;
}

TEST(AllocationTest, NewPartitionsAreSharedOut) {
    EXPECT_EQ(told(allocate(view_of(5, {"a", "b"}))), "a b a b a");
}

TEST(AllocationTest, SharesFollowTheWeights) {
    View view = view_of(8, {"a", "b"});
    view.workers[0].weight = 3;
    EXPECT_EQ(told(allocate(view)), "a b a a a b a a");
}

TEST(AllocationTest, WithoutWorkersPartitionsAreNobodys) {
    EXPECT_EQ(told(allocate(view_of(2, {}))), "- -");
}

TEST(AllocationTest, AWorkerThatJoinsGetsItsShareWhenItWasReleased) {
    View view = view_of(4, {"a"});
    view.present = allocate(view);
    view.workers.push_back({.name = "b"});
    view.epoch = Epoch(2);
    view.present = allocate(view);
    EXPECT_EQ(told(view.present), "a a a>b a>b");
    EXPECT_EQ(allocate(view), view.present);  // until it is confirmed, nothing changes
    view.confirmed.insert({.list = "L", .number = 3});
    view.present = allocate(view);
    EXPECT_EQ(told(view.present), "a a a>b b");
    EXPECT_EQ(std::get<Owned>(view.present.at({"L", 3})).epoch, Epoch(2));
    EXPECT_EQ(std::get<Owned>(view.present.at({"L", 0})).epoch, Epoch(1));
}

TEST(AllocationTest, WhatAWorkerHadThatIsGoneGoesToTheOthersAtOnce) {
    View view = view_of(4, {"a", "b"});
    view.present = allocate(view);
    ASSERT_EQ(told(view.present), "a b a b");
    view.workers.pop_back();
    EXPECT_EQ(told(allocate(view)), "a a a a");
}

TEST(AllocationTest, ADrainingWorkerIsEmptied) {
    View view = view_of(4, {"a", "b"});
    view.present = allocate(view);
    view.workers[1].draining = true;
    view.present = allocate(view);
    EXPECT_EQ(told(view.present), "a b>a a b>a");
    view.confirmed = {{"L", 1}, {"L", 3}};
    EXPECT_EQ(told(allocate(view)), "a a a a");
}

TEST(AllocationTest, ASilentWorkerKeepsWhatItHasAndGetsNothing) {
    View view = view_of(4, {"a", "b"});
    view.present = allocate(view);
    view.workers[1].active = false;
    view.lists[0].partitions = 6;
    EXPECT_EQ(told(allocate(view)), "a b a b a a");
}

TEST(AllocationTest, AReleaseThatWasAskedForIsWaitedFor) {
    View view = view_of(2, {"a", "b"});
    view.present = allocate(view);
    view.workers[1].draining = true;
    view.present = allocate(view);
    ASSERT_EQ(told(view.present), "a b>a");
    view.workers[1].draining = false;
    view.present = allocate(view);
    EXPECT_EQ(told(view.present), "a b>b");
    view.confirmed = {{"L", 1}};
    EXPECT_EQ(told(allocate(view)), "a b");
}

TEST(AllocationTest, PartitionsOfADroppedListAreReleasedAndThenLeftOut) {
    View view = view_of(2, {"a"});
    view.present = allocate(view);
    view.lists.clear();
    view.present = allocate(view);
    EXPECT_EQ(told(view.present), "a> a>");
    view.confirmed = {{"L", 0}};
    EXPECT_EQ(told(allocate(view)), "a>");
}

TEST(AllocationTest, TheListsAreSpreadToo) {
    View view{.lists = {{"K", 4}, {"L", 4}}, .workers = {{.name = "a"}}, .epoch = Epoch(1)};
    view.present = allocate(view);
    view.workers.push_back({.name = "b"});
    EXPECT_EQ(told(allocate(view)), "a a a>b a>b a a a>b a>b");
}

}  // namespace
}  // namespace baton::allocation
