#include "engine/expressions/compiled.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include "testing/plans/builders.h"

namespace baton::expressions {
namespace {

using testing::call;
using testing::cast_to;

Expression constant(DataType type, Value value) {
    const bool nullable = std::holds_alternative<std::monostate>(value);
    return {.node = Constant{std::move(value)}, .type = type, .nullable = nullable};
}

Expression text(const std::string& value) {
    return constant(DataType::varsized, value);
}

Expression typed_call(Function function, DataType type, std::vector<Expression> arguments) {
    Expression result = call(function, std::move(arguments));
    result.type = type;
    return result;
}

Result<Value> value_of(const Expression& expression) {
    TRY_ASSIGN(compiled, CompiledExpression::compile(expression));
    TRY_ASSIGN(column, compiled.evaluate({.rows = 1, .columns = {}}));
    return engine::value_at(column, 0);
}

Value good(const Expression& expression) {
    auto value = value_of(expression);
    if (value) return *value;
    ADD_FAILURE() << to_string(value.error());
    return {};
}

ErrorCode error_of(const Expression& expression) {
    const auto value = value_of(expression);
    return value ? ErrorCode::defect : value.error().code;
}

engine::Batch numbers(DataType type, const std::vector<Value>& a, const std::vector<Value>& b) {
    return {.rows = a.size(), .columns = {engine::column_of(type, a), engine::column_of(type, b)}};
}

Expression at(std::size_t index, DataType type = DataType::int64) {
    return {.node = ColumnIndex{index}, .type = type, .nullable = true};
}

TEST(CompiledExpression, ATextThatDoublesAgainAndAgainIsAnError) {
    constexpr std::size_t kMost = std::size_t{16} << 20U;
    const std::vector<Value> values = {std::string(kMost / 2, 'x')};
    Expression expression = at(0, DataType::varsized);
    const auto doubled = [&] {
        expression = call(Function::concat, {expression, expression});
        auto compiled = CompiledExpression::compile(expression);
        return compiled->evaluate(
            {.rows = 1, .columns = {engine::column_of(DataType::varsized, values)}});
    };
    const auto longest = doubled();
    ASSERT_TRUE(longest.has_value());
    EXPECT_EQ(longest->texts()[0].size(), kMost);
    EXPECT_EQ(to_string(doubled().error()),
              "error 3015: cannot compute a text: it would have more than 16777216 bytes; write an "
              "expression that gives shorter texts");
    Expression encoded = at(0, DataType::varsized);
    for (int i = 0; i < 3; ++i) encoded = call(Function::to_base64, {encoded});
    auto compiled = CompiledExpression::compile(encoded);
    EXPECT_EQ(
        compiled->evaluate({.rows = 1, .columns = {engine::column_of(DataType::varsized, values)}})
            .error()
            .code,
        ErrorCode::out_of_memory);
}

TEST(CompiledExpression, TheTextsOfABatchAreBoundedTogether) {
    const std::vector<Value> one = {std::string(std::size_t{5} << 20U, 'x')};
    engine::ColumnVector many(DataType::varsized, 40);
    const engine::ColumnVector text = engine::column_of(DataType::varsized, one);
    std::fill_n(many.mutable_data<std::string_view>(), 40, text.texts()[0]);
    const Expression twice =
        call(Function::concat, {at(0, DataType::varsized), at(0, DataType::varsized)});
    const auto result =
        CompiledExpression::compile(twice)->evaluate({.rows = 40, .columns = {many}});
    EXPECT_EQ(
        to_string(result.error()),
        "error 3015: cannot compute a text: the texts of rows that are computed at once would "
        "have more than 268435456 bytes; write an expression that gives shorter texts");
}

TEST(CompiledExpression, WholeNumbersWrapAround) {
    const auto most = std::numeric_limits<std::int64_t>::max();
    const auto least = std::numeric_limits<std::int64_t>::min();
    const auto of = [](Function function, std::int64_t a, std::int64_t b) {
        return good(call(function, {testing::number(a), testing::number(b)}));
    };
    EXPECT_EQ(of(Function::add, most, 1), Value(least));
    EXPECT_EQ(of(Function::subtract, least, 1), Value(most));
    EXPECT_EQ(of(Function::multiply, most, 2), Value(std::int64_t{-2}));
    EXPECT_EQ(of(Function::divide, least, -1), Value(least));
    EXPECT_EQ(of(Function::modulo, least, -1), Value(std::int64_t{0}));
    EXPECT_EQ(good(call(Function::negate, {testing::number(least)})), Value(least));
    const auto big = constant(DataType::uint16, std::uint64_t{65535});
    EXPECT_EQ(good(call(Function::multiply, {big, big})), Value(std::uint64_t{1}));
}

TEST(CompiledExpression, WhatHasNoResultIsAnError) {
    EXPECT_EQ(error_of(call(Function::divide, {testing::number(1), testing::number(0)})),
              ErrorCode::arithmetic);
    EXPECT_EQ(error_of(call(Function::modulo, {testing::number(1), testing::number(0)})),
              ErrorCode::arithmetic);
    EXPECT_EQ(error_of(call(Function::abs, {constant(DataType::int8, std::int64_t{-128})})),
              ErrorCode::arithmetic);
    const auto zero = constant(DataType::float64, 0.0);
    const auto one = constant(DataType::float64, 1.0);
    EXPECT_EQ(good(call(Function::divide, {one, zero})), Value(HUGE_VAL));
}

TEST(CompiledExpression, RowsThatAreDecidedAreNotAskedAgain) {
    const auto guarded = call(
        Function::logical_and,
        {call(Function::not_equal, {at(1), testing::number(0)}),
         call(Function::greater, {call(Function::divide, {at(0), at(1)}), testing::number(1)})});
    const engine::Batch batch =
        numbers(DataType::int64, {Value(std::int64_t{4}), Value(std::int64_t{4})},
                {Value(std::int64_t{0}), Value(std::int64_t{2})});
    const auto compiled = CompiledExpression::compile(guarded);
    ASSERT_TRUE(compiled.has_value());
    const auto rows = compiled->select(batch);
    ASSERT_TRUE(rows.has_value());
    EXPECT_EQ(*rows, std::vector<std::uint32_t>{1});

    const auto chosen =
        call(Function::conditional, {call(Function::equal, {at(1), testing::number(0)}),
                                     testing::number(-1), call(Function::divide, {at(0), at(1)})});
    const auto conditional = CompiledExpression::compile(chosen);
    const auto values = conditional->evaluate(batch);
    ASSERT_TRUE(values.has_value());
    EXPECT_EQ(engine::value_at(*values, 0), Value(std::int64_t{-1}));
    EXPECT_EQ(engine::value_at(*values, 1), Value(std::int64_t{2}));
}

TEST(CompiledExpression, CastsOfRealsStayWithinTheRange) {
    const auto cast = [](double value, DataType type) {
        return good(cast_to(type, constant(DataType::float64, value)));
    };
    EXPECT_EQ(cast(1e30, DataType::int32), Value(std::int64_t{2147483647}));
    EXPECT_EQ(cast(-1e30, DataType::int64), Value(std::numeric_limits<std::int64_t>::min()));
    EXPECT_EQ(cast(-1, DataType::uint64), Value(std::uint64_t{0}));
    EXPECT_EQ(cast(1e30, DataType::uint64), Value(std::numeric_limits<std::uint64_t>::max()));
    EXPECT_EQ(cast(NAN, DataType::int8), Value(std::int64_t{0}));
    EXPECT_EQ(cast(-1.9, DataType::int8), Value(std::int64_t{-1}));
    EXPECT_EQ(good(cast_to(DataType::uint8, testing::number(-1))), Value(std::uint64_t{255}));
}

TEST(CompiledExpression, NumbersBecomeTheTextThatCsvPrints) {
    const auto as_text = [](const Expression& e) {
        return std::get<std::string>(good(cast_to(DataType::varsized, e)));
    };
    EXPECT_EQ(as_text(constant(DataType::float64, 1.5)), "1.5");
    EXPECT_EQ(as_text(constant(DataType::float64, 2.0)), "2.0");
    EXPECT_EQ(as_text(constant(DataType::float64, 0.1234567)), "0.123457");
    EXPECT_EQ(as_text(testing::number(-42)), "-42");
    EXPECT_EQ(as_text(testing::truth(true)), "true");
    EXPECT_EQ(as_text(constant(DataType::int8, std::int64_t{7})), "7");
    EXPECT_EQ(good(cast_to(DataType::int32, text("-17"))), Value(std::int64_t{-17}));
    EXPECT_EQ(good(cast_to(DataType::float64, text("1e3"))), Value(1000.0));
    EXPECT_EQ(error_of(cast_to(DataType::int8, text("999"))), ErrorCode::cannot_format);
    EXPECT_EQ(error_of(cast_to(DataType::int32, text("12x"))), ErrorCode::cannot_format);
    EXPECT_EQ(good(cast_to(DataType::int32, constant(DataType::varsized, {}))), Value());
}

TEST(CompiledExpression, LengthsCountCharactersOrBytes) {
    EXPECT_EQ(good(typed_call(Function::char_length, DataType::uint64, {text("\xC3\xA4x")})),
              Value(std::uint64_t{2}));
    EXPECT_EQ(good(typed_call(Function::octet_length, DataType::uint64, {text("\xC3\xA4x")})),
              Value(std::uint64_t{3}));
    EXPECT_EQ(good(call(Function::concat, {text("a"), text("b"), text("")})),
              Value(std::string("ab")));
    EXPECT_EQ(good(call(Function::concat, {text("a"), constant(DataType::varsized, {})})), Value());
}

TEST(CompiledExpression, Base64GoesThereAndBack) {
    for (const char* plain : {"", "f", "fo", "foo", "Hello World"}) {
        const auto coded = call(Function::to_base64, {text(plain)});
        EXPECT_EQ(good(call(Function::from_base64, {coded})), Value(std::string(plain)));
    }
    EXPECT_EQ(good(call(Function::to_base64, {text("test")})), Value(std::string("dGVzdA==")));
    for (const char* wrong : {"a", "dGVzdA=", "dG=zdA==", "====", "/w=="}) {
        EXPECT_EQ(error_of(call(Function::from_base64, {text(wrong)})), ErrorCode::cannot_format)
            << wrong;
    }
}

TEST(CompiledExpression, TimesAreReadAndWritten) {
    const auto ms = [](const char* time) {
        return typed_call(Function::cast_to_unix_ts, DataType::uint64, {text(time)});
    };
    EXPECT_EQ(good(ms("1970-01-01T00:00:01.234Z")), Value(std::uint64_t{1234}));
    EXPECT_EQ(good(ms("2021-12-14 15:05:03")), Value(std::uint64_t{1639494303000}));
    EXPECT_EQ(good(ms("9999-12-31T23:59:59.999Z")), Value(std::uint64_t{253402300799999}));
    EXPECT_EQ(good(ms("1970-01-01T01:00:00.123+01:00")), Value(std::uint64_t{123}));
    EXPECT_EQ(good(ms("1970-01-01T00:00:00-01:00")), Value(std::uint64_t{3600000}));
    for (const char* wrong :
         {"", "x", "1970-01-01", "1969-12-31T23:59:59Z", "2023-02-29T12:00:00Z",
          "1970-01-01T00:00:00Zabc", "1970-01-01T00:00:00+01", "1970-01-01T00:00:00+01:0"}) {
        EXPECT_EQ(error_of(ms(wrong)), ErrorCode::cannot_format) << wrong;
    }
    const auto time = constant(DataType::uint64, std::uint64_t{253402300799999});
    EXPECT_EQ(good(typed_call(Function::cast_from_unix_ts, DataType::varsized, {time})),
              Value(std::string("9999-12-31T23:59:59.999Z")));
    EXPECT_EQ(good(typed_call(Function::day_of, DataType::uint64, {time})),
              Value(std::uint64_t{31}));
    EXPECT_EQ(good(typed_call(Function::month_of, DataType::uint64, {time})),
              Value(std::uint64_t{12}));
    EXPECT_EQ(good(typed_call(Function::year_of, DataType::uint64, {time})),
              Value(std::uint64_t{9999}));
}

TEST(CompiledExpression, RoundingKeepsWholeNumbers) {
    EXPECT_EQ(good(call(Function::round, {constant(DataType::float64, 2.5)})), Value(3.0));
    EXPECT_EQ(good(call(Function::ceil, {constant(DataType::float32, -1.5)})), Value(-1.0));
    EXPECT_EQ(good(call(Function::floor, {testing::number(7)})), Value(std::int64_t{7}));
    EXPECT_EQ(good(call(Function::pow,
                        {constant(DataType::float64, 2.0), constant(DataType::float64, 10.0)})),
              Value(1024.0));
}

TEST(CompiledExpression, NothingIsComputedOfNoRows) {
    const auto fails = call(Function::divide, {testing::number(1), testing::number(0)});
    const auto compiled = CompiledExpression::compile(fails);
    const auto column = compiled->evaluate({.rows = 0, .columns = {}});
    ASSERT_TRUE(column.has_value());
    EXPECT_EQ(column->size(), 0U);
}

TEST(CompiledExpression, WhatHasNoMeaningIsNotCompiled) {
    const auto wrong = call(Function::add, {text("a"), text("b")});
    const auto compiled = CompiledExpression::compile(wrong);
    ASSERT_FALSE(compiled.has_value());
    EXPECT_EQ(compiled.error().code, ErrorCode::not_supported);
}

}  // namespace
}  // namespace baton::expressions
