// Windows and joins, frame by frame.
#include <algorithm>
#include <atomic>

#include <gtest/gtest.h>

#include "engine/operators/stateless.h"
#include "engine/operators/window_aggregate.h"
#include "engine/operators/window_join.h"
#include "testing/engine/tables.h"
#include "testing/plans/builders.h"

namespace baton::engine {
namespace {

using testing::Row;

const Schema& schema() {
    static const Schema kSchema{
        .columns = {{.name = "TS", .type = DataType::uint64, .nullable = true},
                    {.name = "K", .type = DataType::varsized, .nullable = true},
                    {.name = "V", .type = DataType::int64, .nullable = true}}};
    return kSchema;
}

Row row(std::uint64_t time, const char* key, std::int64_t value) {
    return {time, std::string(key), value};
}

Frame frame(const std::vector<Row>& rows, std::uint32_t origin = 0) {
    return {.origin = origin,
            .batch = testing::batch_of(schema(), rows),
            .watermark = {},
            .end = false};
}

Frame end_of(std::uint32_t origin = 0) {
    return {.origin = origin, .batch = {}, .watermark = {}, .end = true};
}

Frame watermark(std::uint64_t ms, std::uint32_t origin = 0) {
    return {.origin = origin, .batch = {}, .watermark = ms, .end = false};
}

// What comes out.
class Collector : public PushOperator {
public:
    std::size_t begin(const std::vector<std::size_t>& origins) override { return origins.at(0); }
    Result<Done> push(std::size_t, Frame frame) override {
        EXPECT_FALSE(ended.contains(frame.origin)) << "a frame after the end";
        if (stops != nullptr) *stops = true;
        testing::append_rows(rows, frame.batch);
        largest = std::max(largest, frame.batch.rows);
        if (frame.watermark) watermarks[frame.origin] = *frame.watermark;
        if (frame.end) ended.insert(frame.origin);
        return Done{};
    }
    std::string take() {
        std::sort(rows.begin(), rows.end());
        std::string text = testing::to_string(rows);
        rows.clear();
        return text;
    }

    std::vector<Row> rows;
    std::size_t largest = 0;
    std::map<std::uint32_t, std::uint64_t> watermarks;
    std::set<std::uint32_t> ended;
    std::atomic<bool>* stops = nullptr;  // set by the first frame
};

class OperatorTest : public ::testing::Test {
protected:
    OperatorTest() {
        context.wall_ms = [this] { return now; };
    }

    std::unique_ptr<PushOperator> aggregate(WindowSpec window, AggregateStage stage,
                                            std::optional<std::size_t> time = 0,
                                            std::size_t origins = 1) {
        const PlanNode scan = testing::source_scan(1, "S", "W", schema());
        WindowAggregate op{.stage = stage,
                           .window = window,
                           .time = time,
                           .keys = {testing::column(schema(), 1)},
                           .aggregates = {testing::aggregate(AggregateFunction::count_all),
                                          testing::aggregate(AggregateFunction::sum,
                                                             testing::column(schema(), 2))}};
        if (stage == AggregateStage::final) {
            for (Aggregate& each : op.aggregates) each.argument.clear();
        }
        auto made = make_window_aggregate(op, context, {.to = &out, .input = 0});
        CHECK(made.has_value());
        (*made)->begin({origins});
        return *std::move(made);
    }

    std::unique_ptr<PushOperator> join(JoinSides sides, Expression predicate, WindowSpec window) {
        const PlanNode scan = testing::source_scan(1, "S", "W", schema());
        const WindowJoin op{.sides = sides,
                            .predicate = std::move(predicate),
                            .window = window,
                            .left_time = 0,
                            .right_time = 0};
        auto made =
            WindowJoinOperator::make(op, schema(), schema(), context, {.to = &out, .input = 0});
        CHECK(made.has_value());
        (*made)->begin({1, 1});
        return *std::move(made);
    }

    static Expression same_key() {
        const PlanNode scan = testing::source_scan(1, "S", "W", schema());
        return testing::call(Function::equal, {testing::join_column(scan, scan, 1),
                                               testing::join_column(scan, scan, 4)});
    }

