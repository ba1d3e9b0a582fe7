#include "doors/desk/access.h"

#include <gtest/gtest.h>

#include "sql/parser.h"

namespace baton::desk {
namespace {

Role needed(std::string_view statement) {
    return needed_for(*sql::parse_one(statement));
}

TEST(AccessTest, LookingNeedsAReader) {
    for (const char* statement :
         {"SHOW QUERIES", "SELECT name FROM baton.workers", "SELECT a FROM s LIMIT 5",
          "WATCH SHOW WORKERS", "EXPLAIN SELECT a FROM s INTO k", "WAIT FOR QUERY q", "BEGIN",
          "COMMIT", "ROLLBACK"}) {
        EXPECT_EQ(needed(statement), Role::reader) << statement;
    }
}

TEST(AccessTest, WorkNeedsAWriter) {
    for (const char* statement :
         {"CREATE LOGICAL SOURCE s (a INT8)", "CREATE SINK k (a INT8) TYPE Void",
          "CREATE QUERY q AS SELECT a FROM s INTO k", "SELECT a FROM s INTO k", "DROP QUERY q",
          "STOP QUERY q", "DROP SINK k", "DROP LOGICAL SOURCE s", "DROP PHYSICAL SOURCE 1",
          "CREATE PHYSICAL SOURCE FOR s TYPE Generator", "CREATE TASK LIST t PARTITIONS 1",
          "DROP TASK LIST t", "CANCEL QUERY q",
          "SELECT a FROM s UNION SELECT a FROM (SELECT a FROM File('/etc/passwd' AS "
          "SOURCE.FILE_PATH, SCHEMA(a VARSIZED) AS SOURCE.SCHEMA))"}) {
        EXPECT_EQ(needed(statement), Role::writer) << statement;
    }
}

TEST(AccessTest, MachinesNeedAnAdmin) {
    for (const char* statement :
         {"CREATE WORKER 'a:1'", "DROP WORKER w", "DRAIN WORKER w", "RESUME WORKER w"}) {
        EXPECT_EQ(needed(statement), Role::admin) << statement;
    }
}

TEST(AccessTest, ALockIsTakenByAWriterAndRuledByAnAdmin) {
    for (const char* statement :
         {"ACQUIRE LOCK l OWNER 'o' TTL 1 SEC", "RENEW LOCK l OWNER 'o' EPOCH 1 TTL 1 SEC",
          "RELEASE LOCK l OWNER 'o' EPOCH 1"}) {
        EXPECT_EQ(needed(statement), Role::writer) << statement;
    }
    for (const char* statement : {"ENABLE LOCK l", "DISABLE LOCK l", "DROP LOCK l"}) {
        EXPECT_EQ(needed(statement), Role::admin) << statement;
    }
}

TEST(AccessTest, ARoleMayDoWhatThoseBeforeItMay) {
    const auto create = *sql::parse_one("CREATE SINK k (a INT8) TYPE Void");
    EXPECT_TRUE(permit({.name = "a", .role = Role::admin}, create));
    EXPECT_TRUE(permit({.name = "w", .role = Role::writer}, create));
    const auto refused = permit({.name = "r", .role = Role::reader}, create);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, ErrorCode::not_permitted);
    EXPECT_NE(refused.error().message.find("needs the role writer"), std::string::npos);
}

TEST(AccessTest, FilesNeedARightOfTheirOwn) {
    const Principal writer{.name = "w", .role = Role::writer};
    const Principal trusted{.name = "t", .role = Role::writer, .files = true};
    const Principal admin{.name = "a", .role = Role::admin};
    const std::string file =
        "File('/etc/passwd' AS SOURCE.FILE_PATH, SCHEMA(a VARSIZED) AS SOURCE.SCHEMA)";
    for (const std::string& text :
         {std::string("CREATE PHYSICAL SOURCE FOR s TYPE file SET ('x' AS SOURCE.FILE_PATH)"),
          std::string("CREATE SINK k (a INT8) TYPE File SET ('x' AS SINK.FILE_PATH)"),
          std::string("CREATE SINK k (a INT8) TYPE PARQUET SET ('x' AS SINK.FILE_PATH)"),
          std::string("SELECT a FROM s INTO Checksum('x' AS SINK.FILE_PATH)"),
          "SELECT a FROM " + file,
          "SELECT a FROM s UNION SELECT a FROM (SELECT a FROM " + file + ") INTO k",
          "CREATE QUERY q AS SELECT a FROM " + file + " INTO k"}) {
        const auto statement = *sql::parse_one(text);
        const auto refused = permit(writer, statement);
        ASSERT_FALSE(refused) << text;
        EXPECT_EQ(to_string(refused.error()),
                  "error 5003: user \"w\" may not do this: it needs the right to files of workers; "
                  "an admin declares the source, sink or table, or sets files: true for the user "
                  "in the settings");
        EXPECT_TRUE(permit(trusted, statement)) << text;
        EXPECT_TRUE(permit(admin, statement)) << text;
    }
    for (const char* text :
         {"SELECT a FROM s INTO k", "CREATE SINK k (a INT8) TYPE Void",
          "CREATE PHYSICAL SOURCE FOR s TYPE TCP SET ('h' AS SOURCE.SOCKET_HOST)",
          "SELECT a FROM s INTO Print()", "DROP SINK k"}) {
        EXPECT_TRUE(permit(writer, *sql::parse_one(text))) << text;
    }
}

TEST(AccessTest, ATokenIsKnownByItsDigest) {
    const auto digest = [](std::string_view text) { return "digest of " + std::string(text); };
    const Access access({}, {{.name = "ci", .role = Role::writer, .sha256 = "digest of abc"}},
                        digest);
    EXPECT_FALSE(access.trusts_everybody());
    EXPECT_EQ(access.bearer("abc"), (Principal{.name = "ci", .role = Role::writer}));
    EXPECT_EQ(access.bearer("abd"), std::nullopt);
    EXPECT_EQ(access.bearer(""), std::nullopt);
}

}  // namespace
}  // namespace baton::desk
