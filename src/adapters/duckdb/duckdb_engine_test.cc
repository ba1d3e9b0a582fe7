#include "adapters/duckdb/duckdb_engine.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <thread>

#include <duckdb.hpp>
#include <gtest/gtest.h>

#include "base/text.h"
#include "core/questions/functions.h"
#include "testing/temporary_directory.h"

namespace baton::duckdb_engine {

namespace {

using Kind = SqlType::Kind;

std::string shown(const SqlValue& value) {
    if (std::holds_alternative<std::monostate>(value)) return "NULL";
    if (const auto* number = std::get_if<std::int64_t>(&value)) return std::to_string(*number);
    if (const auto* real = std::get_if<double>(&value)) return duckdb::Value(*real).ToString();
    return std::get<std::string>(value);
}

class DuckDbEngine : public ::testing::Test {
protected:
    DuckDbEngine() {
        auto opened = open_engine({.slots = 2,
                                   .memory_max = 64U << 20U,
                                   .spill_folder = folder_.path() + "/spill",
                                   .spill_bytes_max = 32U << 20U,
                                   .patience = std::chrono::milliseconds(200)});
        if (!opened) ADD_FAILURE() << to_string(opened.error());
        engine_ = *std::move(opened);
    }

    QuestionTask task(const std::string& sql, std::vector<QuestionRelation> relations = {}) {
        auto tree = engine_->parse(sql);
        if (!tree) ADD_FAILURE() << sql << ": " << to_string(tree.error());
        return {.tree = tree ? *tree : "", .relations = std::move(relations), .text = sql};
    }

    // All rows, one a line, or the error.
    std::string answer(QuestionTask task) {
        auto answer = engine_->answer(std::move(task));
        if (!answer) return to_string(answer.error());
        std::string text;
        for (;;) {
            auto batch = (*answer)->next();
            if (!batch) return to_string(batch.error());
            for (const SqlRow& row : batch->rows) {
                for (std::size_t i = 0; i < row.size(); ++i) {
                    if (i > 0) text += '|';
                    text += shown(row[i]);
                }
                text += '\n';
            }
            if (batch->ended) return text;
        }
    }
    std::string ask(const std::string& sql, std::vector<QuestionRelation> relations = {}) {
        return answer(task(sql, std::move(relations)));
    }

    // A Parquet file with the rows of a query, by a DuckDB of our own.
    std::string file(const std::string& name, const std::string& query) {
        std::string path = folder_.path() + "/" + name;
        duckdb::DuckDB database;
        duckdb::Connection connection(database);
        const auto result =
            connection.Query("COPY (" + query + ") TO '" + path + "' (FORMAT parquet)");
        if (result->HasError()) ADD_FAILURE() << result->GetError();
        return path;
    }

    static QuestionRelation rows(const std::string& name, SqlColumns columns,
                                 std::vector<SqlRow> all) {
        return {
            .name = name,
            .columns = std::move(columns),
            .content = RelationRows{std::make_shared<const std::vector<SqlRow>>(std::move(all))}};
    }

