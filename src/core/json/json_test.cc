#include "core/json/json.h"

#include <gtest/gtest.h>

namespace baton::json {

namespace {

constexpr Limits kLimits{.bytes = 1'000, .depth = 4};

std::string error_of(std::string_view text, const Limits& limits = kLimits) {
    const auto value = parse(text, limits);
    return value ? "none" : value.error().message;
}

}  // namespace

TEST(Json, WrittenTextIsReadBackAsTheSameValue) {
    const std::string text =
        R"({"a":[1,-2,2.5,1e+300,true,false,null,"x\"\n"],"":{},"list":[],"nan":"NaN"})";
    const auto value = parse(text, kLimits);
    ASSERT_TRUE(value);
    EXPECT_EQ(to_text(*value), text);
    EXPECT_EQ(parse(to_text(*value), kLimits).has_value(), true);
}

TEST(Json, AKeyIsFoundInAnObjectOnly) {
    const auto value = parse(R"({"a":1})", kLimits);
    ASSERT_TRUE(value);
    ASSERT_NE(find(*value, "a"), nullptr);
    EXPECT_EQ(find(*value, "a")->value, decltype(Value::value)(std::uint64_t{1}));
    EXPECT_EQ(find(*value, "b"), nullptr);
    EXPECT_EQ(find(*find(*value, "a"), "a"), nullptr);
}

TEST(Json, EscapesOfAllCharactersAreDecoded) {
    const auto value = parse(R"("\u0041\u00e9\u20AC\ud83d\ude00\/")", kLimits);
    ASSERT_TRUE(value);
    EXPECT_EQ(std::get<std::string>(value->value), "A\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80/");
}

TEST(Json, HalfOfAPairOfEscapesIsDamage) {
    EXPECT_EQ(error_of(R"("\ud83d")"), "damaged JSON at byte 7: half of a pair of escapes");
    EXPECT_EQ(error_of(R"("\ude00")"), "damaged JSON at byte 7: half of a pair of escapes");
    EXPECT_EQ(error_of(R"("\ud83d\u0041")"), "damaged JSON at byte 13: half of a pair of escapes");
    EXPECT_EQ(error_of(R"("\u00g0")"), "damaged JSON at byte 3: an escape without four digits");
}

TEST(Json, LimitsHoldAndTheErrorIsTheCallers) {
    EXPECT_EQ(error_of("[[[[[]]]]]"), "damaged JSON at byte 4: it is nested too deep");
    EXPECT_EQ(error_of("[[[[]]]]"), "none");
    const auto refused = parse("{", {.bytes = 10, .depth = 1, .damaged = ErrorCode::syntax});
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, ErrorCode::syntax);
    EXPECT_EQ(error_of(std::string(2'000, ' ')),
              "damaged JSON: it has 2000 bytes, at most 1000 are read");
}

}  // namespace baton::json
