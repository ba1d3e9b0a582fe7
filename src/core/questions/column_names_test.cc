#include "core/questions/column_names.h"

#include <gtest/gtest.h>

#include "adapters/duckdb/duckdb_engine.h"
#include "core/questions/tree.h"

namespace baton::questions {
namespace {

QuestionEngine& engine() {
    static const auto kEngine = *duckdb_engine::open_engine({.slots = 1});
    return *kEngine;
}

// The names of the outermost columns, "-" where the column names itself.
std::string names(const std::string& text) {
    auto written = engine().parse(text);
    if (!written) return to_string(written.error());
    auto tree = *json::parse(*written, tree_limits());
    name_columns(tree);
    const json::Value* query = json::find(tree, "node");
    while (text_of(*query, "type") == "SET_OPERATION_NODE") query = json::find(*query, "left");
    std::string all;
    for (const json::Value& column : *list_of(*query, "select_list")) {
        const std::string_view alias = text_of(column, "alias");
        all += (all.empty() ? "" : " ") + std::string(alias.empty() ? "-" : alias);
    }
    return all;
}

TEST(ColumnNames, AreThoseOfPostgres) {
    EXPECT_EQ(names("SELECT count(*), Sum(a), a, t.a, * FROM t"), "count sum - - -");
    EXPECT_EQ(names("SELECT 1, 'x', a + 1, a IS NULL, a IN (1), -a FROM t"),
              "?column? ?column? ?column? ?column? ?column? ?column?");
    EXPECT_EQ(names("SELECT a::int, 1::int, '1'::text, 1::numeric(4,2), true FROM t"),
              "a int4 text numeric bool");
    EXPECT_EQ(names("SELECT coalesce(a, 1), CASE WHEN a THEN 1 END, [1], EXISTS (SELECT 1) FROM t"),
              "coalesce case array exists");
    EXPECT_EQ(names("SELECT (SELECT max(b) FROM u), (SELECT b AS c FROM u), row_number() OVER ()"),
              "max c row_number");
    EXPECT_EQ(names("SELECT count(*) AS n, a AS \"B\" FROM t"), "n B");
}

TEST(ColumnNames, OfSeveralUnitedSelectsAreThoseOfTheFirst) {
    EXPECT_EQ(names("SELECT count(*) FROM t UNION ALL SELECT 1 UNION ALL SELECT 2"), "count");
    EXPECT_EQ(names("WITH x AS (SELECT count(*) FROM t) SELECT * FROM x"), "-");
}

}  // namespace
}  // namespace baton::questions
