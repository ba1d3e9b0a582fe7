#include "core/questions/split.h"

#include <algorithm>
#include <cmath>
#include <map>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "adapters/duckdb/duckdb_engine.h"
#include "core/questions/bounds.h"
#include "core/questions/gate.h"
#include "core/questions/tree.h"

namespace baton::questions {

namespace {

using Kind = SqlType::Kind;
using Rows = std::vector<SqlRow>;

QuestionEngine& engine() {
    static const auto kEngine = [] {
        auto opened = duckdb_engine::open_engine({.slots = 1});
        CHECK(opened);
        return *std::move(opened);
    }();
    return *kEngine;
}

const SqlColumns kColumns = {
    {.name = "a", .type = {.kind = Kind::bigint}},
    {.name = "b", .type = {.kind = Kind::integer}},
    {.name = "x", .type = {.kind = Kind::double_precision}},
    {.name = "d", .type = {.kind = Kind::decimal, .precision = 10, .scale = 2}},
    {.name = "s", .type = {.kind = Kind::varchar}},
    {.name = "day", .type = {.kind = Kind::date}},
    {.name = "f", .type = {.kind = Kind::boolean}},
};

QuestionRelation relation(const std::string& name, const SqlColumns& columns, Rows rows) {
    return {.name = name,
            .columns = columns,
            .content = RelationRows{std::make_shared<const Rows>(std::move(rows))}};
}

struct Answered {
    SqlColumns columns;
    Rows rows;
};

Result<Answered> answered(const json::Value& tree, std::vector<QuestionRelation> relations) {
    TRY_ASSIGN(answer,
               engine().answer({.tree = json::to_text(tree), .relations = std::move(relations)}));
    Answered all{.columns = answer->columns(), .rows = {}};
    for (bool ended = false; !ended;) {
        TRY_ASSIGN(batch, answer->next());
        all.rows.insert(all.rows.end(), batch.rows.begin(), batch.rows.end());
        ended = batch.ended;
    }
    return all;
}

// A value as text; numbers with a fraction up to rounding.
std::string shown(const SqlValue& value) {
    if (std::holds_alternative<std::monostate>(value)) return "NULL";
    if (const auto* number = std::get_if<std::int64_t>(&value)) return std::to_string(*number);
    if (const auto* text = std::get_if<std::string>(&value)) return '"' + *text + '"';
    const double real = std::get<double>(value);
    if (std::isnan(real)) return "NaN";
    std::array<char, 40> digits{};
    std::snprintf(digits.data(), digits.size(), "%.9g", real == 0 ? 0.0 : real);
    return digits.data();
}

std::vector<std::string> lines(const Answered& answer, bool ordered) {
    std::vector<std::string> all;
    for (const SqlRow& row : answer.rows) {
        std::string line;
        for (const SqlValue& value : row) line += shown(value) + '|';
        all.push_back(std::move(line));
    }
    if (!ordered) std::sort(all.begin(), all.end());
    return all;
}

struct Asked {
    json::Value tree;
    std::vector<SqlColumns> tables;
};

Asked bound_tree(const std::string& sql) {
    auto tree = json::parse(*engine().parse(sql), tree_limits());
    CHECK(tree);
    const auto passed = gate(*tree, {.now = "2020-01-05 00:00:00+00"}, sql);
    if (!passed) ADD_FAILURE() << sql << to_string(passed.error());
    Asked asked;
    std::vector<std::string> names;
    const auto all = mentioned(*tree, sql);
    for (const Mention& mention : *all) {
        names.push_back("__baton_" + mention.name);
        asked.tables.push_back(mention.name == "t" ? kColumns
                                                   : SqlColumns{kColumns[0], kColumns[4]});
    }
    CHECK(bind_relations(*tree, names));
    asked.tree = *std::move(tree);
    return asked;
}

std::variant<Split, Whole> split_of(const Asked& asked) {
    const auto described =
        engine().describe({.tree = json::to_text(asked.tree),
                           .relations = {relation("__baton_t", kColumns, {}),
                                         relation("__baton_u", {kColumns[0], kColumns[4]}, {})}});
    CHECK(described);
    return split({.tree = asked.tree, .tables = asked.tables, .answer = described->columns});
}

std::string strategy_of(const std::string& sql) {
    const auto parts = split_of(bound_tree(sql));
    if (const auto* whole = std::get_if<Whole>(&parts)) return "whole: " + whole->why;
    return std::string(std::get<Split>(parts).strategy);
}

// The dice of rapidcheck, one number at a time.
int die(int sides) {
    return *rc::gen::inRange(0, sides);
}

SqlValue random_value(const SqlField& field) {
    if (die(5) == 0) return {};
    const int n = die(7) - 3;
    if (field.name == "x") {
        const int which = die(12);
        if (which == 0) return std::nan("");
        return which == 1 ? -0.0 : n / 4.0;
    }
    if (field.name == "d") return std::to_string(n) + ".25";
    if (field.name == "s") return std::string(static_cast<std::size_t>(n + 3), 'q');
    if (field.name == "day") return "2020-01-0" + std::to_string(n + 4);
    if (field.name == "f") return std::int64_t{n & 1};
    return std::int64_t{n};
}

template <std::size_t N>
std::string one_of(const std::array<const char*, N>& words) {
    return words[static_cast<std::size_t>(die(N))];
}

std::string random_condition() {
    constexpr std::array kConditions = {
        "a > 0", "b IN (1, 2)",   "x < 0.5", "s LIKE 'q%'",        "day >= DATE '2020-01-03'",
        "f",     "d IS NOT NULL", "a = b",   "day < current_date", "coalesce(a, 0) + 1 > b"};
    return one_of(kConditions);
}

std::string random_expression() {
    constexpr std::array kExpressions = {"a",     "b",        "x",     "d",
                                         "s",     "day",      "f",     "a + b",
                                         "a % 2", "upper(s)", "d * 2", "date_trunc('month', day)"};
    return one_of(kExpressions);
}

std::string random_aggregate() {
    constexpr std::array kAggregates = {"count(*)",
                                        "count(x)",
                                        "sum(a)",
                                        "sum(d)",
                                        "sum(x)",
                                        "min(s)",
                                        "max(x)",
                                        "max(day)",
                                        "min(d)",
                                        "avg(a)",
                                        "avg(d)",
                                        "avg(x)",
                                        "bool_and(f)",
                                        "bool_or(f)",
                                        "sum(a + b)",
                                        "count(*) FILTER (WHERE a > 0)",
                                        "sum(b) FILTER (WHERE f)",
                                        "avg(b) FILTER (WHERE f)",
                                        "sum(a) + count(*)",
                                        "max(a) - min(a)",
                                        "coalesce(sum(b), 0)"};
    constexpr std::array kDistinct = {"count(DISTINCT a)", "count(DISTINCT s)", "sum(DISTINCT b)"};
    return die(8) == 0 ? one_of(kDistinct) : one_of(kAggregates);
}

std::string random_tail(std::size_t columns, bool all_columns) {
    std::string tail;
    if (all_columns) {
        tail = " ORDER BY ";
        for (std::size_t i = 1; i <= columns; ++i) {
            tail += (i > 1 ? ", " : "") + std::to_string(i);
            if (die(2) == 0) tail += " DESC";
            if (die(3) == 0) tail += " NULLS FIRST";
        }
        if (die(2) == 0) tail += " LIMIT " + std::to_string(die(6));
        if (die(3) == 0) tail += " OFFSET " + std::to_string(die(4));
    }
    return tail;
}

std::string random_question(bool& ordered) {
    const std::string from = die(4) == 0 ? " FROM t JOIN u USING (a, s)" : " FROM t";
    const std::string where = die(2) == 0 ? " WHERE " + random_condition() : "";
    ordered = die(2) == 0;
    const auto columns = static_cast<std::size_t>(1 + die(3));
    std::string list;
    std::string groups;
    const int kind = die(3);
    for (std::size_t i = 0; i < columns; ++i) {
        const bool group = kind == 1 && i == 0 && die(4) != 0;
        const std::string item = kind == 1 && !group ? random_aggregate() : random_expression();
        if (group) groups = die(2) == 0 ? " GROUP BY 1" : " GROUP BY c0";
        list += (i > 0 ? ", " : "") + item + " AS c" + std::to_string(i);
    }
    std::string having;
    if (kind == 1 && die(4) == 0) having = " HAVING count(*) > " + std::to_string(die(3));
    const std::string distinct = kind == 2 ? "DISTINCT " : "";
    return "SELECT " + distinct + list + from + where + groups + having +
           random_tail(columns, ordered);
}

void check_split() {
    Rows rows;
    for (int i = die(30); i > 0; --i) {
        SqlRow row;
        for (const SqlField& field : kColumns) row.push_back(random_value(field));
        rows.push_back(std::move(row));
    }
    Rows small;
    for (int i = die(8); i > 0; --i) {
        small.push_back({random_value(kColumns[0]), random_value(kColumns[4])});
    }
    bool ordered = false;
    const std::string sql = random_question(ordered);
    const Asked asked = bound_tree(sql);
    const auto u = relation("__baton_u", {kColumns[0], kColumns[4]}, small);
    const auto whole = answered(asked.tree, {relation("__baton_t", kColumns, rows), u});
    RC_ASSERT(whole.has_value());
    const auto parts = split_of(asked);
    RC_CLASSIFY(std::holds_alternative<Split>(parts));
    if (!std::holds_alternative<Split>(parts)) return;
    const Split& halves = std::get<Split>(parts);
    const auto shares = static_cast<std::size_t>(1 + die(4));
    std::vector<Rows> dealt(shares);
    for (const SqlRow& row : rows) {
        dealt[static_cast<std::size_t>(die(static_cast<int>(shares)))].push_back(row);
    }
    Answered leaves;
    for (const Rows& share : dealt) {
        const auto leaf = answered(halves.leaf, {relation("__baton_t", kColumns, share), u});
        if (!leaf) RC_FAIL(sql + ": " + to_string(leaf.error()));
        leaves.columns = leaf->columns;
        leaves.rows.insert(leaves.rows.end(), leaf->rows.begin(), leaf->rows.end());
    }
    const auto final =
        answered(halves.final, {relation(std::string(kLeaves), leaves.columns, leaves.rows)});
    if (!final) RC_FAIL(sql + ": " + to_string(final.error()));
    const auto expected = lines(*whole, ordered);
    const auto got = lines(*final, ordered);
    if (expected != got) {
        std::string both = sql + "\nexpected:\n";
        for (const auto& line : expected) both += line + "\n";
        both += "got:\n";
        for (const auto& line : got) both += line + "\n";
        RC_FAIL(both);
    }
    RC_ASSERT(whole->columns.size() == final->columns.size());
    for (std::size_t i = 0; i < whole->columns.size(); ++i) {
        RC_ASSERT(whole->columns[i].name == final->columns[i].name);
        RC_ASSERT(to_string(whole->columns[i].type) == to_string(final->columns[i].type));
    }
}

}  // namespace

RC_GTEST_PROP(Split, TheAnswerIsThatOfTheWhole, ()) {
    check_split();
}

TEST(Split, EachShapeHasItsStrategy) {
    EXPECT_EQ(strategy_of("SELECT * FROM t WHERE a > 1"), "scan");
    EXPECT_EQ(strategy_of("SELECT * FROM t ORDER BY day DESC LIMIT 10"), "top");
    EXPECT_EQ(strategy_of("SELECT a AS n FROM t ORDER BY -b, n LIMIT 10"), "top");
    EXPECT_EQ(strategy_of("SELECT DISTINCT a FROM t"), "distinct");
    EXPECT_EQ(strategy_of("SELECT date_trunc('day', day) AS time, count(*) FROM t "
                          "WHERE day > now() GROUP BY time ORDER BY time"),
              "aggregate");
    EXPECT_EQ(strategy_of("SELECT s, avg(x) FROM t JOIN u USING (s) GROUP BY s HAVING sum(b) > 1 "
                          "ORDER BY count(*) DESC"),
              "aggregate");
    EXPECT_EQ(strategy_of("SELECT a, count(DISTINCT s) FROM t GROUP BY a"), "distinct sets");
}

TEST(Split, TheRestIsWhole) {
    for (const std::string sql :
         {"SELECT median(a) FROM t", "SELECT sum(a) OVER () FROM t", "SELECT random() FROM t",
          "SELECT a FROM t WHERE b = (SELECT max(b) FROM t)", "SELECT a FROM t UNION SELECT 1",
          "WITH c AS (SELECT a FROM t) SELECT * FROM c", "SELECT DISTINCT ON (a) a, b FROM t",
          "SELECT a, sum(b) FROM t GROUP BY ROLLUP (a)", "SELECT string_agg(s, ',') FROM t",
          "SELECT count(DISTINCT a), count(*) FROM t", "SELECT a + 1 AS n, n * 2 FROM t",
          "SELECT a AS n FROM t WHERE n > 1", "SELECT u.a FROM u LEFT JOIN t USING (a)",
          "SELECT t.a FROM u RIGHT JOIN t USING (a)", "SELECT a, b FROM t GROUP BY ALL",
          "SELECT avg(day) FROM t", "SELECT stddev(a) FROM t"}) {
        const auto strategy = strategy_of(sql);
        const bool shared_is_u = sql.find("FROM u") != std::string::npos;
        EXPECT_TRUE(strategy.starts_with("whole") || shared_is_u) << sql << ": " << strategy;
    }
}

TEST(Bounds, ConditionsOfEachRelation) {
    const auto found = [](const std::string& sql) {
        const Asked asked = bound_tree(sql);
        std::string text;
        for (const auto& relation : bounds(asked.tree, asked.tables)) {
            text += '[';
            for (const ColumnBound& bound : relation) {
                text += ' ' + bound.column + ' ' + std::to_string(static_cast<int>(bound.is));
                for (const std::string& value : bound.values) text += ' ' + value;
            }
            text += ']';
        }
        return text;
    };
    EXPECT_EQ(found("SELECT * FROM t WHERE a = 1 AND 5 > b AND day BETWEEN '2020-01-01' AND DATE "
                    "'2020-02-01' AND s IN ('x', 'y') AND d <= -1.5 AND f IS NULL"),
              "[ a 0 1 b 1 5 day 4 2020-01-01 day 2 2020-02-01 s 5 x y d 2 -1.5 f 6]");
    // Not of their own kind, not conjunctive, NaN, or a function of the column.
    EXPECT_EQ(found("SELECT * FROM t WHERE (a = 1 OR b = 2) AND x > 1 AND s = 1 AND a + 1 = 2 AND "
                    "NOT a = 4 AND a = 1.5 AND day > TIMESTAMP '2020-01-01 00:00:00'"),
              "[]");
    EXPECT_EQ(found("SELECT * FROM t JOIN u USING (s) WHERE b = 1 AND u.a = 2 AND s = 'x'"),
              "[ b 0 1][ a 0 2]");
    EXPECT_EQ(found("SELECT * FROM t LEFT JOIN u USING (s) WHERE b = 1 AND u.a IS NULL"),
              "[ b 0 1][]");
    EXPECT_EQ(found("SELECT * FROM (SELECT a FROM t WHERE b = 1 LIMIT 5) q WHERE a = 3"),
              "[ b 0 1]");
    EXPECT_EQ(found("WITH c AS (SELECT a FROM t WHERE b = 1) SELECT * FROM c WHERE a = 3"),
              "[ b 0 1]");
    EXPECT_EQ(found("SELECT * FROM t, (SELECT 1 AS q) z WHERE a = 1 AND t.b = 2"), "[ b 0 2]");
}

}  // namespace baton::questions
