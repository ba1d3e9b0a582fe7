#include "catalog/schema.h"

#include <cstdlib>
#include <fstream>
#include <iterator>

#include <gtest/gtest.h>

#include "adapters/sqlite/sqlite.h"
#include "catalog/check.h"
#include "catalog/kinds/encode.h"
#include "catalog/reader.h"
#include "catalog/views/views.h"

namespace baton::catalog {
namespace {

class SchemaTest : public ::testing::Test {
protected:
    void SetUp() override {
        database_ = *sqlite::open_temporary_sqlite();
        sql_ = *database_->connect(Access::write);
    }
    std::string value(std::string_view query) {
        const auto rows = sql_->query(query);
        return rows && !rows->empty() ? shown((*rows)[0][0], kinds::ViewType::text) : "nothing";
    }

    // What testdata has as the tables of that version.
    static std::string record(std::int64_t version) {
        std::ifstream in(record_path(version));
        return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
    }
    static std::string record_path(std::int64_t version) {
        return std::string(BATON_TESTDATA) + "/schema_" + std::to_string(version) + ".sql";
    }
    std::string tables() {
        std::string tables;
        EXPECT_TRUE(sql_->run(
            "SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL AND type <> 'view' "
            "ORDER BY name",
            {}, [&](const SqlRow& row) { tables += std::get<std::string>(row[0]) + ";\n"; }));
        return tables;
    }

    std::unique_ptr<SqlDatabase> database_;
    std::unique_ptr<Sql> sql_;
};

TEST_F(SchemaTest, AnEmptyDatabaseGetsEverythingAndTheVersion) {
    ASSERT_TRUE(migrate(*sql_));
    EXPECT_EQ(value("SELECT schema_version FROM meta"), std::to_string(schema_version()));
    for (const kinds::View& view : views::views()) {
        EXPECT_TRUE(sql_->query("SELECT * FROM " + std::string(view.table))) << view.table;
    }
    EXPECT_TRUE(catalog_problems(*sql_)->empty());
}

// The tables of a released version never change: another version is another migration.
TEST_F(SchemaTest, TheTablesOfThisVersionAreThoseOnRecord) {
    ASSERT_TRUE(migrate(*sql_));
    if (std::getenv("BATON_REWRITE") != nullptr) {
        std::ofstream(record_path(schema_version())) << tables();
    }
    EXPECT_EQ(tables(), record(schema_version()));
}

TEST_F(SchemaTest, AnOldCatalogBecomesOneOfThisVersionAndKeepsWhatItHas) {
    ASSERT_TRUE(sql_->run_script(record(1)));
    ASSERT_TRUE(
        sql_->run_script("INSERT INTO meta VALUES (1, 1, 0, 1, 1, 0, 0);"
                         "INSERT INTO lease VALUES ('leader', '', 0, 0, 'ACTIVE');"
                         "INSERT INTO fence VALUES ('leader', 7);"
                         "INSERT INTO logical_source VALUES ('S', '[\"A INT8\"]', 1)"));
    EXPECT_EQ(require_current_version(*sql_).error().code, ErrorCode::catalog_version);
    ASSERT_TRUE(migrate(*sql_));
    EXPECT_EQ(tables(), record(schema_version()));
    EXPECT_EQ(value("SELECT schema_version FROM meta"), std::to_string(schema_version()));
    EXPECT_EQ(value("SELECT name FROM logical_source"), "S");
    EXPECT_EQ(value("SELECT epoch FROM fence"), "7");
    EXPECT_EQ(value("SELECT taken_at FROM lease"), "0");
    EXPECT_TRUE(catalog_problems(*sql_)->empty());
}

TEST_F(SchemaTest, WhatWasPlannedBeforeIsKnownByItsFingerprintToo) {
    ASSERT_TRUE(sql_->run_script(record(2)));
    ASSERT_TRUE(sql_->run_script(
        "INSERT INTO meta VALUES (1, 2, 0, 9, 1, 0, 0);"
        "INSERT INTO lease VALUES ('leader', '', 0, 0, 'ACTIVE', 0);"
        "INSERT INTO fence VALUES ('leader', 0);"
        "INSERT INTO worker VALUES ('W', 'EMBEDDED', NULL, NULL, NULL, 'ACTIVE', 0, 0, NULL, '', "
        "'', 1);"
        "INSERT INTO query VALUES (1, 'Q', '', '{}', 'PENDING', 'RUNNING', 'GRACEFUL', 1, '', "
        "'[]', '2026-01-02T03:04:05.000006Z', '2026-01-02T03:04:05.000006Z', 1);"
        "INSERT INTO fragment (id, query, worker, run, slots, stage, plan, state, reason, since, "
        "revision) VALUES (2, 1, 'W', 1, 1, 0, 'a plan', 'PENDING', '', '', 1)"));
    ASSERT_TRUE(migrate(*sql_));
    const auto created = wall_time_of("2026-01-02T03:04:05.000006Z");
    ASSERT_TRUE(created);
    EXPECT_EQ(value("SELECT fingerprint FROM fragment"),
              kinds::plan_fingerprint("a plan", *created));
    EXPECT_EQ(value("SELECT restarts FROM query"), "0");
    EXPECT_EQ(value("SELECT reason_code || reason_who FROM query"), "");
}

TEST_F(SchemaTest, EachCatalogHasAnIdOfItsOwn) {
    ASSERT_TRUE(migrate(*sql_));
    const std::string id = *Reader(*sql_).catalog_id();
    EXPECT_EQ(id.size(), 32U);
    EXPECT_EQ(id.find_first_not_of("0123456789abcdef"), std::string::npos) << id;
    ASSERT_TRUE(migrate(*sql_));
    EXPECT_EQ(*Reader(*sql_).catalog_id(), id);
    const auto other = *sqlite::open_temporary_sqlite();
    const auto sql = *other->connect(Access::write);
    ASSERT_TRUE(migrate(*sql));
    EXPECT_NE(*Reader(*sql).catalog_id(), id);
    ASSERT_TRUE(sql_->execute("DELETE FROM catalog_identity"));
    EXPECT_EQ(Reader(*sql_).catalog_id().error().code, ErrorCode::catalog_corrupt);
    EXPECT_EQ(catalog_problems(*sql_)->size(), 1U);
}

TEST_F(SchemaTest, MigratingAgainDoesNothing) {
    ASSERT_TRUE(migrate(*sql_));
    ASSERT_TRUE(sql_->execute("INSERT INTO logical_source VALUES ('S', '[\"A INT8\"]', 1)"));
    ASSERT_TRUE(migrate(*sql_));
    EXPECT_EQ(value("SELECT name FROM logical_source"), "S");
}

TEST_F(SchemaTest, ANewerCatalogIsRefusedAndLeftAsItIs) {
    ASSERT_TRUE(migrate(*sql_));
    ASSERT_TRUE(sql_->execute("UPDATE meta SET schema_version = 999"));
    for (const auto& refused : {migrate(*sql_), require_current_version(*sql_)}) {
        ASSERT_FALSE(refused);
        EXPECT_EQ(refused.error().code, ErrorCode::catalog_version);
        EXPECT_NE(refused.error().message.find("999"), std::string::npos);
    }
    EXPECT_EQ(value("SELECT schema_version FROM meta"), "999");
}

TEST_F(SchemaTest, ADatabaseWithoutACatalogIsNoCurrentVersion) {
    const auto refused = require_current_version(*sql_);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, ErrorCode::catalog_version);
}

TEST_F(SchemaTest, AMigrationThatFailsLeavesNothingBehind) {
    ASSERT_TRUE(sql_->run_script("CREATE TABLE sink (x INTEGER)"));
    ASSERT_FALSE(migrate(*sql_));
    EXPECT_EQ(value("SELECT COUNT(*) FROM sqlite_schema WHERE name = 'meta'"), "0");
}

TEST_F(SchemaTest, TheTablesAdmitOnlyTheStatesOfTheModel) {
    ASSERT_TRUE(migrate(*sql_));
    const auto insert = [&](const std::string& state) {
        return sql_->execute(
            "INSERT INTO worker (name, kind, address, state, draining, leaving, reason, since, "
            "revision) VALUES (?, 'REMOTE', ?, ?, 0, 0, '', '', 1)",
            {state, state, state});
    };
    EXPECT_TRUE(insert("ACTIVE"));
    EXPECT_TRUE(insert("UNREACHABLE"));
    const auto refused = insert("SLEEPING");
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, ErrorCode::write_rejected);
}

