#include "core/analysis/types.h"

#include <array>
#include <utility>

#include <gtest/gtest.h>

namespace baton::analysis {
namespace {

template <class T>
constexpr DataType kTypeOf = DataType::boolean;
template <>
constexpr DataType kTypeOf<std::int8_t> = DataType::int8;
template <>
constexpr DataType kTypeOf<std::int16_t> = DataType::int16;
template <>
constexpr DataType kTypeOf<std::int32_t> = DataType::int32;
template <>
constexpr DataType kTypeOf<std::int64_t> = DataType::int64;
template <>
constexpr DataType kTypeOf<std::uint8_t> = DataType::uint8;
template <>
constexpr DataType kTypeOf<std::uint16_t> = DataType::uint16;
template <>
constexpr DataType kTypeOf<std::uint32_t> = DataType::uint32;
template <>
constexpr DataType kTypeOf<std::uint64_t> = DataType::uint64;
template <>
constexpr DataType kTypeOf<float> = DataType::float32;
template <>
constexpr DataType kTypeOf<double> = DataType::float64;

template <class A, class B>
void expect_as_compiler() {
    using Sum = decltype(std::declval<A>() + std::declval<B>());
    EXPECT_EQ(arithmetic_type(kTypeOf<A>, kTypeOf<B>), kTypeOf<Sum>)
        << to_string(kTypeOf<A>) << " + " << to_string(kTypeOf<B>);
    EXPECT_EQ(promoted(kTypeOf<A>), kTypeOf<decltype(+std::declval<A>())>);
}

template <class A, class... Bs>
void expect_row() {
    (expect_as_compiler<A, Bs>(), ...);
}

template <class... As>
void expect_table() {
    (expect_row<As, As...>(), ...);
}

TEST(Types, ArithmeticPromotesAsTheCompilerDoes) {
    expect_table<std::int8_t, std::int16_t, std::int32_t, std::int64_t, std::uint8_t, std::uint16_t,
                 std::uint32_t, std::uint64_t, float, double>();
}

TEST(Types, ValuesThatAgreeKeepTheirType) {
    for (const DataType type : all_data_types()) {
        EXPECT_EQ(common_type(std::array{type, type}), type);
    }
}

TEST(Types, OnlyNumbersMeetNumbersAndTextsTexts) {
    EXPECT_EQ(common_type(std::array{DataType::character, DataType::varsized}), DataType::varsized);
    EXPECT_EQ(common_type(std::array{DataType::uint8, DataType::float32}), DataType::float32);
    EXPECT_EQ(common_type(std::array{DataType::uint8, DataType::varsized}), std::nullopt);
    EXPECT_EQ(common_type(std::array{DataType::uint8, DataType::boolean}), std::nullopt);
    EXPECT_EQ(common_type(std::array{DataType::character, DataType::int8}), std::nullopt);
}

TEST(Types, EverythingConvertsToTextAndNothingToCharButItself) {
    for (const DataType type : all_data_types()) {
        EXPECT_TRUE(castable(type, DataType::varsized));
        EXPECT_EQ(castable(type, DataType::character), type == DataType::character);
        EXPECT_TRUE(castable(type, type));
        EXPECT_TRUE(castable(DataType::varsized, type) || type == DataType::character);
    }
}

TEST(Types, ConstantsConvertOnlyWhereNothingIsLost) {
    const auto whole = [](std::int64_t value) {
        return Expression{.node = Constant{value}, .type = DataType::int64, .nullable = false};
    };
    const auto is_constant = [](const Expression& expression) {
        return std::holds_alternative<Constant>(expression.node);
    };
    EXPECT_TRUE(is_constant(converted(whole(200), DataType::uint8)));
    EXPECT_FALSE(is_constant(converted(whole(256), DataType::uint8)));
    EXPECT_FALSE(is_constant(converted(whole(-1), DataType::uint64)));
    EXPECT_TRUE(is_constant(converted(whole(INT64_MIN), DataType::float64)));
    EXPECT_FALSE(is_constant(converted(whole(1), DataType::varsized)));
    const Expression kept = converted(whole(INT64_MIN), DataType::int64);
    EXPECT_EQ(kept, whole(INT64_MIN));
}

}  // namespace
}  // namespace baton::analysis
