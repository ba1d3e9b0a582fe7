#include "doors/pg/server/statements.h"

#include <gtest/gtest.h>

#include "base/overload.h"
#include "doors/pg/catalog/tokens.h"
#include "sql/vocabulary.h"

namespace baton::pgserver {
namespace {

std::string told(const Statement& statement) {
    std::string who = std::visit(
        Overload{
            [](const ForSession& s) -> std::string { return s.watches ? "watch" : "session"; },
            [](const ForCatalog& s) -> std::string {
                return s.calculates ? "catalog or question" : "catalog";
            },
            [](const DeclareCursor& s) -> std::string {
                return "declare " + s.name + (s.holds ? " with hold" : "") +
                       (s.catalog ? " of the catalog" : "");
            },
            [](const FetchCursor& s) -> std::string {
                return (s.moves ? "move " : "fetch ") + std::to_string(s.rows) + " of " + s.name;
            },
            [](const CloseCursor& s) -> std::string { return "close " + s.name.value_or("all"); },
            [](const CopyIn& s) -> std::string {
                return std::string("copy in ") + (s.format.binary ? "binary"
                                                  : s.format.csv  ? "csv"
                                                                  : "text");
            },
            [](const EndTransaction& s) -> std::string { return s.commit ? "commit" : "rollback"; },
            [](const SetParameter& s) {
                return "set " + s.name + "=" + s.value.value_or("DEFAULT");
            },
            [](const ShowParameter& s) { return "show " + s.name; },
            [](const Forget& s) { return "forget " + s.tag; },
            [](const Refuse& s) { return "refuse " + s.report.sqlstate; },
        },
        statement.answerer);
    if (statement.copy) who += statement.copy->csv ? " as csv" : " as text";
    return who;
}

std::string who(std::string_view text) {
    std::string all;
    for (const Statement& statement : statements_of(text)) {
        all += (all.empty() ? "" : "; ") + told(statement);
    }
    return all;
}

TEST(Statements, OursGoToTheSession) {
    EXPECT_EQ(who("SHOW QUERIES; CREATE SINK k (a INT8) TYPE Void;; DROP QUERY q;"),
              "session; session; session");
    EXPECT_EQ(who("SELECT a FROM s INTO k; SELECT name FROM baton.workers"), "session; session");
    EXPECT_EQ(who("SELECT a FROM pg_like INTO k"), "session");
    EXPECT_EQ(who("SELECT * FROM \"BATON\".workers WHERE name = 'pg_x'"), "session");
    EXPECT_EQ(who("WATCH SHOW QUERIES"), "watch");
    EXPECT_EQ(who("BEGIN; COMMIT; ROLLBACK; END; ABORT"),
              "session; commit; rollback; commit; rollback");
}

// What the parser knows behind SHOW is never taken for a parameter of PostgreSQL.
TEST(Statements, EveryWordOfShowGoesToTheSession) {
    for (const sql::Shown& shown : sql::kShown) {
        const std::string words(shown.words);
        EXPECT_EQ(who("SHOW " + words + "; show " + pg::to_lower(words)), "session; session");
        EXPECT_EQ(who("WATCH SHOW " + words), "watch");
        EXPECT_EQ(who("COPY (SHOW " + words + ") TO STDOUT"), "session as text");
    }
    EXPECT_EQ(who("SHOW SOURCES"), "session");  // which says what to write instead
}

// Each begins with words of ours; BEGIN, COMMIT and ROLLBACK are PostgreSQL's, too.
TEST(Statements, EveryStatementOfOursGoesToTheSession) {
    for (const sql::Form& form : sql::kForms) {
        if (form.effect == sql::Effect::transaction) continue;
        const std::string text =
            std::string(form.opening.verb) + " " + std::string(form.opening.object) + " x FROM y";
        EXPECT_EQ(who(text), form.opening.verb == "WATCH" ? "watch" : "session") << text;
    }
}

// A first word alone decides nothing: these began, committed and rolled back transactions.
TEST(Statements, AFirstWordAloneBeginsAndEndsNoTransaction) {
    EXPECT_EQ(
        who("START QUERY x; END QUERY x; ABORT QUERY x; COMMIT QUERY x; BEGIN QUERY x; START"),
        "session; session; session; session; session; session");
    EXPECT_EQ(
        who("RELEASE LOCK x OWNER 'y'; ROLLBACK x; COMMIT AND; END AND CHAIN x; COMMIT WORK 1"),
        "session; session; session; session; session");
    EXPECT_EQ(who("START TRANSACTION READ ONLY; BEGIN WORK; END WORK; ABORT TRANSACTION; "
                  "COMMIT AND NO CHAIN; ROLLBACK AND CHAIN; ROLLBACK TO SAVEPOINT a; SAVEPOINT a; "
                  "RELEASE a"),
              "session; session; commit; rollback; commit; refuse 0A000; refuse 0A000; "
              "refuse 0A000; refuse 0A000");
}

TEST(Statements, TooManyAreRefusedTogether) {
    std::string text;
    for (int i = 0; i < 20'000; ++i) text += "a;";
    EXPECT_EQ(who(text), "refuse 54000");
    EXPECT_EQ(who("SHOW " + std::string(2 << 20, 'x')), "refuse 54000");
}

TEST(Statements, AboutPostgresGoesToItsCatalog) {
    EXPECT_EQ(who("SELECT 1"), "catalog");
    EXPECT_EQ(who("SELECT version()"), "catalog");
    EXPECT_EQ(who("SELECT * FROM pg_class"), "catalog");
    EXPECT_EQ(who("select n.nspname from pg_catalog.pg_namespace n"), "catalog");
    EXPECT_EQ(who("SELECT * FROM information_schema.tables"), "catalog");
}

TEST(Statements, ParametersAreSetAndShown) {
    EXPECT_EQ(who("SET x = 5; SET LOCAL x.y TO 'a b'; SET SESSION z = DEFAULT"),
              "set x=5; set x.y=a b; set z=DEFAULT");
    EXPECT_EQ(who("SET search_path = a, \"B\"; SET TIME ZONE 'UTC'; SET NAMES 'utf8'"),
              "set search_path=a, B; set timezone=UTC; set client_encoding=utf8");
    EXPECT_EQ(who("SHOW server_version; SHOW ALL; SHOW TIME ZONE"),
              "show server_version; show all; show timezone");
    EXPECT_EQ(who("SHOW TRANSACTION ISOLATION LEVEL"), "show transaction_isolation");
    EXPECT_EQ(who("RESET x; RESET ALL; DISCARD ALL; DEALLOCATE ALL; UNLISTEN *"),
              "set x=DEFAULT; forget RESET; forget DISCARD ALL; forget DEALLOCATE; "
              "forget UNLISTEN");
    EXPECT_EQ(who("SET SESSION CHARACTERISTICS AS TRANSACTION READ WRITE"), "forget SET");
    EXPECT_EQ(who("SET x"), "refuse 42601");
    EXPECT_EQ(who("SET ROLE admin"), "refuse 0A000");
}

TEST(Statements, WhatIsNotThereIsRefused) {
    for (const char* text :
         {"SAVEPOINT a", "ROLLBACK TO a", "RELEASE a", "LISTEN x",
          "PREPARE a AS "
          "SELECT 1",
          "DECLARE c SCROLL CURSOR FOR SELECT 1", "FETCH PRIOR FROM c", "COMMIT AND CHAIN",
          "COPY baton.links FROM STDIN", "COPY (DROP QUERY q) TO STDOUT",
          "COPY (SELECT a FROM s INTO k) TO STDOUT",
          "COPY baton.links TO STDOUT (FORMAT binary)"}) {
        EXPECT_EQ(who(text), "refuse 0A000") << text;
    }
}

TEST(Statements, CopiesKnowTheirFormat) {
    EXPECT_EQ(who("COPY (SHOW LINKS) TO STDOUT"), "session as text");
    EXPECT_EQ(who("COPY (SHOW LINKS) TO STDOUT (FORMAT csv, DELIMITER '\"')"), "refuse 22023");
    EXPECT_EQ(who("COPY baton.links TO STDOUT WITH (FORMAT csv, HEADER)"), "session as csv");
    EXPECT_EQ(who("COPY (WATCH SHOW LINKS) TO STDOUT CSV HEADER"), "watch as csv");
    EXPECT_EQ(who("COPY (SELECT 1) TO STDOUT"), "catalog as text");
    const auto copies =
        statements_of("COPY ( SHOW LINKS ) TO STDOUT (FORMAT 'csv', DELIMITER ';', NULL 'x')");
    ASSERT_EQ(copies.size(), 1U);
    EXPECT_EQ(copies[0].text, "SHOW LINKS");
    EXPECT_EQ(copies[0].at, 7U);
    EXPECT_EQ(copies[0].copy, (CopyFormat{.csv = true, .delimiter = ';', .null = "x"}));
}

TEST(Statements, RowsAreCopiedInByAnInsert) {
    EXPECT_EQ(who("COPY t FROM STDIN"), "copy in text");
    EXPECT_EQ(who("COPY t FROM STDIN WITH (FORMAT binary)"), "copy in binary");
    EXPECT_EQ(who("COPY t FROM 'file'"), "refuse 0A000");
    EXPECT_EQ(who("COPY t FROM STDIN (FREEZE)"), "refuse 0A000");
    const auto copies = statements_of(
        "COPY t (a, \"B\") FROM STDIN (FORMAT csv, HEADER, QUOTE '''', ESCAPE '\\\\', NULL '-')");
    ASSERT_EQ(copies.size(), 1U);
    EXPECT_EQ(copies[0].text, "INSERT INTO t (a, \"B\") VALUES (NULL, NULL)");
    const auto* copy = std::get_if<CopyIn>(&copies[0].answerer);
    ASSERT_NE(copy, nullptr);
    EXPECT_EQ(copy->format, (CopyFormat{.csv = true,
                                        .header = true,
                                        .delimiter = ',',
                                        .null = "-",
                                        .quote = '\'',
                                        .escape = '\\'}));
}

TEST(Statements, CalculationsAreQuestionsWhereThereAreSome) {
    EXPECT_EQ(who("SELECT $1::int"), "catalog or question");
    EXPECT_EQ(who("SELECT abs(-1) AS a"), "catalog or question");
    EXPECT_EQ(who("SELECT DATE '2026-01-01'"), "catalog or question");
    EXPECT_EQ(who("SELECT 1 AS one"), "catalog");
    EXPECT_EQ(who("SELECT current_schema()"), "catalog");
    EXPECT_EQ(who("SELECT current_setting('x')::int"), "catalog");
    EXPECT_EQ(who("SELECT 'a'::regclass"), "catalog");
    EXPECT_EQ(who("SELECT i FROM generate_series(1, 3) AS t(i)"), "session");
}

TEST(Statements, CursorsGoForward) {
    EXPECT_EQ(who("DECLARE c CURSOR FOR SELECT * FROM baton.links"), "declare c");
    EXPECT_EQ(who("DECLARE \"C d\" NO SCROLL CURSOR WITH HOLD FOR SELECT 1"),
              "declare C d with hold of the catalog");
    EXPECT_EQ(who("FETCH c; FETCH NEXT FROM c; FETCH 5 FROM c; FETCH FORWARD 7 IN c; FETCH ALL c"),
              "fetch 1 of c; fetch 1 of c; fetch 5 of c; fetch 7 of c; fetch 0 of c");
    EXPECT_EQ(who("FETCH FORWARD ALL FROM c; MOVE FORWARD 2 FROM c; CLOSE c; CLOSE ALL"),
              "fetch 0 of c; move 2 of c; close c; close all");
    EXPECT_EQ(who("DECLARE c CURSOR; FETCH; CLOSE; FETCH -1 FROM c"),
              "refuse 42601; refuse 42601; refuse 42601; refuse 0A000");
    const auto cut = statements_of("DECLARE c CURSOR FOR  SELECT 1 ;");
    ASSERT_EQ(cut.size(), 1U);
    EXPECT_EQ(cut[0].text, "SELECT 1");
    EXPECT_EQ(cut[0].at, 22U);
}

TEST(Statements, AreCutWhereTheyEnd) {
    const auto cut =
        statements_of("  SHOW LINKS ; -- a; b\n SELECT 'x;\\';' FROM baton.x /* ; */;");
    ASSERT_EQ(cut.size(), 2U);
    EXPECT_EQ(cut[0].text, "SHOW LINKS");
    EXPECT_EQ(cut[0].at, 2U);
    EXPECT_EQ(cut[1].text, "SELECT 'x;\\';' FROM baton.x");
    EXPECT_TRUE(statements_of(" ; -- nothing\n;").empty());
    EXPECT_EQ(who("SELECT 'has no end"), "catalog");
}

TEST(Statements, HowATransactionIsIsolatedDoesNotMatter) {
    const auto begins =
        statements_of("BEGIN ISOLATION LEVEL SERIALIZABLE READ ONLY; START TRANSACTION");
    ASSERT_EQ(begins.size(), 2U);
    EXPECT_EQ(begins[0].text.substr(0, 7), "BEGIN  ");
    EXPECT_EQ(begins[1].text.substr(0, 7), "BEGIN  ");
    EXPECT_EQ(told(begins[1]), "session");
}

TEST(Statements, FunctionsOfPostgresqlsServerAreThoseOfItsCatalog) {
    for (const std::string text : {"SELECT pg_is_in_recovery()", "SELECT pg_backend_pid()"}) {
        EXPECT_EQ(told(statements_of(text)[0]), "catalog") << text;
    }
    EXPECT_EQ(told(statements_of("SELECT upper('x')")[0]), "catalog or question");
}

TEST(Statements, AnEBeforeAStringStays) {
    for (const std::string text : {R"(SHOW LINKS WHERE a = E'x\\y')", R"(SELECT E'x\ny')"}) {
        EXPECT_EQ(statements_of(text)[0].text, text);
    }
}

TEST(Statements, TheHighestParameterCounts) {
    EXPECT_EQ(parameter_count("SELECT $1, '$9', $3"), 3U);
    EXPECT_EQ(parameter_count("SELECT $99999999999"), 65'535U);
    EXPECT_EQ(parameter_count("SELECT 1"), 0U);
}

}  // namespace
}  // namespace baton::pgserver
