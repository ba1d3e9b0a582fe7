#include "ports/sql_values.h"

#include <string>

#include <gtest/gtest.h>

namespace baton {
namespace {

TEST(SqlValues, TakesEveryWellFormedText) {
    for (const std::string_view text :
         {"", "a", "1234567", "12345678", "123456789", "\x7f", "\u0080", "\u07ff", "\u0800",
          "\xed\x9f\xbf", "\xee\x80\x80", "\uffff", "\U00010000", "\U0010ffff", "1234567\u00e9",
          "12345678\u00e9"}) {
        EXPECT_TRUE(is_plain_text(text)) << text;
    }
}

TEST(SqlValues, RefusesNulWhereverItStands) {
    for (std::size_t size = 1; size < 40; ++size) {
        for (std::size_t at = 0; at < size; ++at) {
            std::string text(size, 'x');
            EXPECT_TRUE(is_plain_text(text));
            text[at] = '\0';
            EXPECT_FALSE(is_plain_text(text)) << size << " " << at;
        }
    }
}

TEST(SqlValues, RefusesIllFormedText) {
    for (const std::string_view text :
         {"\x80", "\xbf", "\xc0\xaf", "\xc1\xbf", "\xc2", "\xc2x", "\xe0\x9f\xbf", "\xe1\x80",
          "\xed\xa0\x80", "\xed\xbf\xbf", "\xf0\x8f\xbf\xbf", "\xf4\x90\x80\x80",
          "\xf5\x80\x80\x80", "\xfe", "\xff", "12345678\xff", "1234567\xc3"}) {
        EXPECT_FALSE(is_plain_text(text)) << text;
    }
}

TEST(SqlValues, MakesAnyBytesStorable) {
    EXPECT_EQ(storable_text("plain \u00e9", 100), "plain \u00e9");
    EXPECT_EQ(storable_text("a\xff"
                            "b",
                            100),
              "a\ufffdb");
    EXPECT_EQ(storable_text(std::string_view("a\0b", 3), 100), "a\ufffdb");
    EXPECT_EQ(storable_text("\xc3", 100), "\ufffd");
    EXPECT_EQ(storable_text("", 100), "");
}

TEST(SqlValues, CutsBetweenCharacters) {
    const std::string text = "xx\u00e9\u00e9\u00e9";
    for (std::size_t most = 3; most < 12; ++most) {
        const std::string cut = storable_text(text, most);
        EXPECT_TRUE(is_plain_text(cut)) << most;
        EXPECT_LE(cut.size(), most);
    }
    EXPECT_EQ(storable_text(text, 8), text);
    EXPECT_EQ(storable_text(text, 7), "xx\u00e9\u2026");
    EXPECT_LE(storable_text(std::string(1000, '\xff'), 100).size(), 100U);
}

}  // namespace
}  // namespace baton
