#include "model/expression.h"

#include <gtest/gtest.h>

namespace baton {
namespace {

const Schema kInput{.columns = {{.name = "A", .type = DataType::int64},
                                {.name = "B", .type = DataType::boolean},
                                {.name = "lower", .type = DataType::varsized}}};

Expression column(std::size_t index) {
    return {.node = ColumnIndex{index}, .type = DataType::int64};
}

Expression number(std::int64_t value) {
    return {.node = Constant{value}, .type = DataType::int64, .nullable = false};
}

Expression call(Function function, std::vector<Expression> arguments) {
    return {.node = Call{.function = function, .arguments = std::move(arguments)},
            .type = DataType::int64};
}

std::string text(const Expression& expression) {
    return to_string(expression, kInput);
}

TEST(ExpressionText, NamesColumnsByPosition) {
    EXPECT_EQ(text(column(0)), "A");
    EXPECT_EQ(text(column(2)), "\"lower\"");
    EXPECT_EQ(text(column(7)), "$7");
}

TEST(ExpressionText, PutsParenthesesWhereMeaningNeedsThem) {
    const Expression sum = call(Function::add, {column(0), number(1)});
    EXPECT_EQ(text(call(Function::multiply, {sum, number(2)})), "(A + 1) * 2");
    EXPECT_EQ(text(call(Function::add, {sum, number(2)})), "A + 1 + 2");
    EXPECT_EQ(text(call(Function::subtract, {number(2), sum})), "2 - (A + 1)");
    EXPECT_EQ(text(call(Function::negate, {sum})), "-(A + 1)");
    const Expression less = call(Function::less, {sum, number(3)});
    EXPECT_EQ(text(call(Function::logical_and, {less, column(1), less})),
              "A + 1 < 3 AND B AND A + 1 < 3");
    const Expression either = call(Function::logical_or, {less, column(1)});
    EXPECT_EQ(text(call(Function::logical_and, {either, column(1)})), "(A + 1 < 3 OR B) AND B");
    EXPECT_EQ(text(call(Function::logical_not, {either})), "NOT (A + 1 < 3 OR B)");
    EXPECT_EQ(text(call(Function::equal, {less, column(1)})), "(A + 1 < 3) = B");
}

TEST(ExpressionText, WritesPredicatesAndFunctionsAsTheDialectDoes) {
    EXPECT_EQ(text(call(Function::between, {column(0), number(1), number(2)})),
              "A BETWEEN 1 AND 2");
    EXPECT_EQ(text(call(Function::in_list, {column(0), number(1), number(2)})), "A IN (1, 2)");
    EXPECT_EQ(text(call(Function::is_null, {column(0)})), "A IS NULL");
    EXPECT_EQ(text(call(Function::cast, {column(0)})), "CAST(A AS INT64)");
    EXPECT_EQ(text(call(Function::conditional, {column(1), number(1), number(2)})),
              "CONDITIONAL(B, 1, 2)");
}

TEST(ExpressionText, WritesValuesOfEveryType) {
    const auto constant = [](Value value) { return text({.node = Constant{std::move(value)}}); };
    EXPECT_EQ(constant({}), "NULL");
    EXPECT_EQ(constant(true), "TRUE");
    EXPECT_EQ(constant(std::uint64_t{18446744073709551615U}), "18446744073709551615");
    EXPECT_EQ(constant(2.0), "2.0");
    EXPECT_EQ(constant(0.1), "0.1");
    EXPECT_EQ(constant(std::string("it's")), "'it''s'");
}

TEST(ExpressionText, EveryFunctionHasAText) {
    for (int i = 0; i <= static_cast<int>(Function::cast); ++i) {
        const std::vector<Expression> arguments = {column(0), column(0), column(0)};
        EXPECT_FALSE(text(call(static_cast<Function>(i), arguments)).empty()) << i;
    }
}

}  // namespace
}  // namespace baton
