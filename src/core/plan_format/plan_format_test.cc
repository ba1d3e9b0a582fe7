#include "core/plan_format/plan_format.h"

#include <cmath>
#include <cstdlib>
#include <fstream>
#include <limits>
#include <sstream>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "core/optimizer/expand.h"
#include "core/optimizer/optimize.h"
#include "core/optimizer/split.h"
#include "core/placement/cut.h"
#include "core/placement/routes.h"
#include "core/plan_format/names.h"
#include "testing/plans/builders.h"
#include "testing/plans/generators.h"

namespace baton::plan_format {
namespace {

using namespace testing;  // NOLINT: the builders read better without a prefix

Expression constant(DataType type, Value value) {
    return {.node = Constant{std::move(value)}, .type = type, .nullable = false};
}

// As many arguments as any function takes: a list is accepted by some, so each gets its own.
std::size_t arguments_of(Function function) {
    if (function == Function::between || function == Function::conditional) return 3;
    const bool two = function <= Function::modulo ||
                     (function >= Function::equal && function <= Function::logical_or) ||
                     function == Function::in_list || function == Function::pow;
    return two ? 2 : 1;
}

// One of each: operators, functions, aggregates, types of values and options.
FragmentPlan everything() {
    const Schema schema{
        .columns = {{.name = "TS", .type = DataType::uint64, .nullable = false},
                    {.name = "a \"b\"", .type = DataType::int64, .nullable = true}}};
    PlanNode scan = source_scan(7, "S", "W1", schema);
    auto& op = std::get<SourceScan>(scan.op);
    op.source = {{"PATH", std::string("in\n.csv")}, {"PORT", std::int64_t{-1}}, {"KEEP", true}};
    op.format = {{"RATE", 0.5}, {"TYPE", std::string("CSV")}};
    std::vector<Expression> calls;
    for (std::size_t i = 0; i < kFunctionNames.size(); ++i) {
        const auto function = static_cast<Function>(i);
        calls.push_back(call(function, std::vector(arguments_of(function), column(scan, 1))));
    }
    for (const DataType type : all_data_types()) calls.push_back(null_of(type));
    calls.push_back(constant(DataType::int8, std::int64_t{-5}));
    calls.push_back(constant(DataType::uint64, std::numeric_limits<std::uint64_t>::max()));
    calls.push_back(constant(DataType::float64, 1e300));
    calls.push_back(constant(DataType::float32, -std::numeric_limits<double>::infinity()));
    calls.push_back(constant(DataType::boolean, false));
    calls.push_back(constant(DataType::varsized, std::string("\x01 \\ \xc3\xbc", 6)));
    std::vector<Aggregate> aggregates;
    for (std::size_t i = 0; i < kAggregateNames.size(); ++i) {
        const auto function = static_cast<AggregateFunction>(i);
        std::optional<Expression> argument;
        if (function != AggregateFunction::count_all) argument = column(scan, 1);
        aggregates.push_back(aggregate(function, argument));
    }
    PlanNode received{
        .op = Receive{.exchange = 3, .senders = {"W2", "W3"}}, .inputs = {}, .schema = scan.schema};
    PlanNode all = union_all({filter(scan, truth(true)), received});
    PlanNode join = window_join(
        all, logical_scan("T", schema),
        {.sides = JoinSides::full, .predicate = truth(true), .window = {10, 5}, .left_time = 0});
    PlanNode groups = window_aggregate(scan, {10, 10}, 0, {column(scan, 1)}, aggregates);
    PlanNode send{.op = Send{.exchange = 4, .to = "W5", .address = "w5:9"},
                  .inputs = {groups},
                  .schema = groups.schema};
    PlanNode split = optimizer::with_split_aggregates(
        window_aggregate(union_all({scan, source_scan(8, "S", "W2", schema)}), {10, 10}, {},
                         {column(scan, 1)}, {aggregate(AggregateFunction::avg, column(scan, 1))}));
    PlanNode unnamed = sink(split);
    std::get<SinkWrite>(unnamed.op).name.reset();
    return {.worker = "W1",
            .roots = {sink(join), sink(project(scan, calls)), send, unnamed},
            .settings = {{"LATE", std::string("FAIL")}}};
}

std::string golden_path() {
    return std::string(BATON_TESTDATA) + "/version_1.json";
}

std::string golden() {
    std::ifstream file(golden_path());
    std::stringstream text;
    text << file.rdbuf();
    return text.str();
}

// A difference here means that workers and coordinators of this version would not understand those
// of the last one: write a new version instead.
TEST(PlanFormat, VersionOneNeverChanges) {
    const std::string text = write_plan(everything()) + "\n";
    if (std::getenv("BATON_REWRITE") != nullptr) std::ofstream(golden_path()) << text;
    EXPECT_EQ(text, golden());
    const auto plan = read_plan(golden());
    ASSERT_TRUE(plan) << to_string(plan.error());
    EXPECT_EQ(*plan, everything());
}

std::string complaint(const std::string& text) {
    const auto plan = read_plan(text);
    return plan ? "" : std::to_string(number(plan.error().code)) + ": " + plan.error().message;
}

std::string replaced(std::string text, const std::string& what, const std::string& with) {
    text.replace(text.find(what), what.size(), with);
    return text;
}

TEST(PlanFormat, AnotherVersionIsRefused) {
    EXPECT_EQ(complaint(replaced(golden(), "\"version\":1", "\"version\":2")),
              "2001: cannot read the plan of a fragment: it has version 2, only 1 is known here");
}

TEST(PlanFormat, WhatIsNotKnownIsRefused) {
    const std::string where = "6003: damaged plan of a fragment, at ";
    EXPECT_EQ(complaint(replaced(golden(), "\"worker\":", "\"walker\":")),
              where + "\"worker\": it is missing");
    EXPECT_EQ(complaint(replaced(golden(), "{\"op\":\"sink_write\"",
                                 "{\"more\":1,\"op\":\"sink_write\"")),
              where + "\"roots[0]\": it has a key that is not known");
    EXPECT_EQ(complaint(replaced(golden(), "sink_write", "sink_wipe")),
              where + "\"roots[0].op\": an unknown operator");
    EXPECT_EQ(complaint(replaced(golden(), "\"full\"", "\"fool\"")),
              where + "\"roots[0].inputs[0].sides\": an unknown word");
}

TEST(PlanFormat, ColumnsThatAreNotThereAreRefused) {
    EXPECT_EQ(
        complaint(replaced(golden(), "\"left_time\":0", "\"left_time\":99")),
        "6003: damaged plan of a fragment, at \"roots[0].inputs[0]\": a column that its input "
        "does not have");
    EXPECT_EQ(complaint(replaced(golden(), "\"wanted\":[0,1]", "\"wanted\":[0,2]")),
              "6003: damaged plan of a fragment, at \"roots[0].inputs[0].inputs[0].inputs[0].inputs"
              "[0]\": the wanted columns are not those of its schema");
}

TEST(PlanFormat, RubbishIsRefused) {
    for (const std::string& text :
         {std::string(), std::string("{"), std::string("null"), std::string("{}"),
          std::string("{\"version\":1}"), std::string("{\"version\":1,\"version\":1}"),
          std::string(100'000, '['), std::string("\xff\xfe"), golden() + "x"}) {
        EXPECT_FALSE(read_plan(text)) << text.substr(0, 40);
    }
}

TEST(PlanFormat, NoPrefixOfAPlanIsAPlan) {
    const std::string text = write_plan(everything());
    for (std::size_t size = 0; size < text.size(); size += 17) {
        EXPECT_FALSE(read_plan(std::string_view(text).substr(0, size))) << size;
    }
}

TEST(PlanFormat, SecretsAreInNoMessage) {
    FragmentPlan plan = everything();
    plan.settings = {{"PASSWORD", std::string("hunter2")}};
    std::string text = write_plan(plan);
    text.insert(text.find("hunter2") + 7, "\\q");
    EXPECT_EQ(complaint(text).find("hunter2"), std::string::npos);
}

RC_GTEST_PROP(PlanFormatProperty, WhatIsWrittenIsReadBack, ()) {
    const World world = any_world();
    auto physical =
        optimizer::expanded(any_plan(4), {.logical = world.logical, .physical = world.physical});
    RC_ASSERT(physical.has_value());
    const FragmentPlan plan{
        .worker = "W1",
        .roots = {optimizer::with_split_aggregates(optimizer::optimized(*std::move(physical)))},
        .settings = {}};
    const auto back = read_plan(write_plan(plan));
    if (!back) RC_FAIL(to_string(back.error()));
    RC_ASSERT(*back == plan);
}

RC_GTEST_PROP(PlanFormatProperty, TextsAndNumbersSurvive,
              (const std::string& text, double real, std::int64_t number)) {
    PlanNode scan = source_scan(1, "S", text, {.columns = {{.name = text}}});
    std::get<SourceScan>(scan.op).source = {{text, text}, {"I", number}, {"R", real}};
    const FragmentPlan plan{.worker = text,
                            .roots = {sink(project(scan, {constant(DataType::float64, real),
                                                          constant(DataType::varsized, text)}))},
                            .settings = {}};
    const auto back = read_plan(write_plan(plan));
    if (!back) RC_FAIL(to_string(back.error()));
    RC_ASSERT(*back == plan);
}

// Depth and number are for a limit to say, not for the stack or for patience.
TEST(PlanFormat, DepthAndFieldsAreBounded) {
    for (const char open : {'[', '{'}) {
        std::string text;
        for (int i = 0; i < 1'000'000; ++i) text += open == '[' ? "[" : "{\"a\":";
        const auto plan = read_plan(text);
        ASSERT_FALSE(plan);
        EXPECT_NE(to_string(plan.error()).find("nested too deep"), std::string::npos);
    }
    std::string fields = "{";
    for (int i = 0; i < 1'000'000; ++i) fields += "\"" + std::to_string(i) + "\":0,";
    const auto plan = read_plan(fields + "\"x\":0}");
    ASSERT_FALSE(plan);
    EXPECT_NE(to_string(plan.error()).find("too many fields"), std::string::npos);
}

RC_GTEST_PROP(PlanFormatProperty, AChangedByteNeverCrashesTheReader, ()) {
    std::string text = write_plan(everything());
    const auto at = *rc::gen::inRange<std::size_t>(0, text.size());
    text[at] = *rc::gen::arbitrary<char>();
    const auto plan = read_plan(text);
    if (plan) RC_ASSERT(read_plan(write_plan(*plan)).has_value());
}

}  // namespace
}  // namespace baton::plan_format
