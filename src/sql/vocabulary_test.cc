#include "sql/vocabulary.h"

#include <map>
#include <set>

#include <gtest/gtest.h>

#include "sql/parser.h"
#include "sql/printer.h"

namespace baton::sql {
namespace {

// One text of each form.
const std::map<std::string, std::string>& examples() {
    static const std::map<std::string, std::string> kExamples = {
        {"CREATE LOGICAL SOURCE", "CREATE LOGICAL SOURCE s (a INT8)"},
        {"CREATE PHYSICAL SOURCE", "CREATE PHYSICAL SOURCE FOR s TYPE Generator"},
        {"CREATE SINK", "CREATE SINK k (a INT8) TYPE Void"},
        {"CREATE WORKER", "CREATE WORKER 'a:1'"},
        {"CREATE TASK LIST", "CREATE TASK LIST t PARTITIONS 4"},
        {"CREATE QUERY", "CREATE QUERY q AS SELECT a FROM s INTO k"},
        {"SELECT", "SELECT a FROM s"},
        {"CREATE TABLE", "CREATE TABLE t (a BIGINT)"},
        {"WITH", "WITH x AS (SELECT 1) SELECT * FROM x"},
        {"INSERT", "INSERT INTO t VALUES (1)"},
        {"VACUUM", "VACUUM t"},
        {"DROP TABLE", "DROP TABLE t"},
        {"DROP LOGICAL SOURCE", "DROP LOGICAL SOURCE s"},
        {"DROP PHYSICAL SOURCE", "DROP PHYSICAL SOURCE 1"},
        {"DROP SINK", "DROP SINK k"},
        {"DROP WORKER", "DROP WORKER w"},
        {"DROP TASK LIST", "DROP TASK LIST t"},
        {"DROP QUERY", "DROP QUERY q"},
        {"STOP QUERY", "STOP QUERY q"},
        {"DRAIN WORKER", "DRAIN WORKER w"},
        {"RESUME WORKER", "RESUME WORKER w"},
        {"SHOW", "SHOW QUERIES"},
        {"EXPLAIN", "EXPLAIN SELECT a FROM s"},
        {"WATCH", "WATCH SHOW QUERIES"},
        {"BEGIN", "BEGIN"},
        {"COMMIT", "COMMIT"},
        {"ROLLBACK", "ROLLBACK"},
        {"CANCEL", "CANCEL QUERY q"},
        {"WAIT", "WAIT FOR QUERY q"},
        {"ACQUIRE LOCK", "ACQUIRE LOCK l OWNER 'o' TTL 1 SEC"},
        {"RENEW LOCK", "RENEW LOCK l OWNER 'o' EPOCH 1 TTL 1 SEC"},
        {"RELEASE LOCK", "RELEASE LOCK l OWNER 'o' EPOCH 1"},
        {"ENABLE LOCK", "ENABLE LOCK l"},
        {"DISABLE LOCK", "DISABLE LOCK l"},
        {"DROP LOCK", "DROP LOCK l"},
    };
    return kExamples;
}

TEST(Vocabulary, AStatementHasTheFormThatItIsWrittenIn) {
    for (const Form& form : kForms) {
        const std::string tag = tag_of(form);
        const auto example = examples().find(tag);
        ASSERT_NE(example, examples().end()) << "no example of " << tag;
        const auto statement = parse_one(example->second, {}, Questions::accepted);
        ASSERT_TRUE(statement) << to_string(statement.error());
        EXPECT_EQ(&form_of(*statement), &form) << tag;
        EXPECT_EQ(tag_of(*statement), tag);
        EXPECT_EQ(changes_catalog(*statement), form.effect == Effect::catalog) << tag;
    }
    EXPECT_EQ(examples().size(), kForms.size());
}

TEST(Vocabulary, AStatementBeginsWithTheWordsOfItsForm) {
    for (const Form& form : kForms) {
        std::string words(form.opening.verb);
        if (!form.opening.object.empty()) words += " " + std::string(form.opening.object);
        EXPECT_TRUE(examples().at(tag_of(form)).starts_with(words)) << words;
    }
}

TEST(Vocabulary, EveryWordOfShowIsParsedAndPrinted) {
    for (const Shown& shown : kShown) {
        for (const std::string_view before : {"SHOW ", "WATCH SHOW "}) {
            const std::string text = std::string(before) + std::string(shown.words);
            const auto statement = parse_one(text);
            ASSERT_TRUE(statement) << to_string(statement.error());
            EXPECT_EQ(print(*statement), text);
            if (const auto* show = std::get_if<Show>(&statement->node)) {
                EXPECT_EQ(show->what, shown.what) << text;
            }
        }
    }
}

TEST(Vocabulary, EveryKindIsDroppedByItsWords) {
    for (const Kind& kind : kKinds) {
        const std::string text = "DROP " + std::string(kind.words) + " WHERE A = 1";
        const auto statement = parse_one(text);
        ASSERT_TRUE(statement) << to_string(statement.error());
        EXPECT_EQ(print(*statement), text);
        EXPECT_EQ(std::get<Drop>(statement->node).kind, kind.kind) << text;
    }
}

TEST(Vocabulary, EveryKindIsListedByAViewOfItsOwn) {
    std::set<std::string_view> views;
    for (const Kind& kind : kKinds) {
        EXPECT_TRUE(views.insert(view_of(kind)).second) << kind.words;
        EXPECT_EQ(kind_in_view(view_of(kind)), &kind);
    }
    EXPECT_EQ(kind_in_view("COUNTERS"), nullptr);
    EXPECT_EQ(kind_in_view(""), nullptr);
}

}  // namespace
}  // namespace baton::sql
