#include "model/plan_check.h"

#include <gtest/gtest.h>

namespace baton {
namespace {

Column column(const char* name, DataType type, bool nullable = false) {
    return {.name = name, .type = type, .nullable = nullable};
}

const Schema& rows() {
    static const Schema kRows{.columns = {column("TS", DataType::uint64),
                                          column("N", DataType::int32, true),
                                          column("T", DataType::varsized)}};
    return kRows;
}

Expression at(std::size_t index, DataType type, bool nullable = false) {
    return {.node = ColumnIndex{index}, .type = type, .nullable = nullable};
}

Expression call(Function function, std::vector<Expression> arguments, DataType type) {
    return {.node = Call{function, std::move(arguments)}, .type = type, .nullable = true};
}

PlanNode scan() {
    SourceScan op{.worker = "W", .type = "File", .parsed = rows(), .wanted = {0, 1, 2}};
    return {.op = std::move(op), .inputs = {}, .schema = rows()};
}

PlanNode above(PlanNode input, Operator op, Schema schema) {
    PlanNode node{.op = std::move(op), .inputs = {}, .schema = std::move(schema)};
    node.inputs.push_back(std::move(input));
    return node;
}

FragmentPlan fragment(PlanNode input) {
    const Schema schema = input.schema;
    FragmentPlan plan{.worker = "W", .roots = {}, .settings = {}};
    plan.roots.push_back(above(std::move(input), SinkWrite{.worker = "W", .type = "Void"}, schema));
    return plan;
}

std::string refusal(const FragmentPlan& plan) {
    const auto checked = check_plan(plan);
    if (checked) return "";
    EXPECT_EQ(checked.error().code, ErrorCode::catalog_corrupt);
    return checked.error().message;
}

PlanNode projected(Expression expression) {
    Schema schema{.columns = {column("A", expression.type, expression.nullable)}};
    Project op;
    op.expressions.push_back(std::move(expression));
    return above(scan(), std::move(op), std::move(schema));
}

PlanNode aggregated(AggregateStage stage, Aggregate aggregate, std::vector<Column> more,
                    PlanNode input = scan()) {
    WindowAggregate op{.stage = stage, .window = {.size = 10, .advance = 5}};
    if (stage != AggregateStage::final) op.time = 0;
    op.aggregates.push_back(std::move(aggregate));
    Schema schema{.columns = {column("START", DataType::uint64), column("END", DataType::uint64)}};
    schema.columns.insert(schema.columns.end(), more.begin(), more.end());
    return above(std::move(input), std::move(op), std::move(schema));
}

TEST(PlanCheck, TakesWhatIsTrue) {
    EXPECT_EQ(refusal(fragment(scan())), "");
    EXPECT_EQ(refusal(fragment(projected(at(1, DataType::int32, true)))), "");
}

TEST(PlanCheck, RefusesExpressionsThatLieAboutTheirType) {
    const std::string begin = "cannot run the plan of a fragment: a projection has ";
    EXPECT_EQ(refusal(fragment(projected(at(1, DataType::varsized, true)))),
              begin + "a column of another type in N");
    EXPECT_EQ(refusal(fragment(projected(at(7, DataType::int64)))),
              begin + "a column that is not there in $7");
    EXPECT_EQ(refusal(fragment(projected(call(Function::add,
                                              {at(0, DataType::uint64), at(2, DataType::varsized)},
                                              DataType::uint64)))),
              begin + "arguments that do not fit in TS + T");
    EXPECT_EQ(refusal(fragment(projected(call(
                  Function::conditional,
                  {at(0, DataType::uint64), at(2, DataType::varsized), at(2, DataType::varsized)},
                  DataType::varsized)))),
              begin + "arguments that do not fit in CONDITIONAL(TS, T, T)");
    Expression text{.node = Constant{std::string("x")}, .type = DataType::int64};
    EXPECT_EQ(refusal(fragment(projected(text))), begin + "a constant's type in 'x'");
}

TEST(PlanCheck, RefusesSchemasThatDoNotFollow) {
    FragmentPlan plan = fragment(scan());
    plan.roots[0].schema.columns[1].type = DataType::varsized;
    EXPECT_EQ(refusal(plan), "cannot run the plan of a fragment: a sink has a changed schema");
    plan = fragment(scan());
    plan.roots[0].inputs[0].schema.columns[2].type = DataType::int8;
    EXPECT_EQ(refusal(plan),
              "cannot run the plan of a fragment: a source has other columns than are wanted");
    PlanNode filter = above(scan(), Filter{at(0, DataType::uint64)}, rows());
    EXPECT_EQ(refusal(fragment(filter)),
              "cannot run the plan of a fragment: a filter has a predicate that is not BOOLEAN");
}

TEST(PlanCheck, KnowsTheTypesOfAggregatesAndOfTheirStates) {
    Aggregate sum{.function = AggregateFunction::sum,
                  .argument = {at(1, DataType::int32, true)},
                  .type = DataType::int64,
                  .nullable = true};
    const Column result = column("SUM", DataType::int64, true);
    EXPECT_EQ(refusal(fragment(aggregated(AggregateStage::whole, sum, {result}))), "");
    EXPECT_EQ(refusal(fragment(aggregated(AggregateStage::partial, sum, {result}))), "");
    Aggregate last = sum;
    last.argument.clear();
    PlanNode partial = aggregated(AggregateStage::partial, sum, {result});
    EXPECT_EQ(refusal(fragment(aggregated(AggregateStage::final, last, {result}, partial))), "");

    const std::string begin = "cannot run the plan of a fragment: an aggregation has ";
    Aggregate average = last;
    average.function = AggregateFunction::avg;
    average.type = DataType::float64;
    const Column real = column("AVG", DataType::float64, true);
    EXPECT_EQ(refusal(fragment(aggregated(AggregateStage::final, average, {real}, partial))),
              begin + "an input that is not its states");
    Aggregate wrong = sum;
    wrong.argument = {at(2, DataType::varsized)};
    EXPECT_EQ(refusal(fragment(aggregated(AggregateStage::whole, wrong, {result}))),
              begin + "the type of an aggregate");
    wrong = sum;
    wrong.type = DataType::int8;
    EXPECT_EQ(refusal(fragment(
                  aggregated(AggregateStage::whole, wrong, {column("SUM", DataType::int8, true)}))),
              begin + "the type of an aggregate");
}

TEST(PlanCheck, BoundsTheWindowsOfARow) {
    PlanNode node = aggregated(AggregateStage::whole, {}, {column("COUNT", DataType::uint64)});
    auto& window = std::get<WindowAggregate>(node.op).window;
    window = {.size = kWindowsPerRowMost, .advance = 1};
    EXPECT_EQ(refusal(fragment(node)), "");
    window = {.size = UINT64_MAX, .advance = 1};
    EXPECT_EQ(refusal(fragment(node)),
              "cannot run the plan of a fragment: an aggregation has too many windows of each row");
}

TEST(PlanCheck, RootsStandAtTheRootAndExchangesAreNamedOnce) {
    FragmentPlan plan{.worker = "W", .roots = {scan()}, .settings = {}};
    EXPECT_EQ(refusal(plan), "cannot run the plan of a fragment: a source is its root");
    EXPECT_EQ(refusal(fragment(fragment(scan()).roots[0])),
              "cannot run the plan of a fragment: a sink stands within it");
    PlanNode receive{
        .op = Receive{.exchange = 1, .senders = {"A"}}, .inputs = {}, .schema = rows()};
    PlanNode both{.op = UnionAll{}, .inputs = {receive, receive}, .schema = rows()};
    EXPECT_EQ(refusal(fragment(both)),
              "cannot run the plan of a fragment: it receives an exchange twice");
    PlanNode logical{.op = LogicalScan{"S"}, .inputs = {}, .schema = rows()};
    EXPECT_EQ(refusal(fragment(logical)),
              "cannot run the plan of a fragment: a logical source stands within it");
}

}  // namespace
}  // namespace baton