    static void good(const Result<Done>& result) {
        ASSERT_TRUE(result.has_value()) << to_string(result.error());
    }

    std::uint64_t now = 0;
    OperatorContext context;
    Collector out;
};

constexpr WindowSpec kTen{.size = 10, .advance = 10};
constexpr WindowSpec kSliding{.size = 10, .advance = 5};

TEST_F(OperatorTest, AWindowClosesWhenTimeReachesItsEnd) {
    auto op = aggregate(kTen, AggregateStage::whole);
    good(op->push(0, frame({row(1, "a", 1), row(9, "a", 2)})));
    EXPECT_EQ(out.take(), "");
    good(op->push(0, frame({row(10, "b", 5)})));
    EXPECT_EQ(out.take(), "0, 10, 'a', 2, 3\n");
    good(op->push(0, end_of()));
    EXPECT_EQ(out.take(), "10, 20, 'b', 1, 5\n");
    EXPECT_TRUE(out.ended.contains(0));
    EXPECT_EQ(context.memory, 0U);
}

TEST_F(OperatorTest, TheSlowestOriginHoldsTimeBackUntilItEnds) {
    auto op = aggregate(kTen, AggregateStage::whole, 0, 3);
    good(op->push(0, frame({row(50, "a", 1)}, 0)));
    good(op->push(0, frame({row(15, "a", 1)}, 1)));
    EXPECT_EQ(out.take(), "");  // the third has said nothing
    good(op->push(0, frame({row(3, "a", 1)}, 2)));
    EXPECT_EQ(out.take(), "");
    good(op->push(0, end_of(2)));
    EXPECT_EQ(out.take(), "0, 10, 'a', 1, 1\n");
    good(op->push(0, end_of(1)));
    EXPECT_EQ(out.take(), "10, 20, 'a', 1, 1\n");
    EXPECT_TRUE(out.ended.empty());
    good(op->push(0, end_of(0)));
    EXPECT_EQ(out.take(), "50, 60, 'a', 1, 1\n");
}

TEST_F(OperatorTest, RowsOfOneBatchAreNotLateToEachOther) {
    auto op = aggregate(kTen, AggregateStage::whole);
    good(op->push(0, frame({row(95, "a", 1), row(5, "a", 2)})));
    EXPECT_EQ(out.take(), "0, 10, 'a', 1, 2\n");
    EXPECT_EQ(context.late, 0U);
}

TEST_F(OperatorTest, ALateRowIsDroppedAndCountedOnce) {
    auto op = aggregate(kSliding, AggregateStage::whole);
    good(op->push(0, frame({row(11, "a", 1)})));
    good(op->push(0, frame({row(7, "a", 10), row(2, "a", 100)})));  // [0,10) is closed
    EXPECT_EQ(context.late, 2U);
    good(op->push(0, end_of()));
    EXPECT_EQ(out.take(), "5, 15, 'a', 2, 11\n10, 20, 'a', 1, 1\n");
}

TEST_F(OperatorTest, ALateRowFailsIfTheQuerySaysSo) {
    context.late_fails = true;
    auto op = aggregate(kTen, AggregateStage::whole);
    good(op->push(0, frame({row(11, "a", 1)})));
    const auto result = op->push(0, frame({row(2, "a", 1)}));
    ASSERT_FALSE(result.has_value());
    EXPECT_EQ(result.error().code, ErrorCode::late_row);
}

TEST_F(OperatorTest, AWatermarkOfTheFrameCountsMoreThanItsRows) {
    auto op = aggregate(kTen, AggregateStage::whole);
    Frame rows = frame({row(1, "a", 1)});
    rows.watermark = 30;
    good(op->push(0, std::move(rows)));
    EXPECT_EQ(out.take(), "0, 10, 'a', 1, 1\n");
    good(op->push(0, frame({row(31, "a", 1)})));
    good(op->push(0, watermark(40)));
    EXPECT_EQ(out.take(), "30, 40, 'a', 1, 1\n");
}

TEST_F(OperatorTest, SlidingWindowsShareTheirRows) {
    auto op = aggregate(kSliding, AggregateStage::whole);
    good(op->push(0, frame({row(2, "a", 1), row(7, "a", 2), row(12, "b", 4)})));
    good(op->push(0, end_of()));
    EXPECT_EQ(out.take(),
              "0, 10, 'a', 2, 3\n5, 15, 'a', 1, 2\n5, 15, 'b', 1, 4\n10, 20, 'b', 1, 4\n");
}

TEST_F(OperatorTest, NullIsAGroupAndIsNotSummed) {
    auto op = aggregate(kTen, AggregateStage::whole);
    good(op->push(0, frame({{std::uint64_t{1}, Value(), Value()},
                            {std::uint64_t{2}, Value(), std::int64_t{5}},
                            {std::uint64_t{3}, std::string(), Value()},
                            {Value(), std::string("x"), std::int64_t{1}}})));
    good(op->push(0, end_of()));
    EXPECT_EQ(out.take(), "0, 10, NULL, 2, 5\n0, 10, '', 1, NULL\n");
}

TEST_F(OperatorTest, WindowsOfArrivalCloseByTheClock) {
    auto op = aggregate(kTen, AggregateStage::whole, std::nullopt);
    EXPECT_TRUE(op->needs_ticks());
    now = 103;
    good(op->push(0, frame({row(1, "a", 1), row(999, "a", 2)})));
    now = 109;
    good(op->tick());
    EXPECT_EQ(out.take(), "");
    now = 110;
    good(op->tick());
    EXPECT_EQ(out.take(), "100, 110, 'a', 2, 3\n");
    now = 50;  // the clock goes back: time does not
    good(op->push(0, frame({row(1, "a", 1)})));
    good(op->push(0, end_of()));
    EXPECT_EQ(out.take(), "110, 120, 'a', 1, 1\n");
}

TEST_F(OperatorTest, APartialTellsEachOriginAndDropsNothing) {
    auto op = aggregate(kTen, AggregateStage::partial, 0, 2);
    good(op->push(0, frame({row(1, "a", 1)}, 0)));
    good(op->push(0, frame({row(25, "a", 2)}, 0)));
    EXPECT_EQ(out.take(), "0, 10, 'a', 1, 1\n");
    EXPECT_EQ(out.watermarks[0], 25U);
    EXPECT_FALSE(out.watermarks.contains(1));
    good(op->push(0, frame({row(4, "a", 3)}, 0)));  // again, and at once
    EXPECT_EQ(out.take(), "0, 10, 'a', 1, 3\n");
    EXPECT_EQ(context.late, 0U);
    good(op->push(0, end_of(0)));
    EXPECT_EQ(out.take(), "20, 30, 'a', 1, 2\n");
    EXPECT_EQ(out.ended, std::set<std::uint32_t>{0});
}

TEST_F(OperatorTest, APartialGivesWhatItHasRatherThanHoldMore) {
    context.partial_memory_most = 1000;
    auto op = aggregate(kTen, AggregateStage::partial);
    std::vector<Row> rows;
    for (int i = 0; i < 500; ++i) rows.push_back(row(1, std::to_string(i).c_str(), 1));
    good(op->push(0, frame(rows)));
    EXPECT_EQ(out.rows.size(), 500U);
    EXPECT_EQ(context.memory, 0U);
}

TEST_F(OperatorTest, AFinalPutsStatesTogether) {
    auto partial = aggregate(kTen, AggregateStage::partial, 0, 2);
    good(partial->push(0, frame({row(1, "a", 1), row(2, "b", 2)}, 0)));
    good(partial->push(0, frame({row(3, "a", 4)}, 1)));
    good(partial->push(0, end_of(0)));
    good(partial->push(0, end_of(1)));
    const std::vector<Row> states = out.rows;
    out.rows.clear();
    out.ended.clear();
    auto final = aggregate(kTen, AggregateStage::final, std::nullopt);
    const Schema state_schema{
        .columns = {{.name = "START", .type = DataType::uint64, .nullable = false},
                    {.name = "END", .type = DataType::uint64, .nullable = false},
                    {.name = "K", .type = DataType::varsized, .nullable = true},
                    {.name = "COUNT", .type = DataType::uint64, .nullable = false},
                    {.name = "SUM", .type = DataType::int64, .nullable = true}}};
    Frame all{.origin = 0,
              .batch = testing::batch_of(state_schema, states),
              .watermark = 10,
              .end = false};
    good(final->push(0, all));
    EXPECT_EQ(out.take(), "0, 10, 'a', 2, 5\n0, 10, 'b', 1, 2\n");
    good(final->push(0, all));  // too late now
    EXPECT_EQ(out.take(), "");
    EXPECT_EQ(context.late, 3U);
}

TEST_F(OperatorTest, TooMuchMemoryIsAnError) {
    context.memory_most = 10'000;
    auto op = aggregate(kTen, AggregateStage::whole);
    std::vector<Row> rows;
    for (int i = 0; i < 1000; ++i) rows.push_back(row(1, std::to_string(i).c_str(), 1));
    const auto result = op->push(0, frame(rows));
    ASSERT_FALSE(result.has_value());
    EXPECT_EQ(result.error().code, ErrorCode::out_of_memory);
    op.reset();
    EXPECT_EQ(context.memory, 0U);
}

TEST_F(OperatorTest, TooMuchMemoryOfAllQueriesTogetherIsAnError) {
    WindowMemory all{.most = 40'000};
    context.all = &all;
    auto one = aggregate(kTen, AggregateStage::whole);
    auto other = aggregate(kTen, AggregateStage::whole);
    good(one->push(0, frame({row(1, "a", 1)})));
    EXPECT_EQ(all.held, context.memory);
    std::vector<Row> rows;
    for (int i = 0; i < 1000; ++i) rows.push_back(row(1, std::to_string(i).c_str(), 1));
    const auto result = other->push(0, frame(rows));
    ASSERT_FALSE(result.has_value());
    EXPECT_EQ(result.error().code, ErrorCode::out_of_memory);
    EXPECT_NE(result.error().message.find("the windows of all queries of this worker hold"),
              std::string::npos);
    other.reset();
    good(one->push(0, frame({row(1, "b", 1)})));
    one.reset();
    EXPECT_EQ(all.held, 0U);
}

TEST_F(OperatorTest, BatchesThatComeOutAreNotTooLarge) {
    auto op = aggregate(kTen, AggregateStage::whole);
    std::vector<Row> rows;
    for (int i = 0; i < 10'000; ++i) rows.push_back(row(1, std::to_string(i).c_str(), 1));
    good(op->push(0, frame(rows)));
    good(op->push(0, end_of()));
    EXPECT_EQ(out.rows.size(), 10'000U);
    EXPECT_EQ(out.largest, kBatchRows);
}

TEST_F(OperatorTest, AJoinGivesThePairsOfAWindow) {
    auto op = join(JoinSides::inner, same_key(), kTen);
    good(
        op->push(0, frame({row(1, "a", 1), row(2, "b", 2), {std::uint64_t{3}, Value(), Value()}})));
    good(op->push(1, frame({row(5, "a", 10), {std::uint64_t{3}, Value(), Value()}})));
    good(op->push(1, frame({row(11, "a", 20)})));
    EXPECT_EQ(out.take(), "");  // the left side is still at 3
    good(op->push(0, frame({row(12, "a", 3)})));
    EXPECT_EQ(out.take(), "0, 10, 1, 'a', 1, 5, 'a', 10\n");
    good(op->push(0, end_of()));
    good(op->push(1, end_of()));
    EXPECT_EQ(out.take(), "10, 20, 12, 'a', 3, 11, 'a', 20\n");
    EXPECT_TRUE(out.ended.contains(0));
    EXPECT_EQ(context.memory, 0U);
}

TEST_F(OperatorTest, AnOuterJoinKeepsWhoFoundNobody) {
    auto op = join(JoinSides::full, same_key(), kTen);
    good(op->push(0, frame({row(1, "a", 1)})));
    good(op->push(1, frame({row(2, "b", 2)})));
    good(op->push(0, end_of()));
    good(op->push(1, end_of()));
    EXPECT_EQ(out.take(),
              "0, 10, NULL, NULL, NULL, 2, 'b', 2\n0, 10, 1, 'a', 1, NULL, NULL, NULL\n");
}

TEST_F(OperatorTest, WhatARowIsJoinedWithIsKeptByItself) {
    auto op = join(JoinSides::inner, same_key(), kTen);
    {
        Frame rows = frame({row(1, "a long text that is not within the string", 1)});
        good(op->push(0, std::move(rows)));
    }
    good(op->push(1, frame({row(1, "a long text that is not within the string", 2)})));
    good(op->push(0, end_of()));
    good(op->push(1, end_of()));
    EXPECT_EQ(out.rows.size(), 1U);
}

TEST_F(OperatorTest, ManyPairsComeInManyBatches) {
    auto op = join(JoinSides::inner, testing::truth(true), kTen);
    std::vector<Row> rows;
    for (int i = 0; i < 100; ++i) rows.push_back(row(1, "x", i));
    good(op->push(0, frame(rows)));
    good(op->push(1, frame(rows)));
    good(op->push(0, end_of()));
    good(op->push(1, end_of()));
    EXPECT_EQ(out.rows.size(), 10'000U);
    EXPECT_EQ(out.largest, kBatchRows);
}

TEST_F(OperatorTest, AStoppedQueryDoesNotGoOnJoining) {
    auto op = join(JoinSides::inner, testing::truth(true), kTen);
    good(op->push(0, frame({row(1, "x", 1)})));
    good(op->push(1, frame({row(1, "x", 1)})));
    context.stopped = true;
    good(op->push(0, end_of()));
    const auto result = op->push(1, end_of());
    ASSERT_FALSE(result.has_value());
    EXPECT_EQ(result.error().code, ErrorCode::cancelled);
}

TEST_F(OperatorTest, AStoppedQueryDoesNotGoOnClosingWindows) {
    for (const auto stage : {AggregateStage::whole, AggregateStage::partial}) {
        const bool is_partial = stage == AggregateStage::partial;
        const auto op = aggregate({.size = 10'000, .advance = 1}, stage);
        ASSERT_TRUE(op->push(0, frame({row(100'000, "a", 1)})));
        out.rows.clear();
        out.stops = &context.stopped;
        EXPECT_EQ(op->push(0, end_of()).error().code, ErrorCode::cancelled);
        EXPECT_EQ(out.rows.size(), kBatchRows) << is_partial;  // of 10,000 windows
        EXPECT_TRUE(out.ended.empty());
        out.stops = nullptr;
        context.stopped = false;
        out.rows.clear();
    }
}

TEST_F(OperatorTest, AStoppedQueryTakesNoMoreRowsIntoItsWindows) {
    const auto op = aggregate({.size = 50'000, .advance = 1}, AggregateStage::partial);
    context.stopped = true;
    EXPECT_EQ(op->push(0, frame({row(100'000, "a", 1)})).error().code, ErrorCode::cancelled);
}

TEST_F(OperatorTest, AUnionKeepsOriginsApart) {
    UnionOperator op({.to = &out, .input = 0});
    EXPECT_EQ(op.begin({2, 3}), 5U);
    good(op.push(0, watermark(1, 1)));
    good(op.push(1, watermark(2, 2)));
    EXPECT_EQ(out.watermarks, (std::map<std::uint32_t, std::uint64_t>{{1, 1}, {4, 2}}));
}

TEST_F(OperatorTest, AFilterPassesOnWhatTimeItIs) {
    auto op = FilterOperator::make(Filter{testing::truth(false)}, {.to = &out, .input = 0});
    Frame rows = frame({row(1, "a", 1)});
    rows.watermark = 30;
    good((*op)->push(0, std::move(rows)));
    EXPECT_EQ(out.take(), "");
    EXPECT_EQ(out.watermarks[0], 30U);
}

}  // namespace
}  // namespace baton::engine
