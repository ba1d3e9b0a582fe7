#include "core/optimizer/rules.h"

#include <gtest/gtest.h>

#include "core/optimizer/expressions.h"
#include "core/optimizer/optimize.h"
#include "testing/plans/builders.h"

namespace baton::optimizer {
namespace {

using namespace testing;  // NOLINT: the builders read better without a prefix

constexpr WindowSpec kRuleWindow{.size = 10, .advance = 10};

Schema columns(const std::vector<std::string>& names) {
    Schema schema;
    for (const std::string& name : names) {
        schema.columns.push_back({.name = name, .type = DataType::int64, .nullable = true});
    }
    return schema;
}

PlanNode source(const std::string& name = "S") {
    return logical_scan(name, columns({"TS", "A", "B"}));
}

Expression greater(Expression a, std::int64_t b) {
    return call(Function::greater, {std::move(a), number(b)});
}

Expression both(Expression a, Expression b) {
    return call(Function::logical_and, {std::move(a), std::move(b)});
}

// A / B > 1
Expression failing(const Schema& schema) {
    return greater(call(Function::divide, {column(schema, 1), column(schema, 2)}), 1);
}

const PlanNode& below(const PlanNode& node, std::size_t which = 0) {
    return node.inputs.at(which);
}

template <class Op>
bool is(const PlanNode& node) {
    return std::holds_alternative<Op>(node.op);
}

// ---- filters ------------------------------------------------------------------------------------

TEST(FilterRules, AFilterThatIsAlwaysTrueGoes) {
    EXPECT_EQ(drop_true_filter(filter(source(), truth(true))), source());
    EXPECT_FALSE(drop_true_filter(filter(source(), truth(false))));
    EXPECT_FALSE(drop_true_filter(filter(source(), null_of(DataType::boolean))));
}

TEST(FilterRules, TwoFiltersBecomeOneInTheOrderOfTheirWork) {
    const PlanNode scan = source();
    const Expression a = greater(column(scan, 1), 1);
    const Expression b = greater(column(scan, 2), 2);
    const auto merged = merge_filters(filter(filter(scan, a), b));
    ASSERT_TRUE(merged);
    EXPECT_EQ(*merged, filter(scan, both(a, b)));
}

TEST(FilterRules, AFilterThatCanFailKeepsTheOneThatMayPreventIt) {
    const PlanNode scan = source();
    const PlanNode guarded =
        filter(filter(scan, call(Function::not_equal, {column(scan, 2), number(0)})),
               failing(scan.schema));
    EXPECT_FALSE(merge_filters(guarded));
}

TEST(FilterRules, GoThroughAProjectionAsWhatItComputes) {
    const PlanNode scan = source();
    const Expression sum = call(Function::add, {column(scan, 1), column(scan, 2)});
    const PlanNode projected = project(scan, {sum}, {"X"});
    const auto pushed =
        push_filter_through_project(filter(projected, greater(column(projected, 0), 5)));
    ASSERT_TRUE(pushed);
    EXPECT_EQ(*pushed, project(filter(scan, greater(sum, 5)), {sum}, {"X"}));
}

// Each projection doubles what it gets.
TEST(FilterRules, DoNotGrowWithoutBound) {
    PlanNode plan = project(source(), {column(source(), 1)});
    constexpr int kDeep = 60;
    for (int i = 0; i < kDeep; ++i) {
        const Expression x = column(plan, 0);
        plan = project(std::move(plan), {call(Function::multiply, {x, x})});
    }
    const Expression predicate = greater(column(plan, 0), 1);
    const PlanNode after = optimized(sink(filter(std::move(plan), predicate)));
    EXPECT_EQ(optimized(after), after);
}

TEST(FilterRules, GoIntoEveryBranchOfAUnion) {
    const PlanNode all = union_all({source("S"), source("T")});
    const Expression p = greater(column(all, 1), 5);
    const auto pushed = push_filter_through_union(filter(all, p));
    ASSERT_TRUE(pushed);
    EXPECT_EQ(*pushed, union_all({filter(source("S"), p), filter(source("T"), p)}));
}

// A short text with 2,000 conditions over 3,000 branches took gigabytes.
TEST(FilterRules, DoNotGiveALargeUnionManyCopiesOfALargePredicate) {
    const auto union_of = [](std::size_t branches) {
        return union_all(std::vector<PlanNode>(branches, source()));
    };
    const auto predicate_of = [](const PlanNode& input, int conditions) {
        std::vector<Expression> all;
        for (int i = 0; i < conditions; ++i) all.push_back(greater(column(input, 1), i));
        return conjunction_of(std::move(all));
    };
    const PlanNode large = union_of(1'000);
    EXPECT_TRUE(push_filter_through_union(filter(large, predicate_of(large, 10))));
    EXPECT_FALSE(push_filter_through_union(filter(large, predicate_of(large, 80))));
    const PlanNode small = union_of(2);
    EXPECT_TRUE(push_filter_through_union(filter(small, predicate_of(small, 80))));
    EXPECT_FALSE(push_filter_through_union(filter(small, predicate_of(small, 2'000))));
}

TEST(ProjectRules, GiveALargeUnionOnlySoManyCopiesOfWhatTheyCompute) {
    const auto projected = [](std::size_t branches, std::size_t columns) {
        const PlanNode all = union_all(std::vector<PlanNode>(branches, source()));
        return project(all, std::vector<Expression>(columns, column(all, 1)));
    };
    EXPECT_TRUE(push_project_through_union(projected(60, 1'600)));
    EXPECT_FALSE(push_project_through_union(projected(600, 1'600)));
}

TEST(FilterRules, OnKeysGoBelowAnAggregation) {
    const PlanNode scan = source();
    const PlanNode groups = window_aggregate(scan, kRuleWindow, 0, {column(scan, 2)},
                                             {aggregate(AggregateFunction::count_all)});
    const Expression on_count =
        call(Function::greater, {column(groups, 3), cast_to(DataType::uint64, number(1))});
    const auto pushed = push_filter_through_aggregate(
        filter(groups, both(greater(column(groups, 2), 5), on_count)));
    ASSERT_TRUE(pushed);
    EXPECT_EQ(std::get<Filter>(pushed->op).predicate, on_count);
    EXPECT_EQ(below(below(*pushed)), filter(scan, greater(column(scan, 2), 5)));
}

TEST(FilterRules, OnStartAndEndStayAboveAnAggregation) {
    const PlanNode scan = source();
    const PlanNode groups = window_aggregate(scan, kRuleWindow, 0, {column(scan, 2)}, {});
    const auto on = [&](std::size_t index) {
        return filter(groups, call(Function::greater, {column(groups, index), column(groups, 0)}));
    };
    EXPECT_FALSE(push_filter_through_aggregate(on(0)));
    EXPECT_FALSE(push_filter_through_aggregate(on(1)));
}

// ---- joins --------------------------------------------------------------------------------------

struct JoinCase {
    JoinSides sides;
    bool left;
    bool right;
};

PlanNode joined(JoinSides sides, const Expression& on) {
    return window_join(
        source("S"), source("T"),
        {.sides = sides, .predicate = on, .window = kRuleWindow, .left_time = 0, .right_time = 0});
}

TEST(JoinRules, AFilterGoesToTheSidesThatTheJoinKeepsWhole) {
    for (const JoinCase& each :
         {JoinCase{JoinSides::inner, true, true}, JoinCase{JoinSides::left, true, false},
          JoinCase{JoinSides::right, false, true}, JoinCase{JoinSides::full, false, false}}) {
        const PlanNode join = joined(each.sides, truth(true));
        const auto pushed = push_filter_into_join(
            filter(join, both(greater(column(join, 3), 1), greater(column(join, 7), 2))));
        ASSERT_EQ(pushed.has_value(), each.left || each.right);
        if (!pushed) continue;
        const PlanNode& after = is<Filter>(*pushed) ? below(*pushed) : *pushed;
        EXPECT_EQ(is<Filter>(below(after, 0)), each.left);
        EXPECT_EQ(is<Filter>(below(after, 1)), each.right);
    }
}

TEST(JoinRules, APartOfThePredicateGoesToTheSideThatMayLoseRows) {
    for (const JoinCase& each :
         {JoinCase{JoinSides::inner, true, true}, JoinCase{JoinSides::left, false, true},
          JoinCase{JoinSides::right, true, false}, JoinCase{JoinSides::full, false, false}}) {
        const Expression on_left = greater(join_column(source(), source(), 1), 1);
        const Expression on_right = greater(join_column(source(), source(), 4), 2);
        const auto pushed = push_predicate_into_sides(joined(each.sides, both(on_left, on_right)));
        ASSERT_EQ(pushed.has_value(), each.left || each.right);
        if (!pushed) continue;
        EXPECT_EQ(is<Filter>(below(*pushed, 0)), each.left);
        EXPECT_EQ(is<Filter>(below(*pushed, 1)), each.right);
        if (each.right) {
            EXPECT_EQ(std::get<Filter>(below(*pushed, 1).op).predicate,
                      greater(column(source(), 1), 2));
        }
    }
}

TEST(JoinRules, WhatReadsBothSidesOfAnInnerJoinBecomesItsPredicate) {
    const PlanNode join = joined(JoinSides::inner, truth(true));
    const auto pushed = push_filter_into_join(
        filter(join, call(Function::equal, {column(join, 3), column(join, 6)})));
    ASSERT_TRUE(pushed);
    ASSERT_TRUE(is<WindowJoin>(*pushed));
    EXPECT_EQ(columns_in(std::get<WindowJoin>(pushed->op).predicate),
              (std::set<std::size_t>{1, 4}));
}

TEST(JoinRules, WhatCanFailStaysWhereItIs) {
    const PlanNode join = joined(JoinSides::inner, truth(true));
    const Expression fails = greater(call(Function::divide, {column(join, 3), column(join, 4)}), 1);
    EXPECT_FALSE(push_filter_into_join(filter(join, fails)));
    EXPECT_FALSE(push_predicate_into_sides(joined(JoinSides::inner, failing(source().schema))));
}

TEST(JoinRules, WhatReadsTheWindowStays) {
    const PlanNode join = joined(JoinSides::inner, truth(true));
    EXPECT_FALSE(push_filter_into_join(
        filter(join, call(Function::less, {column(join, 0), column(join, 1)}))));
}

// ---- projections and unions ---------------------------------------------------------------------

TEST(ProjectRules, TwoBecomeOne) {
    const PlanNode scan = source();
    const Expression sum = call(Function::add, {column(scan, 1), column(scan, 2)});
    const PlanNode inner = project(scan, {sum, column(scan, 0)}, {"X", "Y"});
    const auto merged = merge_projects(project(inner, {greater(column(inner, 0), 1)}, {"Z"}));
    ASSERT_TRUE(merged);
    EXPECT_EQ(*merged, project(scan, {greater(sum, 1)}, {"Z"}));
}

TEST(ProjectRules, NothingIsComputedTwice) {
    const PlanNode scan = source();
    const PlanNode inner = project(scan, {call(Function::add, {column(scan, 1), column(scan, 2)})});
    EXPECT_FALSE(merge_projects(project(inner, {column(inner, 0), column(inner, 0)}, {"X", "Y"})));
}

TEST(ProjectRules, AnIdentityGoesUnlessItNamesThingsAnew) {
    const PlanNode scan = source();
    const std::vector<Expression> all = {column(scan, 0), column(scan, 1), column(scan, 2)};
    EXPECT_EQ(drop_identity_project(project(scan, all)), scan);
    EXPECT_FALSE(drop_identity_project(project(scan, all, {"X", "Y", "Z"})));
    EXPECT_FALSE(drop_identity_project(project(scan, {column(scan, 1), column(scan, 0)})));
}

TEST(ProjectRules, GoIntoEveryBranchOfAUnion) {
    const PlanNode all = union_all({source("S"), source("T")});
    const auto pushed = push_project_through_union(project(all, {column(all, 1)}));
    ASSERT_TRUE(pushed);
    EXPECT_EQ(*pushed, union_all({project(source("S"), {column(all, 1)}),
                                  project(source("T"), {column(all, 1)})}));
}

TEST(UnionRules, AUnionInAUnionIsPartOfIt) {
    const PlanNode nested = union_all({union_all({source("S"), source("T")}), source("U")});
    EXPECT_EQ(flatten_union(nested), union_all({source("S"), source("T"), source("U")}));
    EXPECT_EQ(flatten_union(union_all({source("S")})), source("S"));
}

TEST(FoldRule, FoldsEveryExpressionOfAnOperator) {
    const PlanNode scan = source();
    const Expression sum = call(Function::add, {number(1), number(2)});
    const auto folded = fold_constants(project(scan, {sum}));
    ASSERT_TRUE(folded);
    EXPECT_EQ(*folded, project(scan, {number(3)}));
    EXPECT_FALSE(fold_constants(*folded));
}

}  // namespace
}  // namespace baton::optimizer
