#include "core/questions/gate.h"

#include <gtest/gtest.h>

#include "adapters/duckdb/duckdb_engine.h"
#include "base/text.h"
#include "core/questions/functions.h"
#include "core/questions/tree.h"

namespace baton::questions {

namespace {

QuestionEngine& engine() {
    static const auto kEngine = [] {
        auto opened = duckdb_engine::open_engine({.slots = 1});
        CHECK(opened);
        return *std::move(opened);
    }();
    return *kEngine;
}

const Constants kConstants{
    .version = "PostgreSQL 15.0 (Baton)", .database = "baton", .user = "ann"};

Result<json::Value> gated(const std::string& sql) {
    TRY(check_text(sql));
    TRY_ASSIGN(text, engine().parse(sql));
    TRY_ASSIGN(tree, json::parse(text, tree_limits()));
    TRY(gate(tree, kConstants, sql));
    return tree;
}

// The tree as text, or the error.
std::string passed(const std::string& sql) {
    const auto tree = gated(sql);
    if (!tree) return to_string(tree.error());
    return *engine().print(json::to_text(*tree));
}

std::string named(const std::string& sql) {
    const auto tree = gated(sql);
    if (!tree) return to_string(tree.error());
    const auto all = mentioned(*tree, sql);
    if (!all) return to_string(all.error());
    std::string text;
    for (const Mention& mention : *all) {
        if (!text.empty()) text += ' ';
        if (!mention.catalog.empty()) text += mention.catalog + '.';
        if (!mention.schema.empty()) text += mention.schema + '.';
        text += mention.name;
        if (mention.moment) text += '@' + mention.moment->value;
    }
    return text;
}

std::string bound(const std::string& sql, const std::vector<std::string>& names) {
    auto tree = gated(sql);
    if (!tree) return to_string(tree.error());
    const auto outcome = bind_relations(*tree, names);
    if (!outcome) return to_string(outcome.error());
    return *engine().print(json::to_text(*tree));
}

}  // namespace

TEST(Gate, OrdinaryQuestionsPass) {
    for (const std::string sql : {
             "SELECT 1",
             "SELECT a, count(*) FILTER (WHERE b > 1) FROM t GROUP BY ALL HAVING count(*) > 1 "
             "ORDER BY 1 DESC NULLS LAST LIMIT 3 OFFSET 1",
             "WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c WHERE n < 5) "
             "SELECT sum(n) FROM c",
             "WITH c AS MATERIALIZED (SELECT 1 AS x) SELECT * FROM c, c d",
             "SELECT * EXCLUDE (a) REPLACE (b + 1 AS b) FROM t",
             "SELECT sum(a) OVER (PARTITION BY b ORDER BY c ROWS BETWEEN 1 PRECEDING AND CURRENT "
             "ROW), row_number() OVER () FROM t QUALIFY true",
             "SELECT string_to_array('a,b', ','), now(), current_date, extract(year FROM d), "
             "date_trunc('day', d), d + INTERVAL '1 day', a ILIKE 'x%', a ~ 'b', j->>'k', j->'k', "
             "array_agg(a ORDER BY b), string_agg(a, ','), a::DECIMAL(10,2), a::TEXT[] FROM t",
             "SELECT * FROM generate_series(1, 10) g(i), unnest([1, 2]) u(x), range(3)",
             "SELECT * FROM t LEFT JOIN u USING (a) ASOF JOIN v ON t.x >= v.x SEMI JOIN w USING "
             "(a)",
             "SELECT a IN (SELECT 1), EXISTS (SELECT 2), a = ANY (SELECT 3), (SELECT 4) FROM t",
             "VALUES (1, 'a'), (2, 'b')",
             "SELECT 1 UNION SELECT 2 EXCEPT ALL SELECT 3 ORDER BY 1",
             "SELECT list_transform([1], lambda x: x + 1), [y FOR y IN [1]], {'a': 1}.a",
             "SELECT DISTINCT ON (a) a, b FROM t ORDER BY a",
             "SELECT grouping(a) FROM t GROUP BY ROLLUP (a), CUBE (b), GROUPING SETS ((a), ())",
             "SELECT CASE WHEN a THEN 1 ELSE 2 END, coalesce(a, b), nullif(a, b), a BETWEEN 1 AND "
             "2, "
             "a IS NOT DISTINCT FROM b, NOT a, a COLLATE nocase, try_cast(a AS INT), $1 FROM t",
             "SELECT lateral_value FROM t, LATERAL (SELECT t.a + 1 AS lateral_value)",
             "SELECT repeat('x', 10), lpad('x', 5, 'y'), format('{:5d}', 1), printf('%d', 2)",
             "FROM t SELECT a USING SAMPLE 10 ROWS",
         }) {
        const auto text = passed(sql);
        EXPECT_FALSE(text.starts_with("error")) << sql << "\n" << text;
    }
}

TEST(Gate, EachRefusalHasANumberAndAPlace) {
    EXPECT_EQ(passed("SELECT\n nextval('x')"),
              "error 2081 at 2:2: questions do not call the function \"nextval\"");
    EXPECT_EQ(passed("SELECT summ(a) FROM t"),
              "error 2080 at 1:8: unknown function \"summ\"; did you mean \"sum\"?");
    EXPECT_EQ(passed("SELECT * FROM read_csv('/etc/passwd')"),
              "error 2081 at 1:15: questions do not read from the function \"read_csv\"; "
              "make a table of the files: CREATE TABLE .. TYPE Files");
    EXPECT_EQ(passed("SELECT a::weird FROM t"), "error 2006 at 1:8: unknown type \"weird\"");
    EXPECT_TRUE(passed("SELECT * FROM t PIVOT (sum(a) FOR b IN (1, 2))").starts_with("error 2001"));
    EXPECT_TRUE(passed("SELECT * FROM t POSITIONAL JOIN u").starts_with("error 2001"));
    EXPECT_TRUE(passed("DESCRIBE t").starts_with("error 2001"));
}

TEST(Gate, ConstantsReplaceFunctionsAboutTheServer) {
    EXPECT_EQ(passed("SELECT version(), current_database(), current_user, current_schema()"),
              "SELECT 'PostgreSQL 15.0 (Baton)' AS \"version\", 'baton' AS current_database, 'ann' "
              "AS current_user, 'public' AS current_schema");
    EXPECT_EQ(passed("SELECT \"current_user\" FROM t"), "SELECT current_user FROM t");
    EXPECT_EQ(passed("SELECT pg_catalog.version() v"), "SELECT 'PostgreSQL 15.0 (Baton)' AS v");
}

TEST(Gate, RelationsAreFoundWhereverTheyStand) {
    EXPECT_EQ(named("SELECT (SELECT max(x) FROM a) FROM s.b JOIN d.s.c USING (i) WHERE EXISTS "
                    "(FROM e) AND x IN (SELECT y FROM f) GROUP BY (SELECT 1 FROM g) HAVING (SELECT "
                    "true FROM h) ORDER BY (SELECT 1 FROM i) LIMIT (SELECT 1 FROM j)"),
              "i j a s.b d.s.c e f g h");
    EXPECT_EQ(
        named("SELECT * FROM t AT (VERSION => 12), u AT (TIMESTAMP => TIMESTAMP '2020-01-01')"),
        "t@12 u@2020-01-01");
}

TEST(Gate, ACteHidesATable) {
    EXPECT_EQ(named("WITH a AS (SELECT * FROM a), b AS (SELECT * FROM A) SELECT * FROM b, c, s.a"),
              "a c s.a");
    EXPECT_EQ(named("WITH RECURSIVE r AS (SELECT 1 UNION SELECT * FROM r) SELECT * FROM r"), "");
    EXPECT_EQ(named("WITH a AS (SELECT * FROM b), b AS (SELECT 1) SELECT * FROM a"), "b");
    EXPECT_EQ(named("SELECT (WITH z AS (SELECT 1) SELECT 1 FROM z) FROM z"), "z");
    EXPECT_EQ(named("WITH a AS MATERIALIZED (SELECT * FROM t) SELECT * FROM a, a b"), "t");
}

TEST(Gate, BoundRelationsKeepTheirNamesForColumns) {
    EXPECT_EQ(
        bound("SELECT s.t.a, t.b, u.c FROM s.t JOIN x u ON t.a = u.a", {"__baton_0", "__baton_1"}),
        "SELECT t.a, t.b, u.c FROM __baton_0 AS t INNER JOIN __baton_1 AS u ON ((t.a = u.a))");
    EXPECT_EQ(bound("WITH t AS (SELECT 1) SELECT * FROM t, s.t", {"__baton_0"}),
              "WITH t AS (SELECT 1)SELECT * FROM t , __baton_0 AS t");
    EXPECT_TRUE(passed("SELECT * FROM __baton_0").starts_with("error 2070"));
    EXPECT_TRUE(passed("WITH __BATON_0 AS (SELECT 1) SELECT 1").starts_with("error 2070"));
}

TEST(Gate, SizesAreBounded) {
    EXPECT_EQ(check_text(std::string(kTextBytesMax + 1, ' ')).error().code, ErrorCode::too_large);
    const auto nested = [](std::size_t depth, const std::string& open, const std::string& close) {
        std::string text = "SELECT ";
        for (std::size_t i = 0; i < depth; ++i) text += open;
        text += "1";
        for (std::size_t i = 0; i < depth; ++i) text += close;
        return text;
    };
    for (const auto& [open, close] : {std::pair{"(", ")"},
                                      {"[", "]"},
                                      {"- ", ""},
                                      {"NOT ", ""},
                                      {"CASE WHEN 1 THEN ", " END"},
                                      {"(SELECT ", ")"},
                                      {"abs(", ")"}}) {
        EXPECT_EQ(check_text(nested(10'000, open, close)).error().code, ErrorCode::too_large)
            << open;
        const auto text = passed(nested(60, open, close));
        EXPECT_FALSE(text.starts_with("error 9")) << open << text;
    }
    for (const std::string part : {"+1", " OR a=1", "||'x'", " UNION SELECT 1", "::INT", "[1]",
                                   ".a", " IS NULL", " COLLATE nocase"}) {
        std::string text = "SELECT a";
        for (std::size_t i = 0; i < 10'000; ++i) text += part;
        const auto outcome = passed(text);
        EXPECT_TRUE(outcome.starts_with("error 2") || outcome.starts_with("SELECT"))
            << part << outcome.substr(0, 200);
        EXPECT_FALSE(outcome.starts_with("error 9")) << part << outcome;
    }
    EXPECT_TRUE(passed("SELECT repeat('x', 1000000000)").starts_with("error 2005"));
    EXPECT_TRUE(passed("SELECT repeat(repeat('x', 1000000), 1000000)").starts_with("error 2005"));
    EXPECT_TRUE(passed("SELECT range(1000000000000)").starts_with("error 2005"));
    EXPECT_TRUE(passed("SELECT repeat('x', a) FROM t").starts_with("error 2081"));
    EXPECT_TRUE(passed("SELECT format('{:1000000000d}', 1)").starts_with("error 2081"));
}

TEST(Gate, CommentsAndTextsAreNoNesting) {
    EXPECT_TRUE(check_text("SELECT '" + std::string(5'000, '(') + "'"));
    EXPECT_TRUE(check_text("SELECT $x$" + std::string(5'000, '(') + "$x$"));
    EXPECT_TRUE(check_text("SELECT 1 -- " + std::string(5'000, '(')));
    EXPECT_TRUE(check_text("SELECT /* " + std::string(5'000, '(') + "*/ 1"));
    EXPECT_TRUE(check_text("SELECT E'\\'" + std::string(5'000, '(') + "'"));
    EXPECT_TRUE(check_text("SELECT \"" + std::string(5'000, '(') + "\""));
}

}  // namespace baton::questions
