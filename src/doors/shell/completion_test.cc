#include "doors/shell/completion.h"

#include <gtest/gtest.h>

namespace baton::shell {
namespace {

using Words = std::vector<std::string>;

Words complete(std::string_view text) {
    return completions(text, [](Named what) -> Words {
        switch (what) {
            case Named::sources:
                return {"ORDERS", "READINGS"};
            case Named::sinks:
                return {"ALERTS", "ARCHIVE", "\"mixed Case\""};
            case Named::queries:
                return {"HOT"};
            case Named::workers:
                return {"w1", "w2"};
        }
        return {};
    });
}

TEST(CompletionTest, AStatementBeginsWithAWordThatMayBeginOne) {
    EXPECT_EQ(complete("SH"), Words{"SHOW"});
    EXPECT_EQ(complete("SHOW SINKS; dr"), (Words{"drain", "drop"}));
    EXPECT_EQ(complete("nothing").size(), 0U);
}

TEST(CompletionTest, NamesStandWhereTheyMay) {
    EXPECT_EQ(complete("STOP QUERY "), Words{"HOT"});
    EXPECT_EQ(complete("DROP SINK a"), (Words{"alerts", "archive"}));
    EXPECT_EQ(complete("DRAIN WORKER "), (Words{"w1", "w2"}));
    EXPECT_EQ(complete("SELECT x FROM ord"), Words{"orders"});
    EXPECT_EQ(complete("SELECT x FROM orders INTO AR"), Words{"ARCHIVE"});
    EXPECT_EQ(complete("CREATE PHYSICAL SOURCE FOR R"), Words{"READINGS"});
    EXPECT_EQ(complete("SELECT x FROM baton.query_si"), Words{"baton.query_sinks"});
}

TEST(CompletionTest, WhatIsMadeHasANameOfItsOwn) {
    EXPECT_EQ(complete("CREATE SINK a"), (Words{"and", "as", "avg"}));
    EXPECT_EQ(complete("CREATE QUERY H"), Words{"HAVING"});
}

TEST(CompletionTest, ShowTellsWhatItCanShow) {
    EXPECT_EQ(complete("SHOW w"), Words{"workers"});
    EXPECT_EQ(complete("show LOG"), Words{"LOGICAL SOURCES"});
    EXPECT_EQ(complete("WATCH SHOW Q"), Words{"QUERIES"});
}

TEST(CompletionTest, TheLastWordBeginsAfterASpaceOrAMark) {
    EXPECT_EQ(last_word("SELECT a,b"), 9U);
    EXPECT_EQ(last_word("SELECT "), 7U);
    EXPECT_EQ(last_word(""), 0U);
}

}  // namespace
}  // namespace baton::shell
