#include "core/s3/encoding.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace baton::s3 {
namespace {

TEST(EncodingTest, EncodesEveryByteThatIsNotUnreserved) {
    constexpr std::string_view kUnreserved =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~";
    constexpr std::string_view kDigits = "0123456789ABCDEF";
    for (unsigned byte = 0; byte < 256; ++byte) {
        const std::string one(1, static_cast<char>(byte));
        const bool stays = kUnreserved.find(one) != std::string_view::npos;
        const std::string encoded = {'%', kDigits[byte / 16], kDigits[byte % 16]};
        EXPECT_EQ(encode_query(one), stays ? one : encoded);
        EXPECT_EQ(encode_path(one), stays || one == "/" ? one : encoded);
    }
}

RC_GTEST_PROP(EncodingProperty, DecodingGivesBackTheBytes, (const std::string& text)) {
    RC_ASSERT(decode_percent(encode_query(text), Plus::is_space) == text);
    RC_ASSERT(decode_percent(encode_path(text), Plus::is_plus) == text);
}

TEST(EncodingTest, DecodingKnowsTwoMeaningsOfPlus) {
    EXPECT_EQ(decode_percent("a+b%2B%2b", Plus::is_space), "a b++");
    EXPECT_EQ(decode_percent("a+b", Plus::is_plus), "a+b");
}

TEST(EncodingTest, DecodingRefusesAHalfByte) {
    for (const char* const text : {"%", "a%1", "%g0", "%0g", "% 1"}) {
        EXPECT_FALSE(decode_percent(text, Plus::is_plus)) << text;
    }
}

}  // namespace
}  // namespace baton::s3
