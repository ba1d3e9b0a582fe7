#include "base/result.h"

#include <memory>
#include <string>
#include <utility>

#include <gtest/gtest.h>

namespace baton {
namespace {

Error refusal() {
    return {.code = ErrorCode::syntax, .message = "not a number"};
}

Result<int> number_in(const std::string& text) {
    if (text.empty() || text.find_first_not_of("0123456789") != std::string::npos) return refusal();
    return std::stoi(text);
}

Result<int> sum_of(const std::string& a, const std::string& b) {
    TRY_ASSIGN(left, number_in(a));
    TRY_ASSIGN(right, number_in(b));
    return left + right;
}

Result<Done> both_are_numbers(const std::string& a, const std::string& b) {
    TRY(number_in(a));
    TRY(number_in(b));
    return Done{};
}

TEST(Result, HoldsAValueOrAnError) {
    const Result<int> value = 7;
    EXPECT_TRUE(value.has_value());
    EXPECT_TRUE(static_cast<bool>(value));
    EXPECT_EQ(*value, 7);

    const Result<int> error = refusal();
    EXPECT_FALSE(error.has_value());
    EXPECT_FALSE(static_cast<bool>(error));
    EXPECT_EQ(error.error(), refusal());
}

TEST(Result, GivesAccessToTheMembersOfItsValue) {
    Result<std::string> text = std::string("abc");
    EXPECT_EQ(text->size(), 3U);
    text->push_back('d');
    EXPECT_EQ(*text, "abcd");
    *text = "x";
    EXPECT_EQ(*std::as_const(text), "x");
}

TEST(Result, CarriesWhatCanOnlyBeMoved) {
    Result<std::unique_ptr<int>> result = std::make_unique<int>(7);
    const std::unique_ptr<int> taken = *std::move(result);
    EXPECT_EQ(*taken, 7);
}

TEST(Result, TryAssignGivesTheValueOrReturnsTheError) {
    EXPECT_EQ(*sum_of("3", "4"), 7);
    EXPECT_EQ(sum_of("x", "4").error(), refusal());
    EXPECT_EQ(sum_of("3", "x").error(), refusal());
}

TEST(Result, TryReturnsTheErrorAndDropsTheValue) {
    EXPECT_TRUE(both_are_numbers("3", "4").has_value());
    EXPECT_EQ(both_are_numbers("3", "x").error(), refusal());
}

TEST(ResultDeathTest, ReadingWhatIsNotThereIsADefect) {
    const Result<int> error = refusal();
    EXPECT_DEATH((void)*error, "CHECK failed: has_value");
    const Result<int> value = 7;
    EXPECT_DEATH((void)value.error(), "CHECK failed: !has_value");
}

}  // namespace
}  // namespace baton
