#include "adapters/sqlite/connection.h"

#include <string>

#include <gtest/gtest.h>

#include "adapters/sqlite/sqlite.h"
#include "testing/sql_contract.h"
#include "testing/temporary_directory.h"

namespace baton::sqlite {

using testing::SqlContract;
using testing::SqlContractCase;
using testing::SqlUnderTest;
using testing::TemporaryDirectory;

namespace {

class SqliteFile final : public SqlUnderTest {
public:
    SqliteFile() { open(true); }
    SqlDatabase& database() override { return *database_; }
    void reopen() override { open(false); }

private:
    void open(bool create) {
        database_.reset();
        auto opened = open_sqlite({.path = directory_ / "catalog",
                                   .create = create,
                                   .busy_deadline = std::chrono::milliseconds(200)});
        CHECK(opened);
        database_ = *std::move(opened);
    }

    TemporaryDirectory directory_;
    std::unique_ptr<SqlDatabase> database_;
};

class SqliteInMemory final : public SqlUnderTest {
public:
    SqliteInMemory() {
        auto opened = open_temporary_sqlite({.busy_deadline = std::chrono::milliseconds(200)});
        CHECK(opened);
        database_ = *std::move(opened);
    }
    SqlDatabase& database() override { return *database_; }
    void reopen() override {}  // it ends with the process

private:
    std::unique_ptr<SqlDatabase> database_;
};

TEST(SqliteConnection, TellsWhenSqliteGaveUpTheWholeTransaction) {
    const auto database = *open_temporary_sqlite();
    const auto sql = *database->connect(Access::write);
    ASSERT_TRUE(sql->run_script("CREATE TABLE t (a TEXT) STRICT; PRAGMA max_page_count=20;"));
    ASSERT_TRUE(sql->begin(Access::write));
    ASSERT_TRUE(sql->execute("INSERT INTO t VALUES ('kept for now')"));
    ASSERT_TRUE(sql->set_savepoint());
    // A statement that changes one row has no journal of its own: SQLite abandons everything.
    const auto full = sql->execute("INSERT INTO t VALUES (?)", {std::string(200'000, 'x')});
    ASSERT_FALSE(full);
    EXPECT_EQ(full.error().code, ErrorCode::catalog_full);

    const auto after = sql->execute("INSERT INTO t VALUES ('must not commit by itself')");
    ASSERT_FALSE(after);
    EXPECT_EQ(after.error().code, ErrorCode::catalog_full);
    EXPECT_FALSE(sql->roll_back_to_savepoint());
    EXPECT_FALSE(sql->commit());
    EXPECT_TRUE(sql->query("SELECT a FROM t")->empty());
    ASSERT_TRUE(sql->begin(Access::write));
    ASSERT_TRUE(sql->execute("INSERT INTO t VALUES ('small')"));
    ASSERT_TRUE(sql->commit());
}

TEST(SqliteConnection, EndsATransactionWhoseCommitAConstraintRefused) {
    const auto database = *open_temporary_sqlite();
    const auto sql = *database->connect(Access::write);
    ASSERT_TRUE(sql->run_script(
        "CREATE TABLE p (a INTEGER PRIMARY KEY) STRICT;"
        "CREATE TABLE c (a INTEGER REFERENCES p DEFERRABLE INITIALLY DEFERRED) STRICT;"));
    ASSERT_TRUE(sql->begin(Access::write));
    ASSERT_TRUE(sql->execute("INSERT INTO c VALUES (1)"));
    const auto committed = sql->commit();
    ASSERT_FALSE(committed);
    EXPECT_EQ(committed.error().code, ErrorCode::foreign_key_violation);
    ASSERT_TRUE(sql->begin(Access::write));
    ASSERT_TRUE(sql->commit());
    EXPECT_TRUE(sql->query("SELECT a FROM c")->empty());
}

TEST(SqliteConnection, TakesNoTransactionFromText) {
    const auto database = *open_temporary_sqlite();
    const auto sql = *database->connect(Access::write);
    const auto begun = sql->execute("BEGIN");
    ASSERT_FALSE(begun);
    EXPECT_EQ(begun.error().code, ErrorCode::defect);
    EXPECT_TRUE(sql->begin(Access::write));
}

TEST(SqliteConnection, TakesADoubleQuotedWordForANameOnly) {
    const auto database = *open_temporary_sqlite();
    const auto sql = *database->connect(Access::write);
    EXPECT_FALSE(sql->execute(R"(SELECT "no such column")"));
}

TEST(SqliteConnection, RunsMoreStatementsThanItKeeps) {
    const auto database = *open_temporary_sqlite();
    const auto sql = *database->connect(Access::read);
    for (std::int64_t round = 0; round < 2; ++round) {
        for (std::int64_t i = 0; i < 2 * std::int64_t{sqlite::kStatementsMax}; ++i) {
            const auto rows = sql->query("SELECT ? + " + std::to_string(i), {round});
            ASSERT_TRUE(rows);
            ASSERT_EQ((*rows)[0][0], SqlValue(i + round));
        }
    }
    const auto& connection = dynamic_cast<const sqlite::Connection&>(*sql);
    EXPECT_EQ(connection.statements_kept(), sqlite::kStatementsMax);
}

TEST(SqliteConnection, KeepsNoParameterForTheNextRun) {
    const auto database = *open_temporary_sqlite();
    const auto sql = *database->connect(Access::write);
    ASSERT_TRUE(sql->run_script("CREATE TABLE t (a TEXT UNIQUE) STRICT"));
    ASSERT_TRUE(sql->execute("INSERT INTO t VALUES (?)", {std::string("x")}));
    EXPECT_FALSE(sql->execute("INSERT INTO t VALUES (?)", {std::string("x")}));
    ASSERT_TRUE(sql->execute("INSERT INTO t VALUES (?)", {std::monostate{}}));
    EXPECT_EQ(sql->query("SELECT a FROM t WHERE a IS NULL")->size(), 1U);
}

TEST(SqliteConnection, SeesASchemaThatAnotherConnectionChanged) {
    const auto database = *open_temporary_sqlite();
    const auto writer = *database->connect(Access::write);
    const auto reader = *database->connect(Access::read);
    ASSERT_TRUE(writer->run_script("CREATE TABLE t (a INTEGER) STRICT; INSERT INTO t VALUES (1);"));
    EXPECT_EQ((*reader->query("SELECT * FROM t"))[0].size(), 1U);
    ASSERT_TRUE(writer->run_script("ALTER TABLE t ADD COLUMN b INTEGER"));
    EXPECT_EQ((*reader->query("SELECT * FROM t"))[0].size(), 2U);
}

TEST(SqliteConnection, OutlivesItsDatabase) {
    auto database = *open_temporary_sqlite();
    const auto sql = *database->connect(Access::write);
    database.reset();
    EXPECT_TRUE(sql->run_script("CREATE TABLE t (a INTEGER) STRICT; INSERT INTO t VALUES (1);"));
}

}  // namespace
}  // namespace baton::sqlite

namespace baton::testing {

INSTANTIATE_TEST_SUITE_P(
    Sqlite, SqlContract,
    ::testing::Values(
        SqlContractCase{"File", [] { return std::make_unique<sqlite::SqliteFile>(); }},
        SqlContractCase{"InMemory", [] { return std::make_unique<sqlite::SqliteInMemory>(); }}),
    [](const auto& each) { return each.param.name; });

}  // namespace baton::testing
