// What pruning, expanding and splitting make of a plan.
#include <gtest/gtest.h>

#include "core/optimizer/expand.h"
#include "core/optimizer/optimize.h"
#include "core/optimizer/prune.h"
#include "core/optimizer/split.h"
#include "testing/plans/builders.h"

namespace baton::optimizer {
namespace {

using namespace testing;  // NOLINT: the builders read better without a prefix

constexpr WindowSpec kWindow{.size = 10, .advance = 10};

const Schema kSchema{.columns = {{.name = "TS", .type = DataType::uint64, .nullable = false},
                                 {.name = "A", .type = DataType::int64, .nullable = true},
                                 {.name = "B", .type = DataType::int64, .nullable = true},
                                 {.name = "C", .type = DataType::int8, .nullable = true}}};

std::vector<std::string> names_of(const Schema& schema) {
    std::vector<std::string> names;
    for (const Column& column : schema.columns) names.push_back(column.name);
    return names;
}
using Names = std::vector<std::string>;

const PlanNode& leaf_of(const PlanNode& node, std::size_t which = 0) {
    return node.inputs.empty() ? node : leaf_of(node.inputs.at(which));
}

Expression positive(const PlanNode& node, std::size_t index) {
    return call(Function::greater, {column(node, index), number(0)});
}

// ---- pruning ------------------------------------------------------------------------------------

TEST(Prune, ASourceGivesOnlyWhatIsRead) {
    const PlanNode scan = source_scan(1, "S", "W1", kSchema);
    const PlanNode kept = filter(scan, positive(scan, 1));
    const PlanNode plan = pruned(sink(project(kept, {column(kept, 2)})));
    const PlanNode& leaf = leaf_of(plan);
    EXPECT_EQ(names_of(leaf.schema), (Names{"A", "B"}));
    EXPECT_EQ(std::get<SourceScan>(leaf.op).wanted, (std::vector<std::size_t>{1, 2}));
    EXPECT_EQ(std::get<SourceScan>(leaf.op).parsed, kSchema);
    EXPECT_EQ(names_of(plan.schema), Names{"B"});
}

TEST(Prune, CountingNeedsTheSmallestColumn) {
    const PlanNode scan = logical_scan("S", kSchema);
    const PlanNode count = window_aggregate(scan, kWindow, std::nullopt, {},
                                            {aggregate(AggregateFunction::count_all)});
    EXPECT_EQ(names_of(leaf_of(pruned(sink(count))).schema), Names{"C"});
}

TEST(Prune, AnAggregateThatNobodyReadsGoes) {
    const PlanNode scan = logical_scan("S", kSchema);
    const PlanNode groups = window_aggregate(scan, kWindow, 0, {column(scan, 1)},
                                             {aggregate(AggregateFunction::sum, column(scan, 2)),
                                              aggregate(AggregateFunction::count_all)});
    const PlanNode plan = pruned(sink(project(groups, {column(groups, 4)})));
    EXPECT_EQ(names_of(leaf_of(plan).schema), (Names{"TS", "A"}));
    EXPECT_EQ(names_of(plan.inputs[0].inputs[0].schema), (Names{"START", "END", "KEY0", "AGG1"}));
}

TEST(Prune, WhatIsOnlyFilteredByDoesNotTravelToAJoin) {
    const PlanNode left =
        filter(logical_scan("S", kSchema), positive(logical_scan("S", kSchema), 2));
    const PlanNode right = logical_scan("T", kSchema);
    const PlanNode join =
        window_join(left, right,
                    {.sides = JoinSides::inner,
                     .predicate = call(Function::equal,
                                       {join_column(left, right, 1), join_column(left, right, 5)}),
                     .window = kWindow,
                     .left_time = 0,
                     .right_time = 0});
    const PlanNode plan = pruned(sink(project(join, {column(join, 3)})));
    const PlanNode& narrow = plan.inputs[0].inputs[0];
    EXPECT_EQ(names_of(narrow.inputs[0].schema), (Names{"TS", "A"}));
    EXPECT_EQ(names_of(leaf_of(narrow.inputs[0]).schema), (Names{"TS", "A", "B"}));
    EXPECT_EQ(names_of(narrow.inputs[1].schema), (Names{"TS", "A"}));
}

// ---- expanding ----------------------------------------------------------------------------------

PhysicalSource physical(std::uint64_t id, const std::string& worker) {
    return {.id = PhysicalSourceId(id),
            .logical = "S",
            .worker = worker,
            .type = "File",
            .source = {},
            .format = {},
            .revision = Revision(1)};
}

const std::map<std::string, LogicalSource> kLogical = {
    {"S", {.name = "S", .schema = kSchema, .revision = Revision(1)}}};

TEST(Expand, EveryPhysicalSourceTakesPart) {
    const PlanNode narrow =
        pruned(sink(project(logical_scan("S", kSchema), {column(logical_scan("S", kSchema), 2)})));
    const std::vector<PhysicalSource> sources = {physical(7, "W2"), physical(3, "W1")};
    const auto plan = expanded(narrow, {.logical = kLogical, .physical = sources});
    ASSERT_TRUE(plan) << to_string(plan.error());
    const PlanNode better = optimized(*plan);
    const PlanNode& all = better.inputs[0];
    ASSERT_TRUE(std::holds_alternative<UnionAll>(all.op));
    ASSERT_EQ(all.inputs.size(), 2U);
    EXPECT_EQ(std::get<SourceScan>(all.inputs[0].op).id, PhysicalSourceId(3));
    EXPECT_EQ(std::get<SourceScan>(all.inputs[1].op).worker, "W2");
    EXPECT_EQ(std::get<SourceScan>(all.inputs[1].op).wanted, std::vector<std::size_t>{2});
    EXPECT_EQ(names_of(all.inputs[1].schema), Names{"B"});
}

TEST(Expand, ASourceWithoutAPhysicalOneCannotBePlaced) {
    const auto plan =
        expanded(sink(logical_scan("S", kSchema)), {.logical = kLogical, .physical = {}});
    ASSERT_FALSE(plan);
    EXPECT_EQ(plan.error().code, ErrorCode::placement);
}

// ---- splitting ----------------------------------------------------------------------------------

PlanNode grouped(const std::string& second_worker, AggregateFunction function) {
    const PlanNode all = union_all(
        {source_scan(1, "S", "W1", kSchema), source_scan(2, "S", second_worker, kSchema)});
    return window_aggregate(
        all, kWindow, 0, {column(all, 1)},
        {aggregate(function, column(all, 2)), aggregate(AggregateFunction::count_all)});
}

TEST(Split, EachBranchGivesStatesAndOnePutsThemTogether) {
    const PlanNode plan = with_split_aggregates(grouped("W2", AggregateFunction::avg));
    EXPECT_EQ(std::get<WindowAggregate>(plan.op).stage, AggregateStage::final);
    EXPECT_EQ(names_of(plan.schema), (Names{"START", "END", "KEY0", "AGG0", "AGG1"}));
    const PlanNode& all = plan.inputs[0];
    EXPECT_EQ(names_of(all.schema),
              (Names{"START", "END", "KEY0", "AGG0_SUM", "AGG0_COUNT", "AGG1_COUNT"}));
    for (const PlanNode& branch : all.inputs) {
        EXPECT_EQ(std::get<WindowAggregate>(branch.op).stage, AggregateStage::partial);
        EXPECT_EQ(branch.schema, all.schema);
    }
}

TEST(Split, WhatNeedsEveryValueStaysWhole) {
    for (const AggregateFunction function :
         {AggregateFunction::median, AggregateFunction::count_distinct, AggregateFunction::first,
          AggregateFunction::last}) {
        const PlanNode plan = grouped("W2", function);
        EXPECT_EQ(with_split_aggregates(plan), plan);
    }
}

TEST(Split, SourcesOnOneWorkerAreAggregatedThereAtOnce) {
    const PlanNode plan = grouped("W1", AggregateFunction::sum);
    EXPECT_EQ(with_split_aggregates(plan), plan);
}

}  // namespace
}  // namespace baton::optimizer
