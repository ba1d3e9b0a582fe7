#include "doors/pg/catalog/pg_catalog.h"

#include <atomic>
#include <chrono>
#include <ctime>
#include <future>
#include <latch>
#include <thread>

#include <gtest/gtest.h>
#include <sqlite3.h>

#include "base/text.h"
#include "doors/pg/catalog/sqlite_memory.h"

namespace baton::pg {
namespace {

World world() {
    World world{.user = "ann",
                .database = "db",
                .version = "PostgreSQL 15.0",
                .process = 7,
                .settings = {{"server_version", "15.0"}}};
    world.relations.push_back({.schema = "baton",
                               .name = "workers",
                               .kind = 'v',
                               .comment = "machines",
                               .columns = {{.name = "name", .comment = "of it"},
                                           {.name = "used", .type = pgwire::KnownType::int8}}});
    world.relations.push_back(
        {.schema = "public",
         .name = "s",
         .kind = 'r',
         .columns = {{.name = "a", .type = pgwire::KnownType::int2, .not_null = true}}});
    return world;
}

std::string asked(std::string_view statement, std::vector<SqlValue> parameters = {}) {
    const auto rows = answer(world(), statement, parameters);
    if (!rows) return to_string(rows.error());
    std::string text;
    for (const SqlRow& row : rows->rows) {
        if (!text.empty()) text += "\n";
        for (std::size_t i = 0; i < row.size(); ++i) {
            if (i > 0) text += "|";
            if (const auto* number = std::get_if<std::int64_t>(&row[i])) {
                text += std::to_string(*number);
            } else if (const auto* string = std::get_if<std::string>(&row[i])) {
                text += *string;
            }
        }
    }
    return text;
}

TEST(PgCatalog, KnowsRelationsAndColumns) {
    EXPECT_EQ(asked("SELECT n.nspname, c.relname, c.relkind FROM pg_catalog.pg_class c JOIN "
                    "pg_catalog.pg_namespace n ON n.oid = c.relnamespace ORDER BY 1"),
              "baton|workers|v\npublic|s|r");
    EXPECT_EQ(asked("SELECT column_name, data_type, is_nullable FROM information_schema.columns "
                    "WHERE table_name = $1",
                    {"s"}),
              "a|smallint|NO");
    EXPECT_EQ(asked("SELECT col_description('workers'::regclass, 1), "
                    "obj_description('baton.workers'::regclass, 'pg_class')"),
              "of it|machines");
}

TEST(PgCatalog, AnswersWithoutATable) {
    EXPECT_EQ(asked("SELECT 1, 'a', version(), current_user, pg_backend_pid(), current_schema"),
              "1|a|PostgreSQL 15.0|ann|7|baton");
    EXPECT_EQ(asked("SELECT current_setting('server_version')"), "15.0");
}

TEST(PgCatalog, NamesAndTypesItsColumns) {
    const auto rows = answer(world(),
                             "SELECT 1, version(), relname, oid, relhasindex, 2 AS b, "
                             "5000000000 FROM pg_class",
                             {});
    ASSERT_TRUE(rows) << to_string(rows.error());
    using pgwire::ColumnType;
    EXPECT_EQ(rows->columns, (std::vector<pgwire::Column>{{"?column?", ColumnType::int32},
                                                          {"version", ColumnType::text},
                                                          {"relname", ColumnType::text},
                                                          {"oid", ColumnType::int32},
                                                          {"relhasindex", ColumnType::boolean},
                                                          {"b", ColumnType::int32},
                                                          {"?column?", ColumnType::integer}}));
}

TEST(PgCatalog, KnowsTheFormsOfPostgres) {
    EXPECT_EQ(asked("SELECT '5'::int + 1, 16::regtype, 'text'::regtype::oid, E'a\\tb', 't'::bool"),
              "6|boolean|25|a\tb|1");
    EXPECT_EQ(asked("SELECT relname FROM pg_class WHERE relname OPERATOR(pg_catalog.~) '^(w.*)$' "
                    "COLLATE pg_catalog.default"),
              "workers");
    EXPECT_EQ(asked("SELECT relname FROM pg_class WHERE relname !~ '^w' AND relname ~* '^S$'"),
              "s");
    EXPECT_EQ(asked("SELECT relname FROM pg_class WHERE relkind = ANY (ARRAY['v', 'm'])"),
              "workers");
    EXPECT_EQ(asked("SELECT relname FROM pg_class WHERE relkind = ANY ('{v,m}'::char[])"),
              "workers");
    EXPECT_EQ(asked("SELECT relname FROM pg_class WHERE relkind <> ALL ('{v,m}')"), "s");
    EXPECT_EQ(asked("SELECT ARRAY(SELECT relname FROM pg_class ORDER BY 1)"), "{s,workers}");
    EXPECT_EQ(asked("SELECT (current_schemas(false))[s.r] FROM generate_series(1, 2) AS s(r)"),
              "baton\npublic");
    EXPECT_EQ(asked("SELECT x FROM pg_catalog.unnest('{a,b}'::text[]) x"), "a\nb");
    EXPECT_EQ(asked("SELECT 1 WHERE 'pg_x' LIKE 'pg\\\\_%' AND 'pgyx' NOT LIKE 'pg\\\\_%'"), "1");
    EXPECT_EQ(asked("SELECT CASE WHEN true THEN 'a' END::text, trim(both 'x' from 'xax')"), "a|a");
}

TEST(PgCatalog, CanOnlyBeRead) {
    for (const char* statement :
         {"DELETE FROM pg_class", "INSERT INTO pg_class(oid) VALUES (1)", "DROP TABLE pg_class",
          "ATTACH '/tmp/x' AS x", "PRAGMA journal_mode", "SELECT * FROM sqlite_master",
          "SELECT load_extension('x')", "SELECT 1; DELETE FROM pg_class", "VACUUM INTO '/tmp/x'"}) {
        EXPECT_NE(asked(statement).find("error 2001"), std::string::npos) << statement;
    }
}

TEST(PgCatalog, GivesUpInTime) {
    EXPECT_NE(asked("WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r) "
                    "SELECT count(*) FROM r")
                  .find("takes too long"),
              std::string::npos);
    EXPECT_NE(asked("WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r) "
                    "SELECT n FROM r")
                  .find("takes too long"),
              std::string::npos);
    const std::string evil(40, 'a');
    EXPECT_EQ(asked("SELECT '" + evil + "' ~ '^(a*)*b$'"), "0");
    EXPECT_EQ(asked("SELECT 'a' ~ '['"), "0");
    EXPECT_NE(
        asked("SELECT " + std::string(5'000, '(') + "1" + std::string(5'000, ')')).find("error"),
        std::string::npos);
}

TEST(PgCatalog, NestingEndsNoProcess) {
    std::string nested = "SELECT * FROM ";
    while (nested.size() < 90'000) nested += "unnest(SELECT x FROM ";
    EXPECT_NE(asked(nested).find("error 2001"), std::string::npos);
    nested = "SELECT 1";
    while (nested.size() < 90'000) nested = "SELECT (" + nested + ")";
    EXPECT_NE(asked(nested).find("error 2001"), std::string::npos);
}

// The worst that a reader may ask: a second of the processor, 64 MB of memory, nothing on disk.
TEST(PgCatalog, TheWorstQuestionIsBounded) {
    const std::string rows = "WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r) ";
    for (const std::string& question :
         {rows + "SELECT count(*) FROM (SELECT DISTINCT hex(zeroblob(50000)) || n FROM r)",
          rows + "SELECT max(x) FROM (SELECT replace(hex(zeroblob(50000)), '0', 'ab') x FROM r)",
          rows + "SELECT group_concat(hex(zeroblob(100000))) FROM r",
          rows + "SELECT n, hex(zeroblob(60000)) FROM r ORDER BY 2, 1",
          std::string("WITH RECURSIVE r(t) AS (SELECT hex(zeroblob(100000)) UNION ALL SELECT t || "
                      "'x' FROM r) "
                      "SELECT length(t) FROM r")}) {
        const std::clock_t before = std::clock();
        EXPECT_NE(asked(question).find("error"), std::string::npos) << question;
        EXPECT_LT(std::clock() - before, 4 * CLOCKS_PER_SEC) << question;
    }
    // A pattern that took half a minute.
    std::string pattern;
    for (int i = 0; i < 40; ++i) pattern += "(a|aa)+";
    EXPECT_EQ(asked("SELECT '" + std::string(280, 'a') + "b' ~ '^" + pattern + "$'"), "0");
}

TEST(PgCatalog, AQuestionThatIsHaltedEnds) {
    using Clock = std::chrono::steady_clock;
    std::atomic<bool> halt = false;
    Clock::time_point halted;
    std::promise<void> never_kept;
    std::thread other([&] {
        // By then the question is under way; halted before, it would end as well.
        never_kept.get_future().wait_for(std::chrono::milliseconds(50));
        halted = Clock::now();
        halt = true;
    });
    const auto rows = answer(
        world(), "SELECT count(*) FROM pg_type a, pg_type b, pg_type c, pg_type d", {}, &halt);
    const auto ended = Clock::now();
    other.join();
    ASSERT_FALSE(rows);
    EXPECT_EQ(rows.error().code, ErrorCode::cancelled);
    EXPECT_LT(ended - halted, std::chrono::milliseconds(500));  // of a busy machine
    const auto never = answer(world(), "SELECT 1 FROM pg_class", {}, &halt);
    ASSERT_FALSE(never);
    EXPECT_EQ(never.error().code, ErrorCode::cancelled);
}

// What others take at the same time is not counted.
TEST(PgCatalog, MemoryIsCountedForEachQuestion) {
    std::latch enough(1);
    std::latch measured(1);
    std::thread other([&] {
        std::vector<void*> blocks;
        for (int i = 0; i < 100; ++i) blocks.push_back(sqlite3_malloc(1 << 20));
        EXPECT_NE(blocks.back(), nullptr);
        enough.count_down();
        measured.wait();
        for (void* block : blocks) sqlite3_free(block);
    });
    enough.wait();
    EXPECT_EQ(asked("SELECT count(*) FROM pg_class"), "2");
    {
        const MemoryBound bound(1 << 20);
        EXPECT_EQ(sqlite3_malloc(2 << 20), nullptr);
        void* const block = sqlite3_malloc(1 << 19);
        EXPECT_NE(block, nullptr);
        EXPECT_EQ(sqlite3_realloc(block, 2 << 20), nullptr);
        sqlite3_free(block);
    }
    void* const block = sqlite3_malloc(2 << 20);
    EXPECT_NE(block, nullptr);
    sqlite3_free(block);
    measured.count_down();
    other.join();
}

// A driver's SELECT 1 is asked often, and took 27 ms with 5,000 sources.
TEST(PgCatalog, OnlyWhatIsAboutRelationsNeedsThem) {
    for (const char* statement : {"SELECT 1", "SELECT version(), current_database()", "SHOW x",
                                  "SELECT current_setting('x'), $1::int"}) {
        EXPECT_FALSE(concerns_relations(statement)) << statement;
    }
    for (const char* statement :
         {"SELECT * FROM pg_class", "TABLE pg_class", "SELECT 'x'::regclass",
          "SELECT to_regclass('x')", "SELECT obj_description(1, 'pg_class')",
          "SELECT (SELECT 1 FROM pg_type)"}) {
        EXPECT_TRUE(concerns_relations(statement)) << statement;
    }
}

TEST(PgCatalog, RefusesWhatItDoesNotKnow) {
    EXPECT_NE(asked("SELECT * FROM pg_nothing").find("not supported: no such table: pg_nothing"),
              std::string::npos);
    for (const char* statement :
         {"SELECT )", "SELECT ]", "SELECT ::int", "SELECT a::", "::", "", "SELECT ARRAY[",
          "SELECT x[", "SELECT any(", "OPERATOR(", "SELECT FROM unnest(", "COLLATE"}) {
        EXPECT_NE(asked(statement).find("error 2001"), std::string::npos) << statement;
    }
}

}  // namespace
}  // namespace baton::pg
