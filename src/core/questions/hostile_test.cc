// Questions that want more than rows of their relations: each is refused with a number, or bounded.
// Canary files lie around; no answer has their content, and none appears or changes.
#include <chrono>
#include <condition_variable>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <thread>

#include <gtest/gtest.h>

#include "adapters/duckdb/duckdb_engine.h"
#include "core/questions/gate.h"
#include "core/questions/tree.h"
#include "testing/temporary_directory.h"

namespace baton::questions {

namespace {

constexpr const char* kCanary = "canary-8c1f";

class Hostile : public ::testing::Test {
protected:
    Hostile() {
        std::ofstream(folder_ / "secret.csv") << "a\n" << kCanary << "\n";
        std::ofstream(folder_ / "secret.json") << "{\"a\":\"" << kCanary << "\"}\n";
        auto opened = duckdb_engine::open_engine({.slots = 2,
                                                  .memory_max = 128U << 20U,
                                                  .spill_folder = spill_ / "spill",
                                                  .spill_bytes_max = 64U << 20U});
        CHECK(opened);
        engine_ = *std::move(opened);
        const auto written =
            engine_->write({.tree = *engine_->parse(std::string("SELECT '") + kCanary + "' AS a")},
                           {{.name = "a"}}, folder_ / "secret.parquet", nullptr);
        CHECK(written);
    }

    // The rows as text, or the error. It gives up after half a second of rows.
    std::string asked(const std::string& text) {
        const auto outcome = run(text);
        return outcome ? *outcome : to_string(outcome.error());
    }

    Result<std::string> run(const std::string& text) {
        TRY(check_text(text));
        TRY_ASSIGN(tree_text, engine_->parse(text));
        TRY_ASSIGN(tree, json::parse(tree_text, tree_limits()));
        TRY(gate(tree, {.version = "PostgreSQL 15.0"}, text));
        TRY_ASSIGN(mentions, mentioned(tree, text));
        for (const Mention& mention : mentions) {
            if (mention.name == "t" && mention.schema.empty()) continue;
            return Error{.code = ErrorCode::unknown_table,
                         .message = "unknown table " + mention.schema + "." + mention.name};
        }
        TRY(bind_relations(tree, std::vector<std::string>(mentions.size(), "__baton_0")));
        const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(500);
        const auto rows = std::make_shared<const std::vector<SqlRow>>(
            std::vector<SqlRow>{{std::int64_t{1}}, {std::int64_t{2}}});
        QuestionTask task{
            .tree = json::to_text(tree),
            .relations = {{.name = "__baton_0",
                           .columns = {{.name = "a", .type = {.kind = SqlType::Kind::bigint}}},
                           .content = RelationRows{rows}}},
            .text = text};
        task.given_up = [&] { return std::chrono::steady_clock::now() > end; };
        TRY_ASSIGN(answer, engine_->answer(std::move(task)));
        std::mutex mutex;
        std::condition_variable over;
        bool done = false;
        std::thread watch([&, handle = answer.get()] {
            std::unique_lock lock(mutex);
            if (!over.wait_until(lock, end, [&] { return done; })) handle->interrupt();
        });
        auto rows_shown = drained(*answer);
        {
            const std::lock_guard lock(mutex);
            done = true;
        }
        over.notify_one();
        watch.join();
        return rows_shown;
    }

    static Result<std::string> drained(QuestionAnswer& answer) {
        std::string shown;
        for (bool ended = false; !ended && shown.size() < 10'000;) {
            TRY_ASSIGN(batch, answer.next());
            for (const SqlRow& row : batch.rows) {
                for (const SqlValue& value : row) {
                    if (const auto* word = std::get_if<std::string>(&value)) shown += *word + "|";
                }
            }
            ended = batch.ended;
        }
        return shown;
    }

    std::size_t files() const {
        std::size_t count = 0;
        for ([[maybe_unused]] const auto& one :
             std::filesystem::recursive_directory_iterator(folder_.path())) {
            count += 1;
        }
        return count;
    }

