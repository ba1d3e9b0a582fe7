#include "sql/printer.h"

#include <limits>

#include <gtest/gtest.h>

#include "sql/parser.h"

namespace baton::sql {
namespace {

std::string printed(std::string_view text, const IsSecret& is_secret = nullptr) {
    const Result<Statement> statement = parse_one(text);
    EXPECT_TRUE(statement.has_value()) << text << ": " << to_string(statement.error());
    return print(*statement, is_secret);
}

TEST(Printer, QuotesNamesOnlyWhereItHasTo) {
    EXPECT_EQ(print_name("ORDERS_2"), "ORDERS_2");
    EXPECT_EQ(print_name("_X"), "_X");
    EXPECT_EQ(print_name("SOURCE"), "SOURCE");
    EXPECT_EQ(print_name("orders"), "\"orders\"");
    EXPECT_EQ(print_name("2ND"), "\"2ND\"");
    EXPECT_EQ(print_name("FROM"), "\"FROM\"");
    EXPECT_EQ(print_name("CASE"), "\"CASE\"");
    EXPECT_EQ(print_name("a\"b"), "\"a\"\"b\"");
    EXPECT_EQ(print_name("\u00dc"), "\"\u00dc\"");
}

TEST(Printer, PrintsDecimalsAsShortAsTheyStayTheSame) {
    EXPECT_EQ(print(Literal(0.1)), "0.1");
    EXPECT_EQ(print(Literal(2.0)), "2.0");
    EXPECT_EQ(print(Literal(-0.0)), "-0.0");
    EXPECT_EQ(print(Literal(1e300)), "1E+300");
    EXPECT_EQ(print(Literal(std::numeric_limits<double>::denorm_min())), "5E-324");
    EXPECT_EQ(print(Literal(1.0 / 3)), "0.3333333333333333");
}

TEST(Printer, DoublesBackslashesOnlyWhereTheyWouldChangeWhatFollows) {
    EXPECT_EQ(print(Literal(R"(\n)")), R"('\n')");
    EXPECT_EQ(print(Literal(R"(\)")), R"('\\')");
    EXPECT_EQ(print(Literal(R"(\\n)")), R"('\\\n')");
    EXPECT_EQ(print(Literal(R"(\')")), R"('\\''')");
    EXPECT_EQ(print(Literal("it's")), "'it''s'");
}

TEST(Printer, PrintsExpressionsAndQueriesByThemselves) {
    const Result<Statement> statement = parse_one("SELECT (a+b)*2 FROM s WHERE a>1");
    const Query& query = std::get<SelectOnce>(statement->node).query;
    EXPECT_EQ(print(query), "SELECT (A + B) * 2 FROM S WHERE A > 1");
    EXPECT_EQ(print(std::get<Select>(query.node).items.front().expr), "(A + B) * 2");
}

TEST(Printer, MasksSecretsWhereverSettingsStand) {
    const IsSecret is_secret = [](const Setting& setting, const std::string& type) {
        return setting.key.back() == "PASSWORD" && (type == "MQTT" || type.empty());
    };
    EXPECT_EQ(printed("CREATE PHYSICAL SOURCE FOR s TYPE MQTT SET ('x' AS SOURCE.PASSWORD, "
                      "'u' AS SOURCE.USER)",
                      is_secret),
              "CREATE PHYSICAL SOURCE FOR S TYPE MQTT SET ('***' AS SOURCE.PASSWORD, "
              "'u' AS SOURCE.USER)");
    EXPECT_EQ(printed("CREATE SINK s (a INT8) TYPE MQTT SET (5 AS SINK.PASSWORD)", is_secret),
              "CREATE SINK S (A INT8) TYPE MQTT SET ('***' AS SINK.PASSWORD)");
    EXPECT_EQ(printed("SELECT * FROM (SELECT * FROM MQTT('x' AS PASSWORD)) JOIN MQTT('x' AS "
                      "PASSWORD) ON TRUE WINDOW TUMBLING(SIZE 1 SEC) INTO MQTT('x' AS PASSWORD) "
                      "SET ('x' AS QUERY.PASSWORD)",
                      is_secret),
              "SELECT * FROM (SELECT * FROM MQTT('***' AS PASSWORD)) JOIN MQTT('***' AS PASSWORD) "
              "ON TRUE WINDOW TUMBLING(SIZE 1 SEC) INTO MQTT('***' AS PASSWORD) "
              "SET ('***' AS QUERY.PASSWORD)");
    EXPECT_EQ(printed("EXPLAIN SELECT * FROM File('x' AS PASSWORD) INTO MQTT('x' AS PASSWORD)",
                      is_secret),
              "EXPLAIN SELECT * FROM FILE('x' AS PASSWORD) INTO MQTT('***' AS PASSWORD)");
    EXPECT_EQ(printed("CREATE WORKER 'h:1' SET ('x' AS PASSWORD)", is_secret),
              "CREATE WORKER 'h:1' SET ('***' AS PASSWORD)");
    EXPECT_EQ(printed("CREATE QUERY q SET ('x' AS PASSWORD) AS SELECT * FROM s INTO t", is_secret),
              "CREATE QUERY Q SET ('***' AS PASSWORD) AS SELECT * FROM S INTO T");
}

}  // namespace
}  // namespace baton::sql
