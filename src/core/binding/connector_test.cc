#include "core/binding/connector.h"

#include <gtest/gtest.h>

#include "sql/parser.h"

namespace baton::binding {
namespace {

template <class T>
T statement(const std::string& text) {
    auto parsed = sql::parse_one(text);
    EXPECT_TRUE(parsed) << text << "\n" << to_string(parsed.error());
    return std::get<T>(parsed->node);
}

Result<BoundConnector> source(const std::string& settings) {
    const auto s = statement<sql::CreatePhysicalSource>(
        "CREATE PHYSICAL SOURCE FOR x TYPE File SET (" + settings + ")");
    return bind_source(s.type, s.settings);
}

Result<BoundConnector> sink(const std::string& settings) {
    const auto s =
        statement<sql::CreateSink>("CREATE SINK x (a INT8) TYPE File SET (" + settings + ")");
    return bind_sink(s.type, s.settings);
}

TEST(Binding, ThePlacementIsNoOptionOfTheConnector) {
    const auto bound = source("'f' AS \"SOURCE\".FILE_PATH, 'w:1' AS \"SOURCE\".\"HOST\"");
    ASSERT_TRUE(bound) << to_string(bound.error());
    EXPECT_EQ(bound->host, "w:1");
    EXPECT_EQ(bound->type, "File");
    EXPECT_FALSE(bound->options.contains("HOST"));
    EXPECT_EQ(std::get<std::string>(bound->format.at("TYPE")), "CSV");
}

TEST(Binding, ATableHasNoCredentialsInItsLocation) {
    const auto location = [](const std::string& url) {
        const auto s = statement<sql::CreateTable>("CREATE TABLE t (a BIGINT) SET ('" + url +
                                                   "' AS TABLE.LOCATION)");
        return bind_table("Delta", s.settings);
    };
    for (const char* const secret :
         {"s3://b/p?access_key_id=AKIA&secret_access_key=hush", "s3://AKIA:hush@b/p",
          "s3://b/p?region=eu-west-1&session_token=hush", "s3://b?secret_access_key=hush"}) {
        const auto refused = location(secret);
        ASSERT_FALSE(refused) << secret;
        EXPECT_EQ(refused.error().code, ErrorCode::invalid_configuration);
        EXPECT_EQ(to_string(refused.error()).find("hush"), std::string::npos);
        EXPECT_NE(refused.error().hint.find("AWS_ACCESS_KEY_ID"), std::string::npos);
    }
    EXPECT_TRUE(location("s3://b/a@b?endpoint=https://minio.lan:9000&region=eu-west-1"));
    EXPECT_TRUE(location("/data/access_key"));
}

TEST(Binding, ParserIsTheOlderNameOfInputFormatter) {
    const auto a = source("'f' AS SOURCE.FILE_PATH, 'JSON' AS PARSER.\"TYPE\"");
    const auto b = source("'f' AS SOURCE.FILE_PATH, 'JSON' AS INPUT_FORMATTER.\"TYPE\"");
    ASSERT_TRUE(a && b);
    EXPECT_EQ(*a, *b);
}

TEST(Binding, AFormatOfASinkIsGivenInThreeWays) {
    const auto a = sink("'f' AS SINK.FILE_PATH, 'JSON' AS OUTPUT_FORMATTER.\"TYPE\"");
    const auto b = sink("'f' AS SINK.FILE_PATH, 'JSON' AS SINK.OUTPUT_FORMAT");
    const auto c = sink("'f' AS SINK.FILE_PATH, 'JSON' AS SINK.INPUT_FORMAT");
    ASSERT_TRUE(a && b && c);
    EXPECT_EQ(*a, *b);
    EXPECT_EQ(*a, *c);
}

TEST(Binding, ForeignDoubledAndUnfittingKeysAreRefused) {
    for (const char* bad :
         {"'f' AS SINK.FILE_PATH", "'f' AS FILE_PATH",
          "'f' AS SOURCE.FILE_PATH, 'g' AS "
          "SOURCE.FILE_PATH",
          "'f' AS SOURCE.FILE_PATH, 'a' AS SOURCE.HOST, 'b' AS SOURCE.HOST",
          "NULL AS SOURCE.FILE_PATH", "'f' AS SOURCE.FILE_PATH, 3 AS SOURCE.HOST",
          "'f' AS SOURCE.FILE_PATH, 3 AS SOURCE.SCHEMA", "'f' AS SOURCE.FILE_PATH.MORE"}) {
        const auto bound = source(bad);
        ASSERT_FALSE(bound) << bad;
        EXPECT_EQ(bound.error().code, ErrorCode::invalid_configuration) << bad;
        EXPECT_TRUE(bound.error().at) << bad;
    }
}

TEST(Binding, AWorkerIsNamedAfterItsAddressUnlessItHasAName) {
    const auto plain = bind_worker(statement<sql::CreateWorker>("CREATE WORKER 'a:1'"));
    ASSERT_TRUE(plain);
    EXPECT_EQ(plain->name, "a:1");
    const auto full = bind_worker(statement<sql::CreateWorker>(
        "CREATE WORKER 'a:1' SET ('N' AS NAME, 'a:2' AS DATA, 8 AS CAPACITY, "
        "'b:1' AS DOWNSTREAM, 'c:1' AS DOWNSTREAM, 'd:1' AS UPSTREAM)"));
    ASSERT_TRUE(full) << to_string(full.error());
    EXPECT_EQ(full->name, "N");
    EXPECT_EQ(full->capacity, 8U);
    EXPECT_EQ(full->downstream, (std::set<std::string>{"b:1", "c:1"}));
    EXPECT_EQ(full->upstream, std::set<std::string>{"d:1"});
}

TEST(Binding, KeysOfAWorkerAreChecked) {
    for (const char* bad : {"'x' AS CAPACITY", "-1 AS CAPACITY", "1 AS CAPACITY, 2 AS CAPACITY",
                            "'b' AS DOWNSTREAM, 'b' AS DOWNSTREAM", "1 AS CAPACTIY",
                            "'a' AS NAME, 'b' AS NAME", "'x' AS SOURCE.NAME"}) {
        const auto bound = bind_worker(
            statement<sql::CreateWorker>("CREATE WORKER 'a:1' SET (" + std::string(bad) + ")"));
        ASSERT_FALSE(bound) << bad;
        EXPECT_EQ(bound.error().code, ErrorCode::invalid_configuration) << bad;
    }
}

TEST(Binding, AQueryKnowsItsSettings) {
    const auto q = statement<sql::CreateQuery>(
        "SELECT a FROM s INTO k SET ('my-id' AS QUERY.ID, 'fail' AS QUERY.LATE)");
    const auto bound = bind_query(q.settings);
    ASSERT_TRUE(bound) << to_string(bound.error());
    EXPECT_EQ(bound->id, "my-id");
    EXPECT_EQ(std::get<std::string>(bound->options.at("LATE")), "FAIL");
    EXPECT_EQ(std::get<std::string>(bound->options.at("ON_FAILURE")), "RESTART");
    const auto wrong = statement<sql::CreateQuery>("SELECT a FROM s INTO k SET (1 AS SINK.X)");
    EXPECT_FALSE(bind_query(wrong.settings));
}

TEST(Binding, SecretsAreKnownByTheirType) {
    const sql::Setting password{
        .key = {"SOURCE", "PASSWORD"}, .value = sql::Literal("x"), .at = {}};
    const sql::Setting path{.key = {"SOURCE", "FILE_PATH"}, .value = sql::Literal("x"), .at = {}};
    EXPECT_TRUE(is_secret_setting(password, "MQTT"));
    EXPECT_TRUE(is_secret_setting(password, "NO_SUCH_TYPE"));
    EXPECT_FALSE(is_secret_setting(path, "File"));
}

}  // namespace
}  // namespace baton::binding
