#include "slt/script.h"

#include <gtest/gtest.h>

#include "slt/compare.h"

namespace baton::slt {
namespace {

TEST(SltScript, StatementsDataAndExpectationsAreFound) {
    const auto script = read_script(
        "# name: a test\n"
        "# groups: [A]\n"
        "GlobalConfiguration worker.x: [1, 2]\n"
        "SEQUENTIAL_EXECUTION\n"
        "\n"
        "CREATE LOGICAL SOURCE s (a INT32,\n"
        "  b VARSIZED -- not the end;\n"
        ");\n"
        "CREATE PHYSICAL SOURCE FOR s TYPE File;\n"
        "ATTACH INLINE\n"
        "1,x\n"
        "2,y;z\n"
        "\n"
        "CREATE PHYSICAL SOURCE FOR s TYPE File;\n"
        "ATTACH FILE small/x.csv\n"
        "\n"
        "SELECT a FROM s WHERE b = 'x;y' INTO k;\n"
        "----\n"
        "1\n"
        "\n"
        "SELECT nothing FROM s INTO k;\n"
        "----\n"
        "ERROR 2004 unknown field\n"
        "\n"
        "SELECT a FROM s INTO k;\n"
        "====\n"
        "SELECT a + 0 FROM s\n"
        "INTO k;\n"
        "\n"
        "SELECT a FROM s WHERE a > 9 INTO k;\n"
        "----\n");
    ASSERT_TRUE(script) << to_string(script.error());
    ASSERT_EQ(script->items.size(), 7U);
    EXPECT_EQ(script->notes.size(), 2U);
    EXPECT_EQ(script->items[0].line, 6U);
    EXPECT_EQ(script->items[1].attached, (Attach{.file = {}, .rows = {"1,x", "2,y;z"}}));
    EXPECT_EQ(script->items[2].attached, (Attach{.file = "small/x.csv", .rows = {}}));
    EXPECT_EQ(script->items[3].expected, Expectation(ExpectRows{.rows = {"1"}}));
    EXPECT_EQ(script->items[4].expected, Expectation(ExpectError{.code = 2004}));
    EXPECT_EQ(script->items[5].expected,
              Expectation(ExpectSame{.query = "SELECT a + 0 FROM s\nINTO k;", .line = 27}));
    EXPECT_EQ(script->items[6].expected, Expectation(ExpectRows{}));
}

TEST(SltScript, ALineMayHaveSeveralStatementsAndAStatementComments) {
    const auto script = read_script(
        "CREATE SINK a (x INT8) TYPE Void; CREATE SINK b (x INT8) TYPE Void; -- two\n"
        "SELECT x\n"
        "# of all\n"
        "FROM s INTO a;;\n"
        "----\n");
    ASSERT_TRUE(script) << to_string(script.error());
    ASSERT_EQ(script->items.size(), 3U);
    EXPECT_EQ(script->items[0].statement, "CREATE SINK a (x INT8) TYPE Void;");
    EXPECT_EQ(script->items[1].statement, " CREATE SINK b (x INT8) TYPE Void;");
    EXPECT_EQ(script->items[2].statement, "SELECT x\nFROM s INTO a;");
    EXPECT_EQ(script->items[2].expected, Expectation(ExpectRows{}));
}

TEST(SltScript, TheTextOfAnExplainMayHaveEmptyLines) {
    const auto script = read_script(
        "EXPLAIN SELECT a FROM s INTO k;\n"
        "----\n"
        "LOGICAL\n"
        "\n"
        "more\n"
        "==END==\n"
        "EXPLAIN SELECT a FROM s INTO k;\n"
        "----\n"
        "<REGEX>SCAN.*S</REGEX>\n"
        "<!REGEX>JOIN</!REGEX>\n"
        "\n");
    ASSERT_TRUE(script) << to_string(script.error());
    ASSERT_EQ(script->items.size(), 2U);
    EXPECT_EQ(script->items[0].expected, Expectation(ExpectText{.text = "LOGICAL\n\nmore\n"}));
    EXPECT_EQ(script->items[1].expected,
              Expectation(ExpectPattern{.patterns = {{.regex = "SCAN.*S", .matches = true},
                                                     {.regex = "JOIN", .matches = false}}}));
}

TEST(SltScript, AStatementWithoutAnEndIsNamedByItsLine) {
    const auto script = read_script("\nCREATE SINK x\n");
    ASSERT_FALSE(script);
    EXPECT_EQ(script.error().code, ErrorCode::syntax);
    EXPECT_FALSE(read_script("----\n1\n"));
}

TEST(SltCompare, RowsAreABagOfCellsBetweenCommasOrSpaces) {
    EXPECT_TRUE(compare_rows({"1, 2", "3 4"}, {"3,4", "1,2"}).none());
    EXPECT_TRUE(compare_rows({"1   a"}, {"1,a"}).none());
    EXPECT_FALSE(compare_rows({"1,2", "1,2"}, {"1,2"}).none());
    EXPECT_FALSE(compare_rows({"1,2"}, {"1,2,3"}).none());
}

TEST(SltCompare, NumbersWithAFractionMayDifferALittleOthersMayNot) {
    EXPECT_TRUE(compare_rows({"1.000001,a"}, {"1.0,a"}).none());
    EXPECT_TRUE(compare_rows({"2"}, {"2.0"}).none());
    EXPECT_FALSE(compare_rows({"1.001"}, {"1.0"}).none());
    EXPECT_FALSE(compare_rows({"100000001"}, {"100000002"}).none());
    EXPECT_TRUE(compare_rows({"nan"}, {"NaN"}).none());
}

TEST(SltCompare, AnEmptyCellIsNullAndTruthHasTwoSpellings) {
    EXPECT_TRUE(compare_rows({"1,,true"}, {"1,NULL,1"}).none());
    EXPECT_TRUE(compare_rows({"1,"}, {"1,NULL"}).none());
    EXPECT_FALSE(compare_rows({"1"}, {"1,NULL"}).none());
}

TEST(SltCompare, WhatDiffersIsShown) {
    const auto difference = compare_rows({"1,2", "3,4"}, {"3,4", "5,6"});
    EXPECT_EQ(to_string(difference), "    - 1,2\n    + 5,6\n");
}

}  // namespace
}  // namespace baton::slt
