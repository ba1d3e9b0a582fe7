// How a predicate compares whole numbers with others.
#include <gtest/gtest.h>

#include "catalog/views/predicate.h"

namespace baton::views {
namespace {

bool matches(std::int64_t column, sql::BinaryOp op, sql::Literal literal) {
    static const kinds::View kView{.name = "V",
                                   .columns = {{.name = "N", .type = kinds::ViewType::integer}}};
    sql::Expr left;
    left.node = sql::ColumnRef{{"N"}};
    sql::Expr right;
    right.node = std::move(literal);
    sql::Expr comparison;
    comparison.node = sql::Binary{op, {left, right}};
    return Predicate::compile(kView, comparison)->matches({column});
}

// A double cannot tell 2^53 from 2^53 + 1; SQLite can, and WATCH must see what SHOW sees.
TEST(PredicateNumbers, CompareExactlyThoughNotEveryIntegerIsADouble) {
    using enum sql::BinaryOp;
    constexpr std::int64_t kTwoTo53 = 9'007'199'254'740'992;
    EXPECT_TRUE(matches(kTwoTo53, eq, 9007199254740992.0));
    EXPECT_FALSE(matches(kTwoTo53 + 1, eq, 9007199254740992.0));
    EXPECT_TRUE(matches(kTwoTo53 + 1, gt, 9007199254740992.0));
    EXPECT_TRUE(matches(INT64_MAX, lt, 9223372036854775808.0));
    EXPECT_TRUE(matches(INT64_MAX, lt, sql::Integer{false, UINT64_MAX}));
    EXPECT_TRUE(matches(INT64_MIN, eq, -9223372036854775808.0));
    EXPECT_TRUE(matches(INT64_MIN, gt, -1e19));
}

TEST(PredicateNumbers, CompareWithFractionsOnBothSidesOfZero) {
    using enum sql::BinaryOp;
    EXPECT_TRUE(matches(2, lt, 2.5));
    EXPECT_TRUE(matches(3, gt, 2.5));
    EXPECT_TRUE(matches(-2, gt, -2.5));
    EXPECT_TRUE(matches(-3, lt, -2.5));
    EXPECT_TRUE(matches(0, lt, 0.5));
    EXPECT_TRUE(matches(0, gt, -0.5));
    EXPECT_TRUE(matches(0, eq, -0.0));
}

TEST(PredicateNumbers, MayBeGivenInQuotes) {
    using enum sql::BinaryOp;
    EXPECT_TRUE(matches(5, eq, "5"));
    EXPECT_TRUE(matches(-5, lt, "-4"));
    EXPECT_FALSE(matches(5, eq, "50"));
    const kinds::View view{.name = "V",
                           .columns = {{.name = "N", .type = kinds::ViewType::integer}}};
    for (const char* text : {"", "five", "5 ", "5.0", "99999999999999999999"}) {
        EXPECT_EQ(Predicate::equal(view, "N", text, {}).error().code, ErrorCode::type_mismatch)
            << text;
    }
}

}  // namespace
}  // namespace baton::views
