// Tables and questions, as PostgreSQL's clients use them.
#include <chrono>

#include "app/table_parts.h"
#include "pgwire/server_test_base.h"

namespace baton {
namespace {

class TablesOverPgwire : public ServerTest {
protected:
    void SetUp() override {
        app::TableSettings settings;
        settings.folder = directory_ / "tables";
        settings.work_folder = directory_ / "work";
        settings.memory = 256ULL << 20U;
        auto parts = app::TableParts::open(settings, clock_);
        ASSERT_TRUE(parts) << to_string(parts.error());
        parts_ = *std::move(parts);
        open({.tables = &parts_->access(), .version = "0.1.0"});
        make_small_cluster();
        desk_.emplace(*coordinator_, desk::DeskOptions{.threads = 4});
        serve({});
    }
    void TearDown() override {
        ServerTest::TearDown();
        session_.reset();
        coordinator_.reset();
    }
    [[nodiscard]] std::vector<std::string> node(const std::string& script) const {
        return {"/usr/bin/env", "NODE_PATH=" BATON_NODE_MODULES, "node", BATON_CLIENTS "/" + script,
                std::to_string(server_->port())};
    }

    std::unique_ptr<app::TableParts> parts_;
};

TEST_F(TablesOverPgwire, Psycopg2ReadsEachType) {
    if (!has("/usr/bin/python3 -c 'import psycopg2'", "psycopg2")) GTEST_SKIP();
    const auto seen =
        cli::run({"/usr/bin/python3", BATON_CLIENTS "/psycopg2_tables.py", address()});
    EXPECT_EQ(seen.out,
              "[16, 21, 23, 20, 700, 701, 1700, 25, 17, 1082, 1114, 1184]\n"
              "10 2\n"
              "[True, -2, 3, 4, 1.5, 0.1, Decimal('-12.30'), \"ä's\", None, "
              "datetime.date(2026, 1, 2), datetime.datetime(2026, 1, 2, 3, 4, 5, 600000), "
              "datetime.datetime(2026, 1, 2, 3, 4, 5, tzinfo=datetime.timezone.utc)]\n"
              "([1, None, 3], ['x y', None], datetime.time(1, 2, 3), datetime.timedelta(days=1), "
              "Decimal('4'), {'k': 1})\n"
              "['count', '?column?', 'max', 'l'] [(1, 5, 3, 4)]\n")
        << seen.errors;
}

TEST_F(TablesOverPgwire, NodePgGivesParametersWithoutTypes) {
    if (!has("NODE_PATH=" BATON_NODE_MODULES " node -e 'require(\"pg\")'", "pg")) GTEST_SKIP();
    const auto seen = cli::run(node("pg_tables.js"));
    EXPECT_EQ(seen.out, R"(1
1
1
1
1
[[{"name":"n3","n":"3.125"}],[[25,-1],[1700,589831]]]
[{"a":42,"b":"x"}]
[{"id":"2"},{"id":"3"}]
[]
[{"i":3,"b":true,"f":1.5}]
true
[{"s":"baton","d":"baton"}]
)") << seen.errors;
}

TEST_F(TablesOverPgwire, JdbcReadsTextAndBinaryAlike) {
    const std::string jar = "/usr/share/java/postgresql.jar";
    if (!has("test -e " + jar + " && java --list-modules | grep -q jdk.compiler", "JDBC")) {
        GTEST_SKIP();
    }
    const std::string url =
        "jdbc:postgresql://localhost:" + std::to_string(server_->port()) + "/baton";
    const auto seen = cli::run({"java", "-cp", jar, BATON_CLIENTS "/JdbcTables.java", url});
    const std::string row =
        "7 12345678901234.07 2026-01-08 2026-01-01T02:03:04.000007 t7 [7, -1] null [7, null, 3] "
        "01:02:03.500 6f0d3a52-0b9a-4f1e-9a52-1c1a4a3b2c1d 0 years 0 mons 0 days 25 hours 0 mins "
        "0.0 secs [a,b, \"] [1.250]\n";
    EXPECT_EQ(seen.out, row + row +
                            "k int8 19 0, n numeric 18 2, d date 13 0, p timestamp 29 6, t text "
                            "2147483647 0, y bytea 2147483647 0, f float8 17 17, \n"
                            "1249975000\n")
        << seen.errors;
}

TEST_F(TablesOverPgwire, PsqlDescribesATable) {
    if (!has("command -v psql", "psql")) GTEST_SKIP();
    EXPECT_EQ(psql({"CREATE TABLE t (id BIGINT NOT NULL, n NUMERIC(10,2), at TIMESTAMP, a DATE)",
                    "\\d t", "\\dt t"}),
              "CREATE TABLE\n"
              "id|bigint||not null|\n"
              "n|numeric(10,2)|||\n"
              "at|timestamp without time zone|||\n"
              "a|date|||\n"
              "public|t|table|ann\n");
}

TEST_F(TablesOverPgwire, CopyWritesEachTypeAsTextDoes) {
    if (!has("command -v psql", "psql")) GTEST_SKIP();
    EXPECT_EQ(psql({"CREATE TABLE t (id BIGINT, n NUMERIC(10,2), b BOOLEAN, y BYTEA)",
                    "INSERT INTO t VALUES (1, 1.5, true, '\\x01'), (2, NULL, false, NULL)",
                    "COPY (SELECT * FROM t ORDER BY id) TO STDOUT",
                    "COPY (SELECT n, [id, NULL] AS l FROM t ORDER BY id) TO STDOUT (FORMAT csv)",
                    "COPY t TO STDOUT (FORMAT csv, HEADER)"}),
              "CREATE TABLE\nINSERT 0 2\n"
              "1\t1.50\tt\t\\\\x01\n2\t\\N\tf\t\\N\n"
              "1.50,\"{1,NULL}\"\n,\"{2,NULL}\"\n"
              "id,n,b,y\n1,1.50,t,\\x01\n2,,f,\n");
}

TEST_F(TablesOverPgwire, CopiesRowsInAllOrNone) {
    if (!has("command -v psql", "psql")) GTEST_SKIP();
    run("CREATE TABLE t (id BIGINT NOT NULL, name VARCHAR, d DATE)");
    EXPECT_EQ(psql_script("COPY t FROM STDIN;\n1\ta\\tb\t2026-01-02\n2\t\\N\t\\N\n\\.\n"
                          "COPY t (name, id) FROM STDIN (FORMAT csv, HEADER);\nname,id\n"
                          "\"x\"\"y\",3\n\\.\n"
                          "SELECT * FROM t ORDER BY id;\n"),
              "COPY 2\nCOPY 1\n1|a\tb|2026-01-02\n2||\n3|x\"y|\n");
    const std::string bad = psql_script(
        "COPY t FROM STDIN;\n4\ta\t\\N\nfive\tb\t\\N\n\\.\n"
        "SELECT count(*) FROM t;\n");
    EXPECT_TRUE(bad.starts_with("ERROR:  line 2 of COPY: cannot convert 'five' to BIGINT")) << bad;
    EXPECT_TRUE(bad.ends_with("\n3\n")) << bad;
    EXPECT_TRUE(psql({"COPY nothing FROM STDIN"}).starts_with("ERROR:  unknown table"));
    EXPECT_EQ(psql_script("BEGIN;\nCOPY t (id) FROM STDIN;\n7\n\\.\nROLLBACK;\n"
                          "BEGIN;\nCOPY t (id) FROM STDIN;\n8\n\\.\nCOMMIT;\n"
                          "SELECT max(id), count(*) FROM t;\n"),
              "BEGIN\nCOPY 1\nROLLBACK\nBEGIN\nCOPY 1\nCOMMIT\n8|4\n");
}

TEST_F(TablesOverPgwire, Psycopg2CopiesAndHasNamedCursors) {
    if (!has("/usr/bin/python3 -c 'import psycopg2'", "psycopg2")) GTEST_SKIP();
    const auto seen =
        cli::run({"/usr/bin/python3", BATON_CLIENTS "/psycopg2_copies.py", address()});
    EXPECT_EQ(seen.out,
              "100000 4999950000\n"
              "57014 100000\n"
              "[(0,), (1,)]\n"
              "99998 ['id']\n"
              "34000\n"
              "25P01\n"
              "[(3,), (4,)]\n"
              "25001 True\n")
        << seen.errors;
}

TEST_F(TablesOverPgwire, PsqlFetchesInPortions) {
    if (!has("command -v psql", "psql")) GTEST_SKIP();
    EXPECT_EQ(psql_script(
                  "\\set FETCH_COUNT 100\nSELECT i FROM range(1000) AS t(i) WHERE i % 250 = 0;\n"),
              "0\n250\n500\n750\n");
    EXPECT_EQ(
        psql({"BEGIN; DECLARE c CURSOR FOR SELECT i FROM range(5) AS t(i) ORDER BY i; FETCH 2 "
              "FROM c; MOVE 1 FROM c; FETCH ALL FROM c; FETCH c; CLOSE c; FETCH c"}),
        "BEGIN\nDECLARE CURSOR\n0\n1\nMOVE 1\n3\n4\nCLOSE CURSOR\n"
        "ERROR:  unknown cursor \"c\"\n"
        "HINT:  a cursor without WITH HOLD ends with its transaction\n");
}

TEST_F(TablesOverPgwire, GroupsAndCountsViews) {
    if (!has("command -v psql", "psql")) GTEST_SKIP();
    EXPECT_EQ(
        psql({"SELECT count(*) FROM baton.workers GROUP BY kind", "SELECT 1",
              "SELECT current_schema()", "SELECT count(*) FROM pg_catalog.pg_type WHERE oid = 16",
              "SELECT unnest([1, 2])", "SELECT now() > '2020-01-01'"}),
        "2\n1\nbaton\n1\n1\n2\nt\n");
}

TEST_F(TablesOverPgwire, ACancelledQuestionEndsSoon) {
    if (!has("/usr/bin/python3 -c 'import psycopg2'", "psycopg2")) GTEST_SKIP();
    const auto seen = cli::run({"/usr/bin/python3", "-c", R"py(
import psycopg2, sys, threading, time
connection = psycopg2.connect(sys.argv[1])
connection.autocommit = True
began = []
def cancel():
    began.append(time.time())
    connection.cancel()
threading.Timer(0.5, cancel).start()
try:
    connection.cursor().execute(
        "SELECT sum(a.i * b.i) FROM range(10000000) AS a(i), range(100000) AS b(i)")
except psycopg2.Error as error:
    print(error.pgcode, time.time() - began[0] < 0.5)
)py",
                                address()});
    EXPECT_EQ(seen.out, "57014 True\n") << seen.errors;
}

}  // namespace
}  // namespace baton