TEST_F(SchemaTest, ACheckCountsThePartitionsOfTaskLists) {
    ASSERT_TRUE(migrate(*sql_));
    ASSERT_TRUE(
        sql_->run_script("INSERT INTO task_list VALUES ('FEW', 2, 0), ('MANY', 1, 0);"
                         "INSERT INTO task_partition (list, number, state, since, revision) VALUES "
                         "('FEW', 0, 'UNOWNED', '', 0), ('MANY', 0, 'UNOWNED', '', 0), "
                         "('MANY', 1, 'UNOWNED', '', 0)"));
    EXPECT_EQ(*catalog_problems(*sql_),
              (std::vector<std::string>{"there is a partition too many of the task list MANY",
                                        "there are partitions too few of the task list FEW"}));
}

// The net below the requests: no SQL of ours can leave a reference dangling.
TEST_F(SchemaTest, TheConstraintsRefuseWhatTheRequestsShould) {
    ASSERT_TRUE(migrate(*sql_));
    EXPECT_EQ(sql_->execute("INSERT INTO sink VALUES ('S','[]','nowhere','Void','','','','',1)")
                  .error()
                  .code,
              ErrorCode::foreign_key_violation);
    ASSERT_TRUE(sql_->execute(
        "INSERT INTO worker (name, kind, state, draining, leaving, reason, since, revision) "
        "VALUES ('W', 'EMBEDDED', 'ACTIVE', 0, 0, '', '', 1)"));
    ASSERT_TRUE(sql_->execute("INSERT INTO sink VALUES ('S','[]','W','Void','','','','',1)"));
    EXPECT_EQ(sql_->execute("DELETE FROM worker").error().code, ErrorCode::foreign_key_violation);
    EXPECT_EQ(
        sql_->execute("INSERT INTO sink VALUES ('S','[]','W','Void','','','','',1)").error().code,
        ErrorCode::unique_violation);
    EXPECT_EQ(sql_->execute("INSERT INTO network_link VALUES ('W', 'W', 1)").error().code,
              ErrorCode::write_rejected);
}

}  // namespace
}  // namespace baton::catalog
