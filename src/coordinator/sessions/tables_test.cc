// Tables and questions through a session, on a folder store and the real engine.
#include <filesystem>
#include <thread>

#include <gtest/gtest.h>

#include "coordinator/sessions/session.h"
#include "testing/coordinator/coordinator_test_base.h"
#include "testing/tables/table_world.h"

namespace baton::coordinator {
namespace {

using namespace std::chrono_literals;

class SessionTables : public testing::CoordinatorTest {
protected:
    void SetUp() override { open_with_tables(); }
    void TearDown() override {
        session_.reset();
        coordinator_.reset();
    }

    void open_with_tables() {
        CoordinatorOptions options;
        options.tables = &world_.access();
        options.version = "test";
        open(options);
    }
    // A table of three rows.
    void make_people() {
        run("CREATE TABLE people (id BIGINT NOT NULL, name TEXT, score DOUBLE, born DATE)");
        run("INSERT INTO people VALUES (1, 'ann', 1.5, '2001-02-03'), (2, NULL, NULL, NULL), "
            "(3, 'bob', -2, '1999-12-31')");
    }
    std::string tag_of(std::string_view sql) { return run(sql).back().tag; }

    testing::TableWorld world_{clock_};
};

TEST_F(SessionTables, RowsThatAreAddedAreThereInTheirTypes) {
    make_people();
    EXPECT_EQ(rows("SELECT * FROM people ORDER BY id"),
              "1|ann|1.5|2001-02-03\n2|||\n3|bob|-2|1999-12-31\n");
    EXPECT_EQ(rows("SELECT name FROM People WHERE ID = 3"), "bob\n");
    EXPECT_EQ(rows("SELECT p.name FROM public.people p, people q WHERE p.id + 2 = q.id"), "ann\n");
}

TEST_F(SessionTables, AnswersSayHowManyRowsWereAdded) {
    run("CREATE TABLE t (a INT)");
    EXPECT_EQ(tag_of("INSERT INTO t VALUES (1), (2)"), "INSERT 0 2");
    EXPECT_EQ(tag_of("INSERT INTO t SELECT a + 10 FROM t"), "INSERT 0 2");
    EXPECT_EQ(tag_of("INSERT INTO t SELECT 1 WHERE 1 = 2"), "INSERT 0 0");
    EXPECT_EQ(tag_of("CREATE TABLE u AS SELECT a FROM t WHERE a > 1"), "SELECT 3");
    EXPECT_EQ(rows("SELECT count(*), sum(a) FROM u"), "3|25\n");
}

TEST_F(SessionTables, AQuestionNeedsNoTable) {
    EXPECT_EQ(rows("SELECT 1"), "1\n");
    EXPECT_EQ(rows("SELECT 1 + 1 AS two, 'x' || 'y'"), "2|xy\n");
    EXPECT_EQ(rows("VALUES (1, 'a'), (2, 'b')"), "1|a\n2|b\n");
    EXPECT_EQ(rows("WITH x AS (SELECT 1 AS a UNION ALL SELECT 2) SELECT sum(a) FROM x"), "3\n");
}

TEST_F(SessionTables, ViewsAreRelationsLikeOthers) {
    make_people();
    run("CREATE LOGICAL SOURCE s (x INT8); CREATE SINK k (x INT8) TYPE Void");
    EXPECT_EQ(rows("SELECT count(*) FROM baton.logical_sources"), "1\n");
    EXPECT_EQ(rows("SELECT name FROM baton.tables UNION ALL SELECT name FROM baton.sinks "
                   "ORDER BY 1"),
              "K\nPEOPLE\n");
    EXPECT_EQ(rows("SELECT t.name, p.name FROM baton.tables t JOIN people p ON p.id = 1"),
              "PEOPLE|ann\n");
}

TEST_F(SessionTables, StreamsStayStreams) {
    make_people();
    run("CREATE LOGICAL SOURCE s (x INT8)");
    EXPECT_EQ(error_of("SELECT x FROM s ORDER BY x").message, "ORDER BY is not supported");
    const Error mixed = error_of("SELECT s.x FROM s, people WHERE s.x = people.id");
    EXPECT_EQ(mixed.code, ErrorCode::not_supported) << to_string(mixed);
    EXPECT_EQ(error_of("SELECT x FROM peple ORDER BY x").hint, "did you mean \"PEOPLE\"?");
}

TEST_F(SessionTables, AnErrorIsAtItsPlaceInTheText) {
    make_people();
    const Error error = error_of("SHOW TABLES;\n  SELECT id,\n nope FROM people ORDER BY 1");
    EXPECT_EQ(error.code, ErrorCode::unknown_field) << to_string(error);
    ASSERT_TRUE(error.at);
    EXPECT_EQ(error.at->line, 3U);
    EXPECT_EQ(error.at->column, 2U);
}

TEST_F(SessionTables, ATextThatCannotBeReadRunsNotEvenInPart) {
    const Error error = error_of("CREATE TABLE t (a INT); SELECT FROM WHERE");
    EXPECT_EQ(error.code, ErrorCode::syntax) << to_string(error);
    EXPECT_EQ(rows("SHOW TABLES"), "");
}

TEST_F(SessionTables, RowsThatDoNotFitAddNothing) {
    make_people();
    const auto code = [&](std::string_view sql) { return error_of(sql).code; };
    EXPECT_EQ(code("INSERT INTO people VALUES (4, 'x', 1, NULL), (NULL, 'y', 1, NULL)"),
              ErrorCode::not_null_violation);
    EXPECT_EQ(code("INSERT INTO people VALUES ('four', 'x', 1, NULL)"), ErrorCode::cannot_convert);
    EXPECT_EQ(code("INSERT INTO people VALUES (4, 'x', 1, '2026-02-30')"),
              ErrorCode::cannot_convert);
    EXPECT_EQ(code("INSERT INTO people VALUES (4, 'x')"), ErrorCode::arity);
    EXPECT_EQ(code("INSERT INTO people (id, nam) VALUES (4, 'x')"), ErrorCode::unknown_field);
    EXPECT_EQ(code("INSERT INTO people (name) VALUES ('x')"), ErrorCode::not_null_violation);
    EXPECT_EQ(code("INSERT INTO peple VALUES (1)"), ErrorCode::unknown_table);
    EXPECT_EQ(rows("SELECT count(*) FROM people"), "3\n");
    run("INSERT INTO people (name, id) VALUES ('cid', 4)");
    EXPECT_EQ(rows("SELECT id, name, score FROM people WHERE id = 4"), "4|cid|\n");
}

TEST_F(SessionTables, ANameIsThatOfASourceASinkOrATable) {
    run("CREATE TABLE a (x INT)");
    EXPECT_EQ(error_of("CREATE LOGICAL SOURCE a (x INT8)").code, ErrorCode::table_exists);
    EXPECT_EQ(error_of("CREATE SINK a (x INT8) TYPE Void").code, ErrorCode::table_exists);
    run("CREATE LOGICAL SOURCE b (x INT8)");
    EXPECT_EQ(error_of("CREATE TABLE b (x INT)").code, ErrorCode::table_exists);
    EXPECT_EQ(error_of("CREATE TABLE a (x INT)").code, ErrorCode::table_exists);
    run("CREATE TABLE IF NOT EXISTS a (x INT)");
    run("DROP TABLE a; CREATE LOGICAL SOURCE a (x INT8)");
    EXPECT_EQ(error_of("DROP TABLE a").code, ErrorCode::unknown_table);
    run("DROP TABLE IF EXISTS a");
}

TEST_F(SessionTables, ATableThatIsMadeAnewIsEmpty) {
    make_people();
    run("DROP TABLE people");
    EXPECT_EQ(error_of("SELECT id FROM people ORDER BY id").code, ErrorCode::unknown_table);
    run("CREATE TABLE people (id BIGINT)");
    EXPECT_EQ(rows("SELECT count(*) FROM people"), "0\n");
}

TEST_F(SessionTables, ATableKnowsItsOlderVersions) {
    run("CREATE TABLE t (a INT); INSERT INTO t VALUES (1); INSERT INTO t VALUES (2)");
    EXPECT_EQ(rows("SELECT count(*) FROM t"), "2\n");
    EXPECT_EQ(rows("SELECT a FROM t AT (VERSION => 1)"), "1\n");
    EXPECT_EQ(rows("SELECT count(*) FROM t AT (VERSION => 0)"), "0\n");
    EXPECT_EQ(error_of("SELECT a FROM t AT (VERSION => 9)").code, ErrorCode::invalid_question);
}

TEST_F(SessionTables, AnInsertWithAKeyHappensOnce) {
    run("CREATE TABLE t (a INT)");
    EXPECT_EQ(tag_of("INSERT INTO t SET ('k' AS INSERT.KEY) VALUES (1)"), "INSERT 0 1");
    EXPECT_EQ(tag_of("INSERT INTO t SET ('k' AS INSERT.KEY) VALUES (1)"), "INSERT 0 0");
    EXPECT_EQ(tag_of("INSERT INTO t SET ('l' AS INSERT.KEY) VALUES (1)"), "INSERT 0 1");
    EXPECT_EQ(rows("SELECT count(*) FROM t"), "2\n");
}

TEST_F(SessionTables, ATransactionAddsItsRowsAtCommitAndInOneVersion) {
    run("CREATE TABLE t (a INT, b TEXT)");
    run("BEGIN; INSERT INTO t VALUES (1, 'x')");
    run("INSERT INTO t (b) VALUES ('y'), ('z')");
    EXPECT_EQ(rows("SELECT count(*) FROM t"), "0\n");
    run("COMMIT");
    EXPECT_EQ(rows("SELECT count(*), count(a) FROM t"), "3|1\n");
    EXPECT_EQ(rows("SELECT count(*) FROM t AT (VERSION => 1)"), "3\n");
    run("BEGIN; INSERT INTO t VALUES (7, 'x')");
    run("ROLLBACK");
    EXPECT_EQ(rows("SELECT count(*) FROM t"), "3\n");
}

TEST_F(SessionTables, ATransactionChangesTheCatalogOrOneTable) {
    run("CREATE TABLE t (a INT); CREATE TABLE u (a INT)");
    run("BEGIN; INSERT INTO t VALUES (1)");
    EXPECT_EQ(error_of("INSERT INTO u VALUES (1)").code, ErrorCode::transaction_state);
    run("ROLLBACK; BEGIN; INSERT INTO t VALUES (1)");
    EXPECT_EQ(error_of("CREATE SINK k (x INT8) TYPE Void").code, ErrorCode::transaction_state);
    run("ROLLBACK; BEGIN; CREATE SINK k (x INT8) TYPE Void");
    EXPECT_EQ(error_of("INSERT INTO t VALUES (1)").code, ErrorCode::transaction_state);
    run("ROLLBACK; BEGIN");
    EXPECT_EQ(error_of("INSERT INTO t VALUES ('x')").code, ErrorCode::cannot_convert);
    EXPECT_EQ(error_of("COMMIT").code, ErrorCode::transaction_state);
    EXPECT_EQ(rows("SELECT count(*) FROM t"), "0\n");
}

TEST_F(SessionTables, ManyClientsAddRowsTogether) {
    run("CREATE TABLE t (client INT, n INT)");
    constexpr int kClients = 8;
    constexpr int kRows = 25;
    std::vector<std::thread> clients;
    for (int client = 0; client < kClients; ++client) {
        clients.emplace_back([&, client] {
            Session session(*coordinator_, "c" + std::to_string(client));
            for (int n = 0; n < kRows; ++n) {
                const auto done =
                    session.execute("INSERT INTO t VALUES (" + std::to_string(client) + ", " +
                                    std::to_string(n) + ")");
                EXPECT_FALSE(done.error) << to_string(*done.error);
            }
        });
    }
    for (std::thread& client : clients) client.join();
    EXPECT_EQ(rows("SELECT count(*), count(DISTINCT client * 1000 + n) FROM t"), "200|200\n");
}

TEST_F(SessionTables, ABadRowOfOneClientIsNotThatOfAnother) {
    run("CREATE TABLE t (d DATE)");
    std::atomic<int> good = 0;
    std::atomic<int> bad = 0;
    std::vector<std::thread> clients;
    for (int client = 0; client < 8; ++client) {
        clients.emplace_back([&, client] {
            Session session(*coordinator_, "c");
            for (int n = 0; n < 10; ++n) {
                const bool fits = (client + n) % 2 == 0;
                const std::string day = fits ? "2026-01-01" : "2026-99-99";
                const auto done = session.execute("INSERT INTO t VALUES ('" + day + "')");
                EXPECT_EQ(done.error.has_value(), !fits);
                (done.error ? bad : good) += 1;
            }
        });
    }
    for (std::thread& client : clients) client.join();
    EXPECT_EQ(bad, 40);
    EXPECT_EQ(rows("SELECT count(*) FROM t"), std::to_string(good) + "\n");
}

TEST_F(SessionTables, ALargeAnswerComesInPortionsAndCanBeLeft) {
    run("CREATE TABLE t AS SELECT range AS n FROM range(100000)");
    auto results = run("SELECT n FROM t ORDER BY n");
    auto& stream = std::get<std::unique_ptr<RowStream>>(results.back().value);
    std::int64_t next = 0;
    while (next < 50'000) {
        const auto fed = stream->next(20s, 1'000);
        ASSERT_TRUE(fed) << to_string(fed.error());
        for (const SqlRow& row : fed->rows) EXPECT_EQ(std::get<std::int64_t>(row[0]), next++);
        ASSERT_FALSE(fed->ended);
    }
    stream.reset();
    EXPECT_EQ(rows("SELECT count(*) FROM t"), "100000\n");
}

TEST_F(SessionTables, AQuestionInPartsHasTheAnswerOfTheWhole) {
    CoordinatorOptions options;
    options.tables = &world_.access();
    options.questions_in_parts = {.leaves_max = 2, .bytes_min = 1};
    open(options);
    run("CREATE TABLE t (k INT, v BIGINT, d DOUBLE, s TEXT)");
    for (int i = 0; i < 5; ++i) {
        const std::string from = std::to_string(i * 1'000);
        run("INSERT INTO t SELECT range % 7, range + " + from +
            ", range / 3, CASE WHEN range % 11 = 0 THEN NULL ELSE 'x' || (range % 13) END "
            "FROM range(1000)");
    }
    const std::vector<std::string> questions = {
        "SELECT count(*), sum(v), min(s), max(d), count(s) FROM t",
        "SELECT k, count(*), avg(v), count(DISTINCT s) FROM t GROUP BY k ORDER BY k",
        "SELECT v, s FROM t WHERE k = 3 ORDER BY v DESC, s LIMIT 5",
        "SELECT DISTINCT s FROM t ORDER BY s NULLS FIRST",
        "SELECT sum(v * v) FROM t WHERE v % 2 = 0",
        "SELECT k, sum(v) FROM t GROUP BY k HAVING sum(v) > 1780000 ORDER BY 2",
        "SELECT a.k, count(*) FROM t a JOIN t b ON a.v = b.v + 1 GROUP BY a.k ORDER BY a.k"};
    for (const std::string& question : questions) {
        const std::string in_parts = rows(question);
        EXPECT_NE(in_parts, "") << question;
        // With a CTE it is answered whole.
        EXPECT_EQ(rows("WITH one AS (SELECT 1) " + question), in_parts) << question;
    }
}

TEST_F(SessionTables, ACancelEndsAQuestionSoon) {
    const auto begun = std::chrono::steady_clock::now();
    Session session(*coordinator_, "me");
    std::thread canceller([&] {
        while (std::chrono::steady_clock::now() < begun + 200ms) std::this_thread::yield();
        session.interrupt().raise();
    });
    const auto done = session.execute(
        "SELECT count(*) FROM range(1000000000) a, range(1000000000) b WHERE a.range = -b.range");
    canceller.join();
    ASSERT_TRUE(done.error);
    EXPECT_EQ(done.error->code, ErrorCode::cancelled) << to_string(*done.error);
    EXPECT_LT(std::chrono::steady_clock::now() - begun, 5s);
    session.interrupt().clear();
    EXPECT_FALSE(session.execute("SELECT 1").error);
}

TEST_F(SessionTables, WithoutAStoreTablesAreRefusedPlainly) {
    open();
    EXPECT_EQ(error_of("CREATE TABLE t (a INT)").code, ErrorCode::not_supported);
    EXPECT_EQ(error_of("INSERT INTO t VALUES (1)").code, ErrorCode::not_supported);
    EXPECT_EQ(error_of("SELECT 1").code, ErrorCode::syntax);
}

TEST_F(SessionTables, ThePlaceOfATableIsKeptAndNotTakenTwice) {
    const std::string place = world_.folder() + "/mine";
    std::filesystem::create_directory(place);
    const std::string set = " SET ('" + place + "' AS TABLE.LOCATION)";
    run("CREATE TABLE t (a INT)" + set + "; INSERT INTO t VALUES (1)");
    EXPECT_EQ(error_of("CREATE TABLE u (b TEXT)" + set).code, ErrorCode::table_exists);
    run("DROP TABLE t");
    run("CREATE TABLE t (a INT)" + set);
    EXPECT_EQ(rows("SELECT a FROM t"), "1\n") << "a table outlives its entry in the catalog there";
}

TEST_F(SessionTables, RowsOfAPartitionedTableAreInTheirFolders) {
    run("CREATE TABLE t (day DATE, n INT) SET ('day' AS TABLE.PARTITION_BY)");
    run("INSERT INTO t VALUES ('2026-01-01', 1), ('2026-01-02', 2), (NULL, 3), ('2026-01-01', 4)");
    EXPECT_EQ(rows("SELECT day, sum(n) FROM t GROUP BY day ORDER BY day NULLS LAST"),
              "2026-01-01|5\n2026-01-02|2\n|3\n");
    EXPECT_EQ(rows("SELECT n FROM t WHERE day = DATE '2026-01-02'"), "2\n");
    EXPECT_EQ(error_of("CREATE TABLE u (a INT) SET ('b' AS TABLE.PARTITION_BY)").code,
              ErrorCode::unknown_field);
}

}  // namespace
}  // namespace baton::coordinator