    testing::TemporaryDirectory folder_;
    std::unique_ptr<QuestionEngine> engine_;
};

SqlField field(const std::string& name, Kind kind) {
    return {.name = name, .type = {.kind = kind}};
}

}  // namespace

TEST_F(DuckDbEngine, AnswersWithoutRelations) {
    EXPECT_EQ(ask("SELECT 1, 'a', NULL, true, 1.5::DOUBLE"), "1|a|NULL|1|1.5\n");
}

TEST_F(DuckDbEngine, AnswersOverRowsInMemory) {
    const auto relation = rows("r1", {field("A", Kind::bigint), field("b", Kind::varchar)},
                               {{std::int64_t{1}, std::string("x")}, {std::int64_t{2}, {}}});
    EXPECT_EQ(ask("SELECT t.a, b FROM r1 t ORDER BY 1 DESC", {relation}), "2|NULL\n1|x\n");
    EXPECT_EQ(ask("SELECT count(*) FROM r1 x JOIN r1 y USING (a)", {relation}), "2\n");
}

TEST_F(DuckDbEngine, ValuesHavePostgresForms) {
    EXPECT_EQ(ask("SELECT DATE '2020-02-29', TIMESTAMP '2020-01-01 01:02:03.5', "
                  "TIMESTAMPTZ '2020-01-01 01:02:03+01', TIME '04:05:06.7'"),
              "2020-02-29|2020-01-01 01:02:03.5|2020-01-01 00:02:03+00|04:05:06.7\n");
    EXPECT_EQ(ask("SELECT INTERVAL '14 months 3 days 4.5 seconds', INTERVAL '-1 day', "
                  "INTERVAL '0 days'"),
              "1 year 2 mons 3 days 00:00:04.5|-1 days|00:00:00\n");
    EXPECT_EQ(ask("SELECT 12.50::DECIMAL(10,2), 170141183460469231731687303715884105727, "
                  "'\\x0A\\xff'::BLOB, '00000000-0000-0000-0000-000000000001'::UUID"),
              "12.50|170141183460469231731687303715884105727|\\x0aff|"
              "00000000-0000-0000-0000-000000000001\n");
    EXPECT_EQ(ask("SELECT ['a', 'b c', NULL, '', 'NULL', 'q\"'], [[1,2],[3]], {'a': 1, 'b': 'x'}, "
                  "MAP {'k': 1.5}, '{\"a\":1}'::JSON"),
              "{a,\"b c\",NULL,\"\",\"NULL\",\"q\\\"\"}|{{1,2},{3}}|{\"a\":1,\"b\":\"x\"}|"
              "{\"k\":1.5}|{\"a\":1}\n");
    EXPECT_EQ(ask("SELECT 'infinity'::TIMESTAMP, '-infinity'::DATE, [1::FLOAT, 'nan'::FLOAT], "
                  "DATE '0044-03-15 (BC)'"),
              "infinity|-infinity|{1,NaN}|0044-03-15 BC\n");
}

TEST_F(DuckDbEngine, ValuesOfAnAnswerComeInAgain) {
    const auto relation =
        rows("r1", {field("b", Kind::blob), field("i", Kind::interval), field("u", Kind::hugeint)},
             {{std::string("\\x0aff"), std::string("1 year 2 mons -3 days 00:00:04.5"),
               std::string("170141183460469231731687303715884105727")}});
    EXPECT_EQ(ask("SELECT b, octet_length(b), i, u FROM r1", {relation}),
              "\\x0aff|2|1 year 2 mons -3 days +00:00:04.5|"
              "170141183460469231731687303715884105727\n");
}

TEST_F(DuckDbEngine, TextWithNulIsRefused) {
    EXPECT_NE(ask("SELECT chr(0) AS x").find("cannot show column \"x\""), std::string::npos);
}

TEST_F(DuckDbEngine, FilesHaveTheDeclaredColumns) {
    const auto older = file("a=9.parquet", "SELECT 1::INTEGER AS a, 'x' AS b");
    const auto newer =
        file("new.parquet", "SELECT 2::BIGINT AS a, 'y' AS b, DATE '2020-01-01' AS c");
    const QuestionRelation relation{
        .name = "r1",
        .columns = {field("day", Kind::date), field("A", Kind::bigint), field("b", Kind::varchar),
                    field("c", Kind::date)},
        .content = RelationFiles{{{.path = older, .partition = {{"day", "2020-05-05"}}},
                                  {.path = newer, .partition = {{"day", {}}}}}}};
    EXPECT_EQ(ask("SELECT * FROM r1 ORDER BY a", {relation}),
              "2020-05-05|1|x|NULL\nNULL|2|y|2020-01-01\n");
    EXPECT_EQ(ask("SELECT a FROM r1 WHERE day = DATE '2020-05-05' AND c IS NULL", {relation}),
              "1\n");
    EXPECT_EQ(ask("SELECT count(*), sum(a) FROM r1", {relation}), "2|3\n");
}

TEST_F(DuckDbEngine, WithoutFilesThereAreNoRows) {
    const QuestionRelation relation{
        .name = "r1", .columns = {field("a", Kind::bigint)}, .content = RelationFiles{}};
    EXPECT_EQ(ask("SELECT count(*), max(a) FROM r1", {relation}), "0|NULL\n");
}

TEST_F(DuckDbEngine, OpensNoOtherFile) {
    const auto secret = file("secret.parquet", "SELECT 1 AS a");
    const std::vector<std::string> hostile = {
        "SELECT * FROM read_parquet('" + secret + "')", "SELECT * FROM '" + secret + "'",
        "SELECT * FROM read_text('/etc/passwd')", "SELECT * FROM nothing"};
    for (const std::string& sql : hostile) {
        EXPECT_TRUE(ask(sql).starts_with("error ")) << sql << ": " << ask(sql);
    }
}

TEST_F(DuckDbEngine, ParametersTakeTheTypesOfTheirPlaces) {
    auto asked = task("SELECT a + $2 FROM (VALUES (1), (2)) t(a) WHERE a = $1");
    asked.parameters = {std::string("2"), std::int64_t{5}};
    EXPECT_EQ(answer(asked), "7\n");
    asked.parameters = {std::string("x"), std::int64_t{5}};
    EXPECT_NE(answer(asked).find("cannot convert parameter $1"), std::string::npos);
    asked.parameters = {};
    EXPECT_NE(answer(asked).find("error 2002"), std::string::npos) << answer(asked);
}

TEST_F(DuckDbEngine, DescribesColumnsAndParameters) {
    auto described = engine_->describe(task("SELECT 1 AS a, $1::DATE AS d, $2 AS e"));
    ASSERT_TRUE(described) << to_string(described.error());
    ASSERT_EQ(described->columns.size(), 3U);
    EXPECT_EQ(described->columns[1].name, "d");
    EXPECT_EQ(described->columns[1].type.kind, Kind::date);
    ASSERT_EQ(described->parameters.size(), 2U);
    EXPECT_EQ(described->columns[2].type.kind, Kind::varchar);
}

TEST_F(DuckDbEngine, ErrorsHaveNumbersAndPlaces) {
    const auto relation = rows("r1", {field("alpha", Kind::bigint), field("b", Kind::varchar)},
                               {{std::int64_t{1}, std::string("x")}});
    const auto code = [&](const std::string& sql) { return ask(sql, {relation}).substr(0, 11); };
    EXPECT_EQ(ask("SELECT\n alpa FROM r1", {relation}),
              "error 2004 at 2:2: unknown column \"alpa\"; did you mean \"alpha\"?");
    EXPECT_EQ(code("SELECT alpha FROM r1, r1 y"), "error 2082:");
    EXPECT_EQ(code("SELECT alpha, count(*) FROM r1"), "error 2083 ");
    EXPECT_EQ(code("SELECT b::BIGINT FROM r1"), "error 3016 ");
    EXPECT_EQ(code("SELECT 9223372036854775807 + alpha FROM r1"), "error 3013:");
    EXPECT_EQ(code("SELECT summ(alpha) FROM r1"), "error 2080 ");
    EXPECT_EQ(code("SELECT sum(b) FROM r1"), "error 2006 ");
    EXPECT_EQ(code("SELECT * FROM r2"), "error 2070 ");
}

TEST_F(DuckDbEngine, SyntaxErrorsHaveAPlace) {
    const auto parsed = engine_->parse("SELECT 1\nFROM FROM");
    ASSERT_FALSE(parsed);
    EXPECT_EQ(to_string(parsed.error()), "error 2000 at 2:6: syntax error at or near \"FROM\"");
}

TEST_F(DuckDbEngine, OneSelectIsParsed) {
    EXPECT_EQ(engine_->parse("SELECT 1; SELECT 2").error().code, ErrorCode::not_supported);
    EXPECT_EQ(engine_->parse("CREATE TABLE t (a INT)").error().code, ErrorCode::not_supported);
    EXPECT_EQ(engine_->parse("").error().code, ErrorCode::syntax);
    EXPECT_EQ(engine_->parse(std::string(2U << 20U, ' ')).error().code, ErrorCode::too_large);
}

TEST_F(DuckDbEngine, TreesArePrinted) {
    EXPECT_EQ(*engine_->print(*engine_->parse("select a from t where b>1")),
              "SELECT a FROM t WHERE (b > 1)");
}

TEST_F(DuckDbEngine, TooMuchMemoryFailsAlone) {
    auto other = engine_->answer(task("SELECT * FROM range(5000) t(i)"));
    ASSERT_TRUE(other);
    const auto failed = ask("SELECT list(i || 'some longer text') FROM range(20000000) t(i)");
    EXPECT_NE(failed.find("error 3015"), std::string::npos) << failed;
    EXPECT_NE(failed.find("64 MiB"), std::string::npos) << failed;
    std::size_t count = 0;
    for (bool ended = false; !ended;) {
        auto batch = (*other)->next();
        ASSERT_TRUE(batch);
        count += batch->rows.size();
        ended = batch->ended;
    }
    EXPECT_EQ(count, 5'000U);
    EXPECT_EQ(ask("SELECT 1"), "1\n");
}

TEST_F(DuckDbEngine, AFullSpillFolderIsAnError) {
    const auto failed =
        ask("SELECT count(*) FROM (SELECT DISTINCT hash(i), hash(i + 1), hash(i + 2) "
            "FROM range(10000000) t(i))");
    EXPECT_NE(failed.find("error 3015"), std::string::npos) << failed;
    EXPECT_EQ(ask("SELECT 1"), "1\n");
}

TEST_F(DuckDbEngine, AnInterruptEndsAnAnswerSoon) {
    for (const std::string sql :
         {"SELECT count(*) FROM range(1000000000) a(i), range(1000000000) b(j) WHERE i + j = -1",
          "SELECT i FROM range(1000000000) t(i) WHERE i < 0",
          "SELECT max(h) FROM (SELECT hash(i) h FROM range(1000000000) t(i))"}) {
        auto answer = engine_->answer(task(sql));
        ASSERT_TRUE(answer);
        std::atomic<bool> waits = false;
        std::thread caller([&] {
            waits = true;
            const auto batch = (*answer)->next();
            EXPECT_TRUE(!batch && batch.error().code == ErrorCode::cancelled);
        });
        while (!waits) std::this_thread::yield();
        const auto begin = std::chrono::steady_clock::now();
        (*answer)->interrupt();
        caller.join();
        EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::milliseconds(100));
        EXPECT_EQ((*answer)->next().error().code, ErrorCode::cancelled);
    }
    EXPECT_EQ(ask("SELECT 1"), "1\n");
}

TEST_F(DuckDbEngine, ABusyEngineSaysSo) {
    auto first = engine_->answer(task("SELECT * FROM range(100000) t(i)"));
    auto second = engine_->answer(task("SELECT * FROM range(100000) t(i)"));
    ASSERT_TRUE(first && second);
    auto third = engine_->answer(task("SELECT 1"));
    ASSERT_FALSE(third);
    EXPECT_EQ(third.error().code, ErrorCode::slow_down);
    first->reset();
    EXPECT_EQ(ask("SELECT 1"), "1\n");
}

TEST_F(DuckDbEngine, WritesFilesWithTheirStatistics) {
    const auto path = folder_.path() + "/out.parquet";
    SqlColumns columns = {field("A", Kind::bigint),           field("s", Kind::varchar),
                          field("x", Kind::double_precision), field("ts", Kind::timestamp),
                          field("day", Kind::date),           field("n", Kind::integer)};
    columns[0].nullable = false;
    const auto written = engine_->write(
        task("SELECT i::VARCHAR, repeat('\u00fc', 40) || i, CASE WHEN i = 3 THEN 'nan' ELSE '1' "
             "END, "
             "TIMESTAMP '2020-01-01 00:00:00.5', DATE '2020-02-03', CASE WHEN i > 0 THEN i END "
             "FROM range(10) t(i)"),
        columns, path, nullptr);
    ASSERT_TRUE(written) << to_string(written.error());
    const TableObject& object = written->object;
    EXPECT_EQ(object.rows, 10U);
    EXPECT_EQ(object.bytes, std::filesystem::file_size(path));
    EXPECT_EQ(object.checksum.size(), 16U);
    EXPECT_EQ(object.ranges.at("A"), (TableObject::Range{"0", "9", 0}));
    EXPECT_EQ(object.ranges.at("n"), (TableObject::Range{"1", "9", 1}));
    EXPECT_EQ(object.ranges.at("x"), (TableObject::Range{{}, {}, 0}));
    EXPECT_EQ(object.ranges.at("ts").max, "2020-01-01T00:00:00.500000Z");
    EXPECT_EQ(object.ranges.at("day").min, "2020-02-03");
    const std::string cut = [] {
        std::string text;
        for (int i = 0; i < 32; ++i) text += "\u00fc";
        return text;
    }();
    EXPECT_EQ(object.ranges.at("s").min, cut);
    EXPECT_EQ(object.ranges.at("s").max, cut + "\U0010FFFF");
    const QuestionRelation relation{
        .name = "r1", .columns = columns, .content = RelationFiles{{{.path = path}}}};
    EXPECT_EQ(ask("SELECT sum(A), count(n), max(ts) FROM r1", {relation}),
              "45|9|2020-01-01 00:00:00.5\n");
}

TEST_F(DuckDbEngine, AFileThatCannotBeWrittenLeavesNone) {
    const auto path = folder_.path() + "/out.parquet";
    SqlColumns columns = {field("a", Kind::bigint)};
    columns[0].nullable = false;
    const auto code = [&](const std::string& sql) {
        const auto written = engine_->write(task(sql), columns, path, nullptr);
        EXPECT_FALSE(written);
        EXPECT_FALSE(std::filesystem::exists(path));
        return written ? std::string() : to_string(written.error());
    };
    EXPECT_EQ(code("SELECT CASE WHEN i < 100000 THEN i END FROM range(200000) t(i)"),
              "error 3017: column \"a\" is NOT NULL, and a row has no value for it");
    const auto converted = code(
        "SELECT CASE WHEN i < 100000 THEN i::VARCHAR ELSE 'x' END "
        "FROM range(200000) t(i)");
    EXPECT_NE(converted.find("error 3016"), std::string::npos) << converted;
    EXPECT_NE(converted.find("\"a\""), std::string::npos) << converted;
    EXPECT_NE(code("SELECT 1, 2").find("error 2002"), std::string::npos);
    const auto nowhere = engine_->write(task("SELECT 1"), columns, "/nonexistent/x", nullptr);
    ASSERT_FALSE(nowhere);
    EXPECT_EQ(nowhere.error().code, ErrorCode::cannot_write) << to_string(nowhere.error());
    const auto begin = std::chrono::steady_clock::now();
    const auto given_up = engine_->write(
        task("SELECT i FROM range(100000000000) t(i)"), columns, path,
        [&] { return std::chrono::steady_clock::now() - begin > std::chrono::milliseconds(50); });
    ASSERT_FALSE(given_up);
    EXPECT_EQ(given_up.error().code, ErrorCode::cancelled);
    EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::milliseconds(150));
}

