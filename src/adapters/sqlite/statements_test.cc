#include "adapters/sqlite/statements.h"

#include <string>

#include <gtest/gtest.h>

namespace baton::sqlite {
namespace {

// The cache never looks into a statement, so null stands for one: what counts is what is found.
std::string text(std::size_t i) {
    return "SELECT " + std::to_string(i);
}

TEST(Statements, DropsTheOneNotUsedForLongestWhenFull) {
    Statements statements;
    for (std::size_t i = 0; i < kStatementsMax; ++i) statements.keep(text(i), nullptr);
    EXPECT_EQ(statements.size(), kStatementsMax);
    EXPECT_TRUE(statements.has(text(0)));

    (void)statements.find(text(0));
    statements.keep("SELECT 'one more'", nullptr);
    EXPECT_EQ(statements.size(), kStatementsMax);
    EXPECT_TRUE(statements.has(text(0)));
    EXPECT_FALSE(statements.has(text(1)));
    EXPECT_TRUE(statements.has(text(2)));
}

TEST(Statements, FindsByTextWhateverTheTextIsStoredIn) {
    Statements statements;
    statements.keep(std::string("SELECT 1"), nullptr);
    EXPECT_TRUE(statements.has(std::string_view("SELECT 1 FROM t").substr(0, 8)));
    EXPECT_FALSE(statements.has("SELECT 1 "));
}

}  // namespace
}  // namespace baton::sqlite
