#include "stores/check_key.h"

#include <gtest/gtest.h>

namespace baton::stores {
namespace {

TEST(CheckKey, AKeyIsAPathOfPrintableText) {
    for (const char* key :
         {"a", "a/b", "a b", "...", "..a/b..", "\xc3\xa4/\xe2\x82\xac", "a=b&c"}) {
        EXPECT_TRUE(check_key(key)) << key;
    }
    EXPECT_TRUE(check_key(std::string(kKeyBytesMax, 'a')));
    EXPECT_FALSE(check_key(std::string(kKeyBytesMax + 1, 'a')));
}

TEST(CheckKey, AnythingElseIsRefusedByTheRuleThatItBreaks) {
    const auto message = [](std::string_view key) {
        const auto checked = check_key(key);
        return checked ? "" : checked.error().message;
    };
    EXPECT_EQ(message(""), "cannot use \"\" as a key: it is empty");
    EXPECT_EQ(message("/a"), "cannot use \"/a\" as a key: it begins with a slash");
    EXPECT_EQ(message("a/"), "cannot use \"a/\" as a key: it ends with a slash");
    EXPECT_EQ(message("a//b"), "cannot use \"a//b\" as a key: it has two slashes in a row");
    EXPECT_EQ(message("a/../b"), "cannot use \"a/../b\" as a key: it has \"..\" as a part");
    EXPECT_EQ(message("a\nb"), "cannot use \"a?b\" as a key: it has a control character");
    EXPECT_EQ(message("a\xff"), "cannot use \"a\" as a key: it is not valid UTF-8");
}

TEST(CheckKey, APrefixMayEndAnywhere) {
    for (const char* prefix : {"", "a", "a/", "a/b", "a/.", "..", "a/.."}) {
        EXPECT_TRUE(check_prefix(prefix)) << prefix;
    }
    for (const char* prefix : {"/", "a//", "../a", "a/./b", "a\nb"}) {
        EXPECT_FALSE(check_prefix(prefix)) << prefix;
    }
}

TEST(CheckKey, AMessageShowsNotMoreThanSomeOfALongKey) {
    EXPECT_EQ(shown_key(std::string(500, 'a')), "\"" + std::string(200, 'a') + "..\"");
}

}  // namespace
}  // namespace baton::stores