TEST_F(DuckDbEngine, FilesThatAreGoneOrDamagedAreNamed) {
    const auto relation = [&](const std::string& path) {
        return QuestionRelation{.name = "r1",
                                .columns = {field("a", Kind::bigint)},
                                .content = RelationFiles{{{.path = path}}}};
    };
    const auto gone = ask("SELECT * FROM r1", {relation(folder_.path() + "/gone.parquet")});
    EXPECT_NE(gone.find("error 4001"), std::string::npos) << gone;
    EXPECT_NE(gone.find("gone.parquet"), std::string::npos) << gone;
    const auto path = folder_.path() + "/junk.parquet";
    std::ofstream(path) << "PAR1 this is no file of columns PAR1";
    const auto junk = ask("SELECT * FROM r1", {relation(path)});
    EXPECT_NE(junk.find("error 4020"), std::string::npos) << junk;
    EXPECT_NE(junk.find("junk.parquet"), std::string::npos) << junk;
}

// A function of another DuckDB that has not been judged fails here.
TEST(Functions, EachOfTheLibraryIsAllowedOrRefused) {
    duckdb::DuckDB database;
    duckdb::Connection connection(database);
    const auto names = [&](const std::string& types) {
        const auto result = connection.Query(
            "SELECT DISTINCT function_name FROM duckdb_functions() WHERE "
            "function_type IN (" +
            types + ")");
        std::vector<std::string> all;
        for (duckdb::idx_t i = 0; i < result->RowCount(); ++i) {
            all.push_back(result->GetValue(0, i).ToString());
        }
        return all;
    };
    const auto functions = names("'scalar', 'aggregate', 'macro'");
    EXPECT_GT(functions.size(), 700U);
    for (const std::string& name : functions) {
        EXPECT_NE(questions::verdict_on(to_lower(name)), questions::Verdict::unknown) << name;
    }
    const auto refused = questions::refused_table_functions();
    for (const std::string& name : names("'table', 'table_macro'")) {
        const bool judged = questions::is_allowed_table_function(name) ||
                            std::find(refused.begin(), refused.end(), name) != refused.end();
        EXPECT_TRUE(judged) << name;
    }
}

}  // namespace baton::duckdb_engine
