#include "front/access.h"

#include <gtest/gtest.h>

#include "sql/parser.h"

namespace baton::front {
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
          "STOP QUERY q", "DROP SINK k", "DROP LOGICAL SOURCE s",
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

TEST(AccessTest, ARoleMayDoWhatThoseBeforeItMay) {
    const auto create = *sql::parse_one("CREATE SINK k (a INT8) TYPE Void");
    EXPECT_TRUE(permit({.name = "a", .role = Role::admin}, create));
    EXPECT_TRUE(permit({.name = "w", .role = Role::writer}, create));
    const auto refused = permit({.name = "r", .role = Role::reader}, create);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, ErrorCode::not_permitted);
    EXPECT_NE(refused.error().message.find("needs the role writer"), std::string::npos);
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
}  // namespace baton::front
