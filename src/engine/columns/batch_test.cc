#include "engine/columns/batch.h"

#include <gtest/gtest.h>

namespace baton::engine {
namespace {

TEST(Batch, AColumnGivesBackWhatItWasMadeOf) {
    const std::vector<Value> numbers = {std::int64_t{-5}, Value(), std::int64_t{127}};
    const std::vector<Value> plain = {std::uint64_t{1}, std::uint64_t{65535}};
    const std::vector<Value> texts = {std::string("short"), std::string(100, 'x'), Value()};
    const std::vector<Value> truths = {true, false, Value()};
    const std::vector<Value> reals = {0.5, -1e300};
    const auto back = [](const ColumnVector& column) {
        std::vector<Value> values;
        for (std::size_t i = 0; i < column.size(); ++i) values.push_back(value_at(column, i));
        return values;
    };
    EXPECT_EQ(back(column_of(DataType::int8, numbers)), numbers);
    EXPECT_EQ(back(column_of(DataType::uint16, plain)), plain);
    EXPECT_EQ(back(column_of(DataType::varsized, texts)), texts);
    EXPECT_EQ(back(column_of(DataType::boolean, truths)), truths);
    EXPECT_EQ(back(column_of(DataType::float64, reals)), reals);
}

TEST(Batch, WhatIsGatheredOutlivesWhatItCameFrom) {
    ColumnVector some;
    {
        const std::vector<Value> texts = {std::string(100, 'a'), Value(), std::string("c")};
        const ColumnVector all = column_of(DataType::varsized, texts);
        const std::vector<std::uint32_t> rows = {2, 1, 0, 0};
        some = gather(all, rows);
    }
    ASSERT_EQ(some.size(), 4U);
    EXPECT_EQ(value_at(some, 0), Value(std::string("c")));
    EXPECT_EQ(value_at(some, 1), Value());
    EXPECT_EQ(value_at(some, 3), Value(std::string(100, 'a')));
}

TEST(Batch, WhatIsNullIsZeroUnderneath) {
    ColumnVector column(DataType::int32, 2);
    column.mutable_data<std::int32_t>()[1] = 7;
    column.set_null(1);
    EXPECT_EQ(column.data<std::int32_t>()[1], 0);
    EXPECT_TRUE(column.is_null(1));
    EXPECT_FALSE(column.is_null(0));
}

}  // namespace
}  // namespace baton::engine
