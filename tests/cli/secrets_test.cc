// A secret is kept where it is needed and shown nowhere.
#include <fstream>

#include <gtest/gtest.h>

#include "cli/process.h"
#include "testing/temporary_directory.h"

namespace baton::cli {
namespace {

constexpr const char* kSecret = "geh31mnis";

class Secrets : public ::testing::Test {
protected:
    void SetUp() override {
        (void)say(
            "CREATE LOGICAL SOURCE r (id UINT64 NOT NULL); CREATE SINK plain (id UINT64 NOT "
            "NULL) TYPE Void");
    }

    // What the shell answers, to both outputs.
    std::string say(const std::string& statements) {
        const Ended ended =
            run({"baton", "shell", "--offline", "--data", directory_ / "d", "-c", statements});
        return ended.out + ended.errors;
    }
    static std::string mqtt(const std::string& side, const std::string& more = "") {
        return "SET ('tcp://broker:1883' AS " + side + ".SERVER_URI, 't' AS " + side +
               ".TOPIC, 'me' AS " + side + ".USERNAME, '" + kSecret + "' AS " + side + ".PASSWORD" +
               more + ")";
    }
    // Statements that hold the secret: done, refused, and such as cannot even be parsed.
    static std::vector<std::string> statements() {
        const std::string source = "CREATE PHYSICAL SOURCE FOR r TYPE MQTT " + mqtt("SOURCE");
        const std::string sink = "CREATE SINK m (id UINT64 NOT NULL) TYPE MQTT " + mqtt("SINK");
        const std::string password =
            "'me' AS SOURCE.USERNAME, '" + std::string(kSecret) + "' AS SOURCE.PASSWORD";
        return {
            source,
            sink,
            "CREATE QUERY q AS SELECT id FROM r INTO m",
            "EXPLAIN SELECT id FROM r INTO m",
            "EXPLAIN FORMAT JSON SELECT id FROM r INTO m",
            "CREATE QUERY q2 AS SELECT id FROM MQTT('h' AS SOURCE.SERVER_URI, 't' AS "
            "SOURCE.TOPIC, " +
                password + ", SCHEMA(id UINT64 NOT NULL) AS SOURCE.SCHEMA) INTO plain",
            "CREATE QUERY q3 AS SELECT id FROM r INTO MQTT('h' AS SINK.SERVER_URI, 't' AS "
            "SINK.TOPIC, 'me' AS SINK.USERNAME, '" +
                std::string(kSecret) + "' AS SINK.PASSWORD)",
            // refused
            source,
            sink,
            "CREATE PHYSICAL SOURCE FOR r TYPE MQTT " + mqtt("SOURCE", ", 1 AS SOURCE.NOPE"),
            "CREATE PHYSICAL SOURCE FOR r TYPE MQTT " + mqtt("SOURCE", ", " + password),
            "CREATE PHYSICAL SOURCE FOR r TYPE File SET ('f' AS SOURCE.FILE_PATH, " + password +
                ")",
            "CREATE PHYSICAL SOURCE FOR r TYPE MQTTT " + mqtt("SOURCE"),
            "CREATE PHYSICAL SOURCE FOR nope TYPE MQTT " + mqtt("SOURCE"),
            "CREATE SINK m2 (id UINT64) TYPE MQTT " + mqtt("SINK", ", 'nobody' AS SINK.HOST"),
            "CREATE QUERY q4 AS SELECT id FROM MQTT(" + password + ") INTO nope",
            "EXPLAIN SELECT id FROM MQTT('h' AS SOURCE.SERVER_URI, 't' AS SOURCE.TOPIC, " +
                password + ", SCHEMA(id UINT64) AS SOURCE.SCHEMA) INTO plain",
            "BEGIN; " + source + "; COMMIT",
            "BEGIN; CREATE SINK m3 (id UINT64) TYPE MQTT " + mqtt("SINK") + "; SHOW SINKS; NOPE",
            // cannot be parsed
            source + " AND MORE",
            "CREATE PHYSICAL SOURCE FOR r TYPE MQTT SET (" + password,
            "CREATE PHYSICAL SOURCE FOR r TYPE MQTT SET ('" + std::string(kSecret),
            "CREATE PHYSICAL SOURCE FOR r TYPE MQTT SET (\n'" + std::string(kSecret) +
                "'\nAS SOURCE.PASSWORD, AS x)",
            "CREATE SINK SET ('" + std::string(kSecret) + "' '" + kSecret + "')",
            "'" + std::string(kSecret) + "' AS SINK.PASSWORD",
            "-- '" + std::string(kSecret) + "' AS SINK.PASSWORD\nNOPE",
        };
    }

