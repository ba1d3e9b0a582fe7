#include "doors/shell/script.h"

#include <string>

#include <gtest/gtest.h>

#include "sql/parser.h"

namespace baton::shell {
namespace {

std::vector<std::string> pieces(std::string_view text) {
    std::vector<std::string> result;
    for (const Part& part : cut_at_semicolons(text)) {
        result.emplace_back(text.substr(part.begin, part.end - part.begin));
    }
    return result;
}

TEST(ScriptTest, SemicolonsInStringsNamesAndCommentsDoNotCut) {
    EXPECT_EQ(pieces("a;b"), (std::vector<std::string>{"a;", "b"}));
    EXPECT_EQ(pieces("a ';' \";\" `;`;"), (std::vector<std::string>{"a ';' \";\" `;`;"}));
    EXPECT_EQ(pieces("a -- ;\n;b"), (std::vector<std::string>{"a -- ;\n;", "b"}));
    EXPECT_EQ(pieces("/* ; /* ; */ ; */ a;"), (std::vector<std::string>{"/* ; /* ; */ ; */ a;"}));
    EXPECT_EQ(pieces(R"('it\'s;';x)"), (std::vector<std::string>{R"('it\'s;';)", "x"}));
    EXPECT_EQ(pieces("/*/;*/a;"), (std::vector<std::string>{"/*/;*/a;"}));
    EXPECT_TRUE(pieces("").empty());
}

TEST(ScriptTest, ATextIsCompleteWhenItsLastStatementIs) {
    EXPECT_TRUE(is_complete("SHOW SINKS;"));
    EXPECT_TRUE(is_complete("SHOW SINKS; -- that is all"));
    EXPECT_TRUE(is_complete("SHOW SINKS; /* that\nis all */ \n"));
    EXPECT_FALSE(is_complete("SHOW SINKS"));
    EXPECT_FALSE(is_complete("SHOW SINKS; SHOW"));
    EXPECT_FALSE(is_complete("SHOW SINKS; /* not yet"));
    EXPECT_FALSE(is_complete("SELECT ';"));
    EXPECT_FALSE(is_complete("-- ;"));
    EXPECT_FALSE(is_complete(""));
}

TEST(ScriptTest, ATransactionGivenAtOnceIsRunAtOnce) {
    const std::string text =
        "SHOW SINKS; BEGIN; DROP SINK a; COMMIT; BEGIN; SHOW SINKS; COMMIT; BEGIN";
    const auto statements = sql::parse(text);
    ASSERT_TRUE(statements);
    std::vector<std::string> groups;
    for (const Part& part : groups_of(text, *statements)) {
        groups.push_back(text.substr(part.begin, part.end - part.begin));
    }
    EXPECT_EQ(groups, (std::vector<std::string>{"SHOW SINKS; ", "BEGIN; DROP SINK a; COMMIT; ",
                                                "BEGIN; ", "SHOW SINKS; ", "COMMIT; ", "BEGIN"}));
}

TEST(ScriptTest, APlaceHasALineAndAColumn) {
    const Position at = position_at("ab\ncd\nef", 7);
    EXPECT_EQ(at.offset, 7U);
    EXPECT_EQ(at.line, 3U);
    EXPECT_EQ(at.column, 2U);
    EXPECT_EQ(position_at("ab", 1).column, 2U);
}

TEST(ScriptTest, SecretsAreNotKept) {
    EXPECT_TRUE(may_be_kept("SHOW SINKS;"));
    EXPECT_FALSE(may_be_kept("CREATE PHYSICAL SOURCE FOR s TYPE MQTT SET ('x' AS SOURCE.PASSWORD"));
}

}  // namespace
}  // namespace baton::shell
