#include "engine/operators/windows.h"

#include <gtest/gtest.h>

namespace baton::engine {
namespace {

using Slots = Windows::Slots;

ColumnVector times(const std::vector<Value>& values, DataType type = DataType::uint64) {
    return column_of(type, values);
}

Value at(std::uint64_t ms) {
    return ms;
}

std::string shown(std::span<const SlotRows> slots) {
    std::string text;
    for (const SlotRows& part : slots) {
        text += std::to_string(part.slot) + ":";
        for (const std::uint32_t row : part.rows) text += " " + std::to_string(row);
        text += "; ";
    }
    return text;
}

TEST(Windows, AreHalfOpenAndNeverStartBeforeZero) {
    const Windows sliding({.size = 10, .advance = 5}, Slots::windows);
    EXPECT_EQ(sliding.containing(3).first, 0U);
    EXPECT_EQ(sliding.containing(3).last, 0U);
    EXPECT_EQ(sliding.containing(9).first, 0U);
    EXPECT_EQ(sliding.containing(10).first, 1U);
    EXPECT_EQ(sliding.containing(10).last, 2U);
}

TEST(Windows, BetweenWindowsThatDoNotTouchThereIsNone) {
    const Windows apart({.size = 5, .advance = 7}, Slots::windows);
    EXPECT_FALSE(apart.containing(4).empty());
    EXPECT_TRUE(apart.containing(5).empty());
    EXPECT_TRUE(apart.containing(6).empty());
    EXPECT_EQ(apart.containing(7).first, 1U);
}

TEST(Windows, CloseWhenTheWatermarkReachesTheirEnd) {
    const Windows sliding({.size = 10, .advance = 5}, Slots::windows);
    EXPECT_EQ(sliding.closed_by(9), 0U);
    EXPECT_EQ(sliding.closed_by(10), 1U);
    EXPECT_EQ(sliding.closed_by(14), 1U);
    EXPECT_EQ(sliding.closed_by(15), 2U);
}

TEST(Windows, AreMadeOfPanes) {
    const Windows sliding({.size = 10, .advance = 4}, Slots::panes_where_useful);
    ASSERT_TRUE(sliding.panes());
    EXPECT_EQ(sliding.slot_size(), 2U);
    EXPECT_EQ(sliding.slots_of(1), (std::pair<std::uint64_t, std::uint64_t>(2, 7)));
    EXPECT_EQ(sliding.windows_of(4).first, 0U);
    EXPECT_EQ(sliding.windows_of(4).last, 2U);
    // Panes of 1 ms would be more than the windows that a row belongs to.
    EXPECT_FALSE(Windows({.size = 10000, .advance = 4999}, Slots::panes_where_useful).panes());
}

TEST(SlotSorter, RowsWithoutATimeBelongNowhere) {
    const Windows tumbling({.size = 10, .advance = 10}, Slots::windows);
    SlotSorter sorter(tumbling);
    EXPECT_EQ(shown(sorter.sort(times({at(5), Value(), at(25), at(1)}), 0)), "0: 0 3; 2: 2; ");
    EXPECT_EQ(sorter.taken(), 3U);
    EXPECT_EQ(sorter.largest_time(), 25U);
    const auto negative = times({Value(std::int64_t{-1}), Value(std::int64_t{3})}, DataType::int32);
    EXPECT_EQ(shown(sorter.sort(negative, 0)), "0: 1; ");
    EXPECT_EQ(shown(sorter.sort(times({Value()}), 0)), "");
    EXPECT_EQ(sorter.largest_time(), std::nullopt);
}

TEST(SlotSorter, OnlyClosedWindowsOfALateRowAreLost) {
    const Windows sliding({.size = 10, .advance = 5}, Slots::windows);
    SlotSorter sorter(sliding);
    EXPECT_EQ(shown(sorter.sort(times({at(7), at(3), at(12)}), 1)), "1: 0 2; 2: 2; ");
    EXPECT_EQ(sorter.late(), 2U);
    EXPECT_EQ(sorter.taken(), 2U);
}

TEST(SlotSorter, TimesAtTheEndOfTimeHaveAWindow) {
    const Windows tumbling({.size = 10, .advance = 10}, Slots::windows);
    SlotSorter sorter(tumbling);
    const auto slots = sorter.sort(times({at(UINT64_MAX), at(UINT64_MAX - 1), at(0)}), 0);
    EXPECT_EQ(shown(slots), "0: 2; 1844674407370955161: 0 1; ");
}

}  // namespace
}  // namespace baton::engine
