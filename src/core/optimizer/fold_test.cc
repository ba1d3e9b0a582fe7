#include "core/optimizer/fold.h"

#include <cstdint>

#include <gtest/gtest.h>

#include "core/optimizer/evaluate.h"
#include "testing/plans/builders.h"

namespace baton::optimizer {
namespace {

using namespace testing;  // NOLINT: the builders read better without a prefix

const Schema kRow{.columns = {{.name = "A", .type = DataType::int64, .nullable = true},
                              {.name = "P", .type = DataType::boolean, .nullable = true}}};

Value value_of(const Expression& expression) {
    return std::get<Constant>(folded(expression).node).value;
}

bool stays(const Expression& expression) {
    return folded(expression) == expression;
}

Expression unknown() {
    return null_of(DataType::boolean);
}

Expression small(std::int64_t value) {
    return {.node = Constant{value}, .type = DataType::int8, .nullable = false};
}

TEST(Fold, ComputesArithmeticAndComparisons) {
    EXPECT_EQ(value_of(call(Function::subtract, {number(2), number(5)})), Value(std::int64_t{-3}));
    EXPECT_EQ(value_of(call(Function::divide, {number(-7), number(2)})), Value(std::int64_t{-3}));
    EXPECT_EQ(value_of(call(Function::less, {number(1), number(2)})), Value(true));
    EXPECT_EQ(value_of(call(Function::add, {number(1), null_of(DataType::int64)})), Value());
    EXPECT_EQ(value_of(call(Function::is_null, {null_of(DataType::int64)})), Value(true));
}

TEST(Fold, LogicHasThreeValues) {
    const auto logic = [](Function f, Expression a, Expression b) {
        return value_of(call(f, {std::move(a), std::move(b)}));
    };
    EXPECT_EQ(logic(Function::logical_and, unknown(), truth(false)), Value(false));
    EXPECT_EQ(logic(Function::logical_and, unknown(), truth(true)), Value());
    EXPECT_EQ(logic(Function::logical_or, unknown(), truth(true)), Value(true));
    EXPECT_EQ(logic(Function::logical_or, unknown(), unknown()), Value());
    EXPECT_EQ(value_of(call(Function::logical_not, {unknown()})), Value());
    EXPECT_EQ(value_of(call(Function::in_list, {number(1), number(2), null_of(DataType::int64)})),
              Value());
}

TEST(Fold, AnErrorIsLeftToTheRunTime) {
    EXPECT_TRUE(stays(call(Function::divide, {number(1), number(0)})));
    EXPECT_TRUE(stays(call(Function::modulo, {number(1), number(0)})));
    EXPECT_TRUE(stays(call(Function::abs, {number(INT64_MIN)})));
}

TEST(Fold, AnOverflowIsLeftToTheRunTime) {
    EXPECT_TRUE(stays(call(Function::add, {number(INT64_MAX), number(1)})));
    EXPECT_TRUE(stays(call(Function::add, {small(127), small(1)})));
    EXPECT_TRUE(stays(cast_to(DataType::uint8, number(256))));
    EXPECT_TRUE(stays(cast_to(DataType::uint64, number(-1))));
    EXPECT_EQ(value_of(cast_to(DataType::uint8, number(255))), Value(std::uint64_t{255}));
}

TEST(Fold, APartThatDecidesNothingGoes) {
    const Expression p = column(kRow, 1);
    EXPECT_EQ(folded(call(Function::logical_and, {truth(true), p})), p);
    EXPECT_EQ(folded(call(Function::logical_or, {p, truth(false)})), p);
    EXPECT_EQ(value_of(call(Function::logical_and, {p, truth(false)})), Value(false));
    EXPECT_TRUE(stays(call(Function::logical_and, {p, unknown()})));
}

TEST(Fold, AndsInAndsAreOne) {
    const Expression p = column(kRow, 1);
    const Expression q = call(Function::is_null, {column(kRow, 0)});
    EXPECT_EQ(folded(call(Function::logical_and, {call(Function::logical_and, {p, q}), p})),
              call(Function::logical_and, {p, q, p}));
}

TEST(Fold, BranchesThatAreNeverTakenGo) {
    const Expression p = column(kRow, 1);
    EXPECT_EQ(value_of(call(Function::conditional, {unknown(), number(1), number(2)})),
              Value(std::int64_t{2}));
    EXPECT_EQ(
        folded(call(Function::conditional, {truth(false), number(1), p, number(2), truth(true),
                                            number(3), p, number(4), number(5)})),
        call(Function::conditional, {p, number(2), number(3)}));
}

TEST(Fold, TheTypeAndTheNullabilityStay) {
    const Expression sum = call(Function::conditional, {truth(true), number(1), column(kRow, 0)});
    EXPECT_EQ(folded(sum).type, DataType::int64);
    EXPECT_TRUE(folded(sum).nullable);
}

TEST(Evaluate, SaysWhetherItFailsOrDoesNotKnow) {
    EXPECT_EQ(evaluate(call(Function::divide, {number(1), number(0)}), {}).error().code,
              ErrorCode::arithmetic);
    EXPECT_EQ(evaluate(call(Function::sqrt, {number(1)}), {}).error().code,
              ErrorCode::not_supported);
}

}  // namespace
}  // namespace baton::optimizer
