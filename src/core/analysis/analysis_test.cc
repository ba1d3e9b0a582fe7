#include "core/analysis/analysis.h"

#include <gtest/gtest.h>

#include "model/plan_check.h"
#include "sql/parser.h"

namespace baton::analysis {
namespace {

const std::map<std::string, LogicalSource> kSources = {
    {"S",
     {.name = "S",
      .schema = {.columns = {{.name = "A", .type = DataType::int64, .nullable = false},
                             {.name = "B", .type = DataType::boolean, .nullable = false},
                             {.name = "TS", .type = DataType::uint64, .nullable = false}}}}},
    {"R", {.name = "R", .schema = {.columns = {{.name = "A", .type = DataType::int64}}}}},
};

Result<LogicalPlan> analysed(const std::string& text) {
    const auto parsed = sql::parse_one(text + " INTO Print()");
    if (!parsed) return parsed.error();
    const auto& statement = std::get<sql::CreateQuery>(parsed->node);
    return analyse(statement.query, statement.sink, {.logical_sources = kSources});
}

std::string nested(std::size_t levels, const std::string& before, const std::string& inside,
                   const std::string& after) {
    std::string text = inside;
    for (std::size_t i = 0; i < levels; ++i) text = before + text + after;
    return text;
}

// The deepest text that the parser takes.
std::string deepest(const std::string& start, const std::string& before, const std::string& inside,
                    const std::string& after, const std::string& end) {
    std::size_t levels = sql::Limits{}.depth_max;
    while (levels > 0) {
        std::string text = start + nested(levels, before, inside, after) + end;
        if (sql::parse_one(text + " INTO Print()")) return text;
        levels -= 1;
    }
    return {};
}

TEST(Analysis, TheDeepestExpressionsFitTheStack) {
    for (const auto& text :
         {deepest("SELECT ", "(", "A", " + 1)", " AS X FROM S"),
          deepest("SELECT ", "ABS(", "A", ")", " AS X FROM S"),
          deepest("SELECT ", "CONDITIONAL(B, ", "A", ", 0)", " AS X FROM S"),
          deepest("SELECT A FROM S WHERE ", "NOT (", "B", ")", ""),
          deepest("SELECT SUM(A) AS X FROM S WINDOW TUMBLING(TS, SIZE 1 SEC) HAVING ", "NOT (",
                  "SUM(A) > 1", ")", "")}) {
        ASSERT_FALSE(text.empty());
        const auto plan = analysed(text);
        ASSERT_TRUE(plan.has_value()) << to_string(plan.error());
        EXPECT_EQ(what_is_wrong(plan->root), "");
    }
}

TEST(Analysis, TheDeepestQueriesFitTheStack) {
    const std::string subqueries =
        deepest("", "SELECT A, B, TS FROM (", "SELECT * FROM S", ") WHERE B", "");
    const std::string windows = deepest("", "SELECT start AS ts, COUNT(*) AS a FROM (",
                                        "SELECT * FROM S", ") WINDOW TUMBLING(ts, SIZE 1 SEC)", "");
    const std::string joins = deepest("SELECT word.A FROM ", "", "S AS word",
                                      " JOIN R ON TRUE WINDOW TUMBLING(SIZE 1 SEC)", "");
    for (const std::string& text : {subqueries, windows, joins}) {
        ASSERT_FALSE(text.empty());
        const auto plan = analysed(text);
        ASSERT_TRUE(plan.has_value()) << to_string(plan.error());
        EXPECT_EQ(what_is_wrong(plan->root), "");
    }
}

TEST(Analysis, PredicatesThatWouldGrowWithoutBoundAreRefused) {
    // The two sides have different types, so that each level holds the one below twice.
    const auto plan = analysed(deepest("SELECT A FROM S WHERE ", "CONDITIONAL(", "B",
                                       ", INT32(1), INT32(0)) BETWEEN INT32(0) AND 70000", ""));
    ASSERT_FALSE(plan.has_value());
    EXPECT_EQ(plan.error().code, ErrorCode::too_large);
}

TEST(Analysis, NamesOfTheSelectListAreCopiedOnlySoOften) {
    std::string sum = "SUM(A)";
    for (int i = 0; i < 100; ++i) sum += " + SUM(A)";
    std::string having = "X > 0";
    for (int i = 0; i < 10000; ++i) having += " AND X > " + std::to_string(i);
    const auto plan =
        analysed("SELECT " + sum + " AS X FROM S WINDOW TUMBLING(SIZE 1 SEC) HAVING " + having);
    ASSERT_FALSE(plan.has_value());
    EXPECT_EQ(plan.error().code, ErrorCode::too_large);
}

TEST(Analysis, KeysAndAggregatesAreBounded) {
    std::string keys = "A";
    std::string sum = "SUM(A)";
    for (int i = 0; i < 1000; ++i) {
        keys += ", A + " + std::to_string(i);
        sum += i % 200 == 0 ? ", SUM(A" : " + SUM(A";
        sum += " + " + std::to_string(i) + ")";
    }
    const std::string window = " WINDOW TUMBLING(SIZE 1 SEC)";
    const auto by_keys = analysed("SELECT A FROM S GROUP BY " + keys + window);
    ASSERT_FALSE(by_keys.has_value());
    EXPECT_EQ(by_keys.error().code, ErrorCode::too_large);
    const auto sums = analysed("SELECT " + sum + " FROM S" + window);
    ASSERT_FALSE(sums.has_value());
    EXPECT_EQ(sums.error().code, ErrorCode::too_large);
}

TEST(Analysis, ColumnsAreExpandedOnlySoOften) {
    std::map<std::string, LogicalSource> wide;
    LogicalSource& source = wide["W"];
    for (int i = 0; i < 1000; ++i)
        source.schema.columns.push_back({.name = "C" + std::to_string(i)});
    std::string text = "SELECT * FROM w";
    for (int i = 0; i < 2000; ++i) text += " UNION SELECT * FROM w";
    const auto parsed = sql::parse_one(text + " INTO Print()");
    ASSERT_TRUE(parsed.has_value());
    const auto& statement = std::get<sql::CreateQuery>(parsed->node);
    const auto plan = analyse(statement.query, statement.sink, {.logical_sources = wide});
    ASSERT_FALSE(plan.has_value());
    EXPECT_EQ(plan.error().code, ErrorCode::too_large);
}

// What the query gives: "A INT64 NOT NULL, B BOOLEAN", or the error.
std::string given(const std::string& text) {
    const auto plan = analysed(text);
    if (!plan) return to_string(plan.error());
    std::string columns;
    for (const Column& column : plan->schema.columns) {
        if (!columns.empty()) columns += ", ";
        columns += column.name + " " + std::string(to_string(column.type));
        if (!column.nullable) columns += " NOT NULL";
    }
    return columns;
}

const WindowAggregate* aggregation_of(const PlanNode& node) {
    if (const auto* found = std::get_if<WindowAggregate>(&node.op)) return found;
    return node.inputs.empty() ? nullptr : aggregation_of(node.inputs.front());
}

TEST(Analysis, TheNameOfASourceIsSeenThroughSubqueriesUntilAnAliasHidesIt) {
    EXPECT_EQ(given("SELECT S.A FROM (SELECT * FROM (SELECT A FROM S))"), "A INT64 NOT NULL");
    EXPECT_EQ(given("SELECT Q.A FROM (SELECT * FROM S) AS Q"), "A INT64 NOT NULL");
    EXPECT_EQ(given("SELECT S.A FROM S AS Q").substr(0, 10), "error 2004");
}

TEST(Analysis, StartAndEndAreThoseOfTheLastWindow) {
    const auto plan = analysed(
        "SELECT start FROM (SELECT start, COUNT(*) AS N FROM S WINDOW TUMBLING(TS, SIZE 1 SEC)) "
        "GROUP BY N WINDOW TUMBLING(start, SIZE 1 MIN)");
    ASSERT_TRUE(plan.has_value()) << to_string(plan.error());
    const auto& project = std::get<Project>(plan->root.inputs.front().op);
    EXPECT_EQ(project.expressions.front().node, (decltype(Expression::node)(ColumnIndex{0})));
    EXPECT_EQ(aggregation_of(plan->root)->window.size, 60'000U);
    EXPECT_EQ(aggregation_of(plan->root)->time, 0U);
}

TEST(Analysis, AnAggregateThatIsUsedTwiceIsComputedOnce) {
    const auto plan = analysed(
        "SELECT SUM(A * 2) + 1 AS X, SUM(A*2) AS Y, SUM(S.A * 2) / COUNT(*) AS Z FROM S "
        "WINDOW TUMBLING(TS, SIZE 1 SEC) HAVING SUM(A * 2) > 3 AND COUNT(*) > 1");
    ASSERT_TRUE(plan.has_value()) << to_string(plan.error());
    EXPECT_EQ(aggregation_of(plan->root)->aggregates.size(), 2U);
}

TEST(Analysis, CountIsNeverNullAndOthersAreIfTheirArgumentIs) {
    EXPECT_EQ(given("SELECT COUNT(A) AS C, MAX(A) AS M, SUM(A) AS S FROM R "
                    "WINDOW TUMBLING(SIZE 1 SEC)"),
              "C UINT64 NOT NULL, M INT64, S INT64");
    EXPECT_EQ(given("SELECT MAX(A) AS M, AVG(A) AS V FROM S WINDOW TUMBLING(SIZE 1 SEC)"),
              "M INT64 NOT NULL, V FLOAT64 NOT NULL");
}

TEST(Analysis, ASinkTakesExactlyWhatItsSchemaSaysWithoutRegardToCase) {
    const auto parsed = sql::parse_one("SELECT A FROM S INTO OUT");
    const auto& statement = std::get<sql::CreateQuery>(parsed->node);
    const auto into = [&](const Column& column) {
        const Sink sink{.name = "OUT", .schema = {.columns = {column}}, .worker = "w"};
        const auto plan =
            analyse(statement.query, statement.sink, {.logical_sources = kSources, .sink = &sink});
        return plan ? 0U : number(plan.error().code);
    };
    EXPECT_EQ(into({.name = "A", .type = DataType::int64, .nullable = false}), 0U);
    EXPECT_EQ(into({.name = "a", .type = DataType::int64, .nullable = false}), 0U);
    EXPECT_EQ(into({.name = "A", .type = DataType::int64, .nullable = true}), 2003U);
    EXPECT_EQ(into({.name = "A", .type = DataType::int32, .nullable = false}), 2003U);
    EXPECT_EQ(into({.name = "B", .type = DataType::int64, .nullable = false}), 2003U);
}

TEST(Analysis, ASinkMayCallAColumnByItsRelation) {
    const auto parsed = sql::parse_one(
        "SELECT S.A, R.A FROM S JOIN R ON S.A = R.A WINDOW TUMBLING(SIZE 1 SEC) INTO OUT");
    ASSERT_TRUE(parsed.has_value()) << to_string(parsed.error());
    const auto& statement = std::get<sql::CreateQuery>(parsed->node);
    const auto into = [&](const std::string& left, const std::string& right) {
        const Sink sink{
            .name = "OUT",
            .schema = {.columns = {{left, DataType::int64, false}, {right, DataType::int64, true}}},
            .worker = "w"};
        const auto plan =
            analyse(statement.query, statement.sink, {.logical_sources = kSources, .sink = &sink});
        if (!plan) return std::to_string(number(plan.error().code));
        return plan->schema.columns[0].name + ", " + plan->schema.columns[1].name;
    };
    EXPECT_EQ(into("S.A", "R.A"), "S.A, R.A");
    EXPECT_EQ(into("A", "R.A"), "A, R.A");
    EXPECT_EQ(into("R.A", "S.A"), "2003");
    EXPECT_EQ(into("A", "A"), "2003");
}

TEST(Analysis, EverySourceIsListedOnce) {
    const auto plan = analysed(
        "SELECT A FROM S UNION SELECT S.A FROM S JOIN (SELECT A AS A2 FROM R) ON S.A = A2 "
        "WINDOW TUMBLING(SIZE 1 SEC) UNION SELECT A FROM S");
    ASSERT_TRUE(plan.has_value()) << to_string(plan.error());
    EXPECT_EQ(plan->sources, (std::vector<std::string>{"R", "S"}));
}

}  // namespace
}  // namespace baton::analysis
