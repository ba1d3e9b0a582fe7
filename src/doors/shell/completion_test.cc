#include "doors/shell/completion.h"

#include <algorithm>

#include <gtest/gtest.h>

#include "sql/vocabulary.h"

namespace baton::shell {
namespace {

using Words = std::vector<std::string>;

Words complete(std::string_view text) {
    return completions(text, [](sql::EntityKind kind) -> Words {
        if (kind == sql::EntityKind::logical_source) return {"ORDERS", "READINGS"};
        if (kind == sql::EntityKind::sink) return {"ALERTS", "ARCHIVE", "\"mixed Case\""};
        if (kind == sql::EntityKind::query) return {"HOT"};
        if (kind == sql::EntityKind::worker) return {"w1", "w2"};
        EXPECT_NE(sql::row_of(kind).known_by, sql::KnownBy::number) << "names of what has none";
        return {"NIGHTLY"};
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

TEST(CompletionTest, EveryWordOfTheVocabularyIsOffered) {
    for (const sql::Shown& shown : sql::kShown) {
        const Words offered = complete("SHOW " + std::string(shown.words.substr(0, 2)));
        EXPECT_EQ(std::count(offered.begin(), offered.end(), shown.words), 1) << shown.words;
    }
    for (const sql::Form& form : sql::kForms) {
        const auto& [verb, object, in_tag] = form.opening;
        const bool runs = form.effect != sql::Effect::none;
        const Words verbs = complete(verb.substr(0, 2));
        EXPECT_EQ(std::count(verbs.begin(), verbs.end(), verb), runs ? 1 : 0) << verb;
        if (object.empty()) continue;
        const Words objects = complete(std::string(verb) + " ");
        EXPECT_EQ(std::count(objects.begin(), objects.end(), object), 1) << verb << " " << object;
    }
}

TEST(CompletionTest, EveryKindWithANameIsNamedBehindItsWords) {
    EXPECT_EQ(complete("DROP TASK LIST "), Words{"NIGHTLY"});
    for (const sql::Kind& kind : sql::kKinds) {
        const Words offered = complete("DROP " + std::string(kind.words) + " ");
        const bool names = std::count(offered.begin(), offered.end(), "WHERE") == 0;
        EXPECT_EQ(names, kind.known_by != sql::KnownBy::number) << kind.words;
    }
}

TEST(CompletionTest, TheLastWordBeginsAfterASpaceOrAMark) {
    EXPECT_EQ(last_word("SELECT a,b"), 9U);
    EXPECT_EQ(last_word("SELECT "), 7U);
    EXPECT_EQ(last_word(""), 0U);
}

}  // namespace
}  // namespace baton::shell
