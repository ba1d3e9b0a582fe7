#include <gtest/gtest.h>

#include "sql/parser.h"
#include "sql/printer.h"
#include "sql/question_text.h"

namespace baton::sql {
namespace {

// The text of the statements in normal form, or the error.
std::string normal_form(std::string_view text) {
    const auto statements = parse(text, {}, {}, Questions::accepted);
    if (!statements) return to_string(statements.error());
    std::string all;
    for (const Statement& one : *statements) {
        if (!all.empty()) all += "; ";
        if (std::holds_alternative<Question>(one.node)) all += "question: ";
        all += print(one);
    }
    return all;
}

TEST(Tables, CreateTableIsReadAndPrinted) {
    EXPECT_EQ(normal_form("create table t (Id int8 not null, \"Name\" text, price numeric(10, 2), "
                          "tags text[], at timestamp null)"),
              "CREATE TABLE T (id BIGINT NOT NULL, \"Name\" VARCHAR, price DECIMAL(10,2), "
              "tags VARCHAR[], at TIMESTAMP)");
    EXPECT_EQ(normal_form("CREATE TABLE IF NOT EXISTS t (a DOUBLE PRECISION) "
                          "SET ('s3://b/p' AS TABLE.LOCATION)"),
              "CREATE TABLE IF NOT EXISTS T (a DOUBLE) SET ('s3://b/p' AS TABLE.LOCATION)");
    EXPECT_EQ(normal_form("CREATE TABLE t TYPE Files SET ('/d/*.parquet' AS TABLE.LOCATION)"),
              "CREATE TABLE T TYPE FILES SET ('/d/*.parquet' AS TABLE.LOCATION)");
    EXPECT_EQ(normal_form("CREATE TABLE t AS SELECT 1 AS x ; SHOW TABLES"),
              "CREATE TABLE T AS SELECT 1 AS x; SHOW TABLES");
    EXPECT_EQ(normal_form("CREATE TABLE public.t (a INT)"), "CREATE TABLE T (a INTEGER)");
    EXPECT_EQ(normal_form("CREATE TABLE baton.public.t (a INT)"), "CREATE TABLE T (a INTEGER)");
}

TEST(Tables, WhatIsNoTableIsRefusedAtItsPlace) {
    EXPECT_EQ(normal_form("CREATE TABLE t (a INTT)").substr(0, 22), "error 2006 at 1:19: un");
    EXPECT_EQ(normal_form("CREATE TABLE t (a INT,)").substr(0, 20), "error 2000 at 1:23: ");
    EXPECT_EQ(normal_form("CREATE TABLE t (a)").substr(0, 20), "error 2000 at 1:18: ");
    EXPECT_EQ(normal_form("CREATE TABLE t (a INT PRIMARY KEY)").substr(0, 20),
              "error 2001 at 1:23: ");
    EXPECT_EQ(normal_form("CREATE TABLE t").substr(0, 20), "error 2000 at 1:15: ");
    EXPECT_EQ(normal_form("CREATE TABLE other.t (a INT)").substr(0, 20), "error 2001 at 1:19: ");
    EXPECT_EQ(normal_form("CREATE TABLE t (a INT[)").substr(0, 20), "error 2000 at 1:22: ");
}

TEST(Tables, InsertTakesConstantsAsTheyAreAndTheRestAsAQuestion) {
    EXPECT_EQ(
        normal_form("insert into t values (1, -2.5, 'x', null, true), (2, 3.0, '', 1, false)"),
        "INSERT INTO T VALUES (1, -2.5, 'x', NULL, TRUE), (2, 3.0, '', 1, FALSE)");
    EXPECT_EQ(normal_form("INSERT INTO t (a, \"B\") SET ('k1' AS INSERT.KEY) VALUES (1, 2)"),
              "INSERT INTO T (a, \"B\") SET ('k1' AS INSERT.KEY) VALUES (1, 2)");
    EXPECT_EQ(normal_form("INSERT INTO t VALUES (1 + 1, now()) ; VACUUM t"),
              "INSERT INTO T VALUES (1 + 1, now()); VACUUM T");
    EXPECT_EQ(normal_form("INSERT INTO t (a) SELECT x::int FROM u WHERE y ~ ';'"),
              "INSERT INTO T (a) SELECT x::int FROM u WHERE y ~ ';'");
    EXPECT_EQ(normal_form("INSERT INTO t (SELECT 1)"), "INSERT INTO T (SELECT 1)");
    EXPECT_EQ(normal_form("INSERT INTO t VALUES (1, 2), (3)").substr(0, 20),
              "error 2002 at 1:31: ");
    EXPECT_EQ(normal_form("INSERT INTO t").substr(0, 20), "error 2000 at 1:14: ");
    EXPECT_EQ(normal_form("INSERT INTO t DEFAULT VALUES").substr(0, 20), "error 2001 at 1:15: ");
}

TEST(Tables, AStatementBeyondTheGrammarOfStreamsIsAQuestion) {
    EXPECT_EQ(normal_form("SELECT a FROM s; SELECT a FROM s ORDER BY a; SHOW QUERIES"),
              "SELECT A FROM S; question: SELECT a FROM s ORDER BY a; SHOW QUERIES");
    EXPECT_EQ(normal_form("WITH x AS (SELECT 1) SELECT * FROM x"),
              "question: WITH x AS (SELECT 1) SELECT * FROM x");
    EXPECT_EQ(normal_form("VALUES (1), (2)"), "question: VALUES (1), (2)");
    EXPECT_EQ(normal_form("(SELECT 1) UNION ALL (SELECT 2)"),
              "question: (SELECT 1) UNION ALL (SELECT 2)");
    EXPECT_EQ(normal_form("SELECT $$;$$, E'\\';', \"a;\"; BEGIN"),
              "question: SELECT $$;$$, E'\\';', \"a;\"; BEGIN");
}

TEST(Tables, WithoutQuestionsTheGrammarOfStreamsHasTheLastWord) {
    EXPECT_FALSE(parse("SELECT a FROM s ORDER BY a"));
    EXPECT_FALSE(parse("VALUES (1)"));
    EXPECT_EQ(parse("WITH x AS (SELECT 1) SELECT * FROM x").error().code, ErrorCode::not_supported);
}

TEST(Tables, ASelectRemembersItsText) {
    const auto statements = parse("BEGIN;  SELECT a FROM s -- why\n;", {}, {}, Questions::accepted);
    ASSERT_TRUE(statements);
    EXPECT_EQ(std::get<SelectOnce>((*statements)[1].node).written.text, "SELECT a FROM s -- why");
}

TEST(Tables, PositionsBehindAQuestionAreTrue) {
    const auto refused =
        parse("SELECT 1\n ORDER BY 1;\n  CREATE NOTHING", {}, {}, Questions::accepted);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().at->line, 3U);
    EXPECT_EQ(refused.error().at->column, 10U);
}

TEST(QuestionText, EndsAtTheFirstSemicolonThatIsNotQuoted) {
    const auto end = [](std::string_view text) { return question_end(text, 0); };
    EXPECT_EQ(end("a;b"), 1U);
    EXPECT_EQ(end("a"), 1U);
    EXPECT_EQ(end("';'';' ;"), 7U);
    EXPECT_EQ(end("E'\\';' ;"), 7U);
    EXPECT_EQ(end("ae'\\';'"), 5U);
    EXPECT_EQ(end("-- ;\n;"), 5U);
    EXPECT_EQ(end("/* ; /* ; */ ; */;"), 17U);
    EXPECT_EQ(end("$a$ ; $b$ $a$;"), 13U);
    EXPECT_EQ(end("$1;"), 2U);
    EXPECT_EQ(end("a$b$;"), 4U);
    for (const std::string_view open : {"'", "\"", "/*", "$$", "$a$", "E'\\", "--", "$"}) {
        EXPECT_EQ(end(open), open.size()) << open;
    }
}

}  // namespace
}  // namespace baton::sql