    testing::TemporaryDirectory folder_;
    testing::TemporaryDirectory spill_;
    std::unique_ptr<QuestionEngine> engine_;
};

}  // namespace

TEST_F(Hostile, FilesAreNeitherReadNorWritten) {
    const std::string at = folder_.path();
    const std::vector<std::string> texts = {
        "SELECT * FROM read_csv('$/secret.csv')",
        "SELECT * FROM read_csv_auto('$/secret.csv')",
        "SELECT * FROM read_json('$/secret.json')",
        "SELECT * FROM read_ndjson('$/secret.json')",
        "SELECT * FROM read_parquet('$/secret.parquet')",
        "SELECT * FROM parquet_scan('$/secret.parquet')",
        "SELECT * FROM parquet_metadata('$/secret.parquet')",
        "SELECT * FROM parquet_kv_metadata('$/secret.parquet')",
        "SELECT * FROM parquet_schema('$/secret.parquet')",
        "SELECT * FROM parquet_bloom_probe('$/secret.parquet', 'a', 'x')",
        "SELECT * FROM read_text('$/secret.csv')",
        "SELECT * FROM read_blob('$/*')",
        "SELECT * FROM glob('$/*')",
        "SELECT * FROM sniff_csv('$/secret.csv')",
        "SELECT * FROM baton_relation_files('$/secret.parquet')",
        "SELECT * FROM '$/secret.parquet'",
        "FROM \"$/secret.csv\"",
        "SELECT * FROM \"$/secret.json\" x",
        "SELECT (SELECT max(a) FROM '$/secret.csv')",
        "SELECT * FROM t, LATERAL (FROM '$/secret.csv')",
        "WITH c AS (FROM '$/secret.csv') FROM c",
        "SELECT * FROM t WHERE a IN (FROM '$/secret.csv')",
        "SELECT * FROM t ORDER BY (SELECT 1 FROM '$/secret.csv')",
        "SELECT * FROM t LIMIT (SELECT 1 FROM '$/secret.csv')",
        "SELECT CASE WHEN true THEN (FROM read_text('$/secret.csv')) END",
        "SELECT list_transform([1], x -> (SELECT content FROM read_text('$/secret.csv')))",
        "SELECT * FROM query('FROM read_text(''$/secret.csv'')')",
        "SELECT * FROM query_table('$/secret.csv')",
        "SELECT query('SELECT 1')",
        "SELECT * FROM json_execute_serialized_sql(json_serialize_sql('FROM "
        "read_text(''$/secret.csv'')'))",
        "COPY t TO '$/new.csv'",
        "COPY (SELECT 1) TO '$/new.csv'",
        "COPY t FROM '$/secret.csv'",
        "EXPORT DATABASE '$/new'",
        "IMPORT DATABASE '$'",
        "ATTACH '$/new.db'",
        "ATTACH '$/new.db' AS n",
        "DETACH memory",
        "USE memory",
        "LOAD '$/x.duckdb_extension'",
        "INSTALL httpfs",
        "PRAGMA database_list",
        "PRAGMA enable_profiling",
        "SET temp_directory='$'",
        "RESET memory_limit",
        "SET GLOBAL threads=1",
        "CALL enable_logging()",
        "SELECT * FROM enable_logging(storage='file', storage_path='$/log')",
        "SELECT write_log('x')",
        "CREATE TABLE n AS SELECT 1",
        "CREATE VIEW t AS SELECT 1",
        "CREATE MACRO m() AS 1",
        "CREATE TEMP TABLE n(a INT)",
        "INSERT INTO t VALUES (1)",
        "UPDATE t SET a = 1",
        "DELETE FROM t",
        "DROP TABLE t",
        "TRUNCATE t",
        "VACUUM",
        "CHECKPOINT",
        "PREPARE p AS SELECT 1",
        "EXECUTE p",
        "DEALLOCATE p",
        "BEGIN",
        "COMMIT",
        "EXPLAIN SELECT 1",
        "EXPLAIN ANALYZE SELECT 1",
        "DESCRIBE t",
        "SHOW TABLES",
        "SUMMARIZE t",
        "SELECT 1; SELECT 2",
        "SELECT 1; DROP TABLE t",
        "SELECT 1;;COPY t TO '$/new.csv'",
        "SELECT * FROM information_schema.tables",
        "SELECT * FROM pg_catalog.pg_class",
        "SELECT * FROM duckdb_settings()",
        "SELECT * FROM duckdb_secrets()",
        "FROM duckdb_tables",
        "SELECT * FROM sqlite_master",
        "SELECT * FROM main.duckdb_settings",
        "SELECT * FROM pragma_database_size()",
        "SELECT * FROM system.main.duckdb_tables",
        "SELECT current_setting('temp_directory')",
        "SELECT getvariable('x')",
        "SET VARIABLE x = 1",
        "SELECT getenv('HOME')",
        "SELECT nextval('s')",
        "SELECT pg_get_viewdef(1)",
        "SELECT * FROM seq_scan('t')",
        "SELECT * FROM arrow_scan(1, 2, 3)",
        "SELECT * FROM test_all_types()",
        "SELECT * FROM sql_auto_complete('SEL')",
        "SELECT * FROM which_secret('x', 'y')",
        "SELECT * FROM repeat('x', 1000000000000)",
        "FROM t PIVOT (sum(a) FOR a IN (1, 2))",
        "PIVOT t ON a",
        "UNPIVOT t ON a",
        "SELECT * FROM t POSITIONAL JOIN t u",
        "SELECT a::\"$/secret.csv\" FROM t",
        "SELECT 1 /* ; */ FROM /* x */ read_text/**/('$/secret.csv')",
        "SELECT * FROM READ_TEXT('$/secret.csv')",
        "SELECT * FROM \"read_text\"('$/secret.csv')",
        "SELECT * FROM main.read_text('$/secret.csv')",
        "SELECT * FROM system.main.read_text('$/secret.csv')",
        "SELECT * FROM r\u0435ad_text('$/secret.csv')",
        "SELECT '$/secret.csv'.read_text()",
        "SELECT json_serialize_plan('FROM t')",
        "SELECT a FROM t AT (VERSION => (SELECT 1))",
        "SELECT * FROM t AT (FOO => 1)",
        "SELECT x FROM t x(x) TABLESAMPLE reservoir(99999999999 ROWS)",
        "SELECT * FROM range((SELECT count(*) FROM '$/secret.csv'))",
        "\xff\xfe",
        "SELECT '\xc3'",
        "SELECT $$ FROM read_text('$/secret.csv')",
        "",
        ";",
        "--",
        "/*",
        "'",
        "\"",
        "$x$",
    };
    const std::size_t before = files();
    for (std::string text : texts) {
        for (std::size_t i = text.find("$/"); i != std::string::npos; i = text.find("$/", i)) {
            text.replace(i, 1, at);
        }
        const auto outcome = asked(text);
        EXPECT_TRUE(outcome.starts_with("error ")) << text << "\n" << outcome;
        EXPECT_FALSE(outcome.starts_with("error 9")) << text << "\n" << outcome;
        EXPECT_EQ(outcome.find(kCanary), std::string::npos) << text;
    }
    EXPECT_EQ(files(), before);
    EXPECT_FALSE(std::filesystem::exists("new.csv"));
    EXPECT_EQ(asked("SELECT 'still ' || count(*) FROM t"), "still 2|");
}

// Without the gate the instance itself holds, too.
TEST_F(Hostile, TheInstanceOpensNothingByItself) {
    const std::string at = folder_.path();
    for (const std::string& text :
         {"FROM read_text('" + at + "/secret.csv')", "FROM read_csv('" + at + "/secret.csv')",
          "FROM read_parquet('" + at + "/secret.parquet')", "FROM '" + at + "/secret.parquet'",
          "FROM glob('" + at + "/*')", "FROM sniff_csv('" + at + "/secret.csv')"}) {
        auto answer = engine_->answer({.tree = *engine_->parse(text)});
        if (!answer) continue;
        const auto batch = (*answer)->next();
        EXPECT_TRUE(!batch || batch->rows.empty()) << text;
    }
}

TEST_F(Hostile, HugeWorkIsBoundedOrCancelled) {
    const auto digits = [](std::size_t count) { return std::string(count, '9'); };
    std::string wide = "SELECT ";
    for (int i = 0; i < 20'000; ++i) wide += (i > 0 ? ",a" : "a");
    std::string ctes = "WITH c0 AS (SELECT 1 AS x)";
    for (int i = 1; i < 60; ++i) {
        const auto inner = "c" + std::to_string(i - 1);
        ctes +=
            ", c" + std::to_string(i) + " AS (SELECT p.x FROM " + inner + " p, " + inner + " q)";
    }
    const std::vector<std::string> texts = {
        "SELECT '" + std::string(100U << 20U, 'x') + "'",
        "SELECT " + digits(1'000'000),
        "SELECT " + digits(400) + "." + digits(400),
        "SELECT 1e999",
        "SELECT '(a{1000}){1000}' ~ '((((a{100}){100}){100}){100})'",
        "SELECT regexp_matches(repeat('a', 100000), '(a*)*(a*)*(a*)*b')",
        "SELECT regexp_replace(repeat('a', 1000000), 'a', repeat('b', 1000000), 'g')",
        "SELECT range(1000000000000000000)",
        "SELECT generate_series(1, 1000000000000)",
        "SELECT list_sum(range(1000000)) FROM t, range(10000)",
        "SELECT count(*) FROM range(1000000000000000000)",
        "SELECT count(*) FROM range(1000000000) a, range(1000000000) b",
        "SELECT array_agg(i) FROM range(10000000000) r(i)",
        "SELECT string_agg(i::VARCHAR, ',') FROM range(10000000000) r(i)",
        "SELECT DISTINCT hash(i) FROM range(10000000000) r(i) ORDER BY 1",
        "WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r) SELECT count(*) FROM r",
        "WITH RECURSIVE r AS (SELECT 1 AS n UNION ALL SELECT n FROM r, range(1000)) FROM r",
        "SELECT lpad('x', 1000000000)",
        "SELECT list_resize([1], 1000000000000)",
        "SELECT bitstring('1', 1000000000)",
        "SELECT printf('%1000000000d', 1)",
        "SELECT format('{:>{}}', 'x', 1000000000)",
        "SELECT to_base(1, 2, 1000000000)",
        "SELECT factorial(100000)",
        "SELECT 2 ** 1000000",
        wide,
        ctes + " SELECT count(*) FROM c59",
    };
    for (const std::string& text : texts) {
        const auto begin = std::chrono::steady_clock::now();
        const auto outcome = asked(text);
        const auto took = std::chrono::steady_clock::now() - begin;
        EXPECT_LT(took, std::chrono::seconds(6)) << text.substr(0, 100);
        EXPECT_FALSE(outcome.starts_with("error 9")) << text.substr(0, 100) << "\n" << outcome;
    }
    EXPECT_EQ(asked("SELECT 'still ' || count(*) FROM t"), "still 2|");
}

}  // namespace baton::questions