    testing::TemporaryDirectory directory_;
};

TEST_F(Secrets, AreInNoAnswerAndNoError) {
    for (const std::string& statement : statements()) {
        const std::string answer = say(statement);
        EXPECT_EQ(answer.find(kSecret), std::string::npos) << statement << "\n" << answer;
    }
    // Otherwise there would have been less to hide.
    EXPECT_NE(say("SELECT name FROM baton.queries").find("(3 rows)"), std::string::npos);
}

TEST_F(Secrets, AreInNoViewAndNoWatch) {
    for (const std::string& statement : statements()) (void)say(statement);
    for (const char* view :
         {"workers", "links", "logical_sources", "physical_sources", "sources", "sinks", "queries",
          "fragments", "query_sources", "query_sinks", "statements", "changes"}) {
        const Ended ended = run({"baton", "shell", "--offline", "--data", directory_ / "d", "-c",
                                 std::string("SELECT * FROM baton.") + view});
        EXPECT_EQ(ended.status, 0) << ended.errors;
        EXPECT_EQ(ended.out.find(kSecret), std::string::npos) << view << "\n" << ended.out;
    }
    for (const char* what : {"STATEMENTS", "SINKS", "PHYSICAL SOURCES FORMAT JSON", "QUERIES"}) {
        const std::string answer = say(std::string("SHOW ") + what);
        EXPECT_EQ(answer.find(kSecret), std::string::npos) << answer;
    }
    for (const char* what : {"SHOW SINKS", "SHOW PHYSICAL SOURCES", "SHOW QUERIES",
                             "SELECT * FROM baton.sinks", "SHOW FRAGMENTS FORMAT JSON"}) {
        Process watching({"baton", "shell", "--offline", "--data", directory_ / "d", "-c",
                          std::string("WATCH ") + what + " SINCE REVISION 0; "});
        ASSERT_TRUE(watching.says("CREATE")) << watching.errors();
        watching.signal(SIGINT);
        EXPECT_EQ(watching.wait(), 0) << watching.errors();
        EXPECT_EQ(watching.out().find(kSecret), std::string::npos) << watching.out();
    }
    const Ended check = run({"baton", "check", directory_ / "d"});
    EXPECT_EQ(check.status, 0) << check.out;
}

// The whole file is looked at: every column of every table.
TEST_F(Secrets, AreStoredOnlyWhereWorkersGetThemFrom) {
    for (const std::string& statement : statements()) (void)say(statement);
    const Ended tables = run({"sqlite3", directory_ / "d/catalog.db",
                              "SELECT m.name || '.' || c.name FROM sqlite_schema m, "
                              "pragma_table_info(m.name) c WHERE m.type = 'table'"});
    ASSERT_EQ(tables.status, 0) << tables.errors;
    std::istringstream lines(tables.out);
    std::string holding;
    for (std::string column; std::getline(lines, column);) {
        const std::size_t dot = column.find('.');
        const Ended found =
            run({"sqlite3", directory_ / "d/catalog.db",
                 "SELECT count(*) FROM \"" + column.substr(0, dot) + "\" WHERE instr(\"" +
                     column.substr(dot + 1) + "\", '" + kSecret + "')"});
        ASSERT_EQ(found.status, 0) << found.errors;
        if (found.out != "0\n") holding += column + " ";
    }
    EXPECT_EQ(holding, "physical_source.options sink.options fragment.plan ");
}

}  // namespace
}  // namespace baton::cli
