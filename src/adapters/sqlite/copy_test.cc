#include "adapters/sqlite/copy.h"

#include <atomic>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>

#include <gtest/gtest.h>
#include <sys/stat.h>

#include "adapters/sqlite/sqlite.h"
#include "testing/eventually.h"
#include "testing/temporary_directory.h"

namespace baton::sqlite {
namespace {

namespace fs = std::filesystem;
using testing::eventually;
using testing::TemporaryDirectory;

// Both tables get one row in each transaction.
Result<Done> create_twins(Sql& sql) {
    return sql.run_script(
        "CREATE TABLE a (id INTEGER PRIMARY KEY, t TEXT) STRICT;"
        "CREATE TABLE b (id INTEGER PRIMARY KEY, t TEXT) STRICT;");
}

Result<Done> add_twins(Sql& sql, std::int64_t id) {
    TRY(sql.begin(Access::write));
    TRY(sql.execute("INSERT INTO a VALUES (?, ?)", {id, std::string(500, 'a')}));
    TRY(sql.execute("INSERT INTO b VALUES (?, ?)", {id, std::string(700, 'b')}));
    return sql.commit();
}

std::int64_t number(SqlDatabase& database, std::string_view sql) {
    return std::get<std::int64_t>((*(*database.connect(Access::read))->query(sql))[0][0]);
}

class SqliteBackup : public ::testing::Test {
protected:
    SqliteBackup() {
        database_ = *open_sqlite(
            {.path = directory_ / "catalog", .create = true, .initialise = create_twins});
    }

    TemporaryDirectory directory_;
    std::unique_ptr<SqlDatabase> database_;
};

TEST_F(SqliteBackup, IsConsistentWhileOthersWrite) {
    std::atomic<bool> finished = false;
    std::atomic<std::int64_t> committed = 0;
    std::atomic<int> failures = 0;
    std::thread writer([&] {
        const auto sql = *database_->connect(Access::write);
        while (!finished) {
            if (!add_twins(*sql, committed + 1)) failures += 1;
            committed += 1;
        }
    });
    EXPECT_TRUE(eventually([&] { return committed >= 200; }));
    for (int i = 0; i < 5; ++i) {
        const std::string path = directory_ / ("backup" + std::to_string(i));
        const std::int64_t before = committed;
        const auto copied = database_->backup_to(path);
        const std::int64_t after = committed;
        EXPECT_TRUE(copied) << to_string(copied.error());
        EXPECT_TRUE(integrity_problems(path)->empty());
        const auto copy = open_sqlite({.path = path, .lock = false});
        ASSERT_TRUE(copy) << to_string(copy.error());
        const std::int64_t rows = number(**copy, "SELECT count(*) FROM a");
        EXPECT_GE(rows, before);
        EXPECT_LE(rows, after + 1);
        EXPECT_EQ(number(**copy, "SELECT count(*) FROM b"), rows);
    }
    finished = true;
    writer.join();
    EXPECT_EQ(failures, 0);
}

TEST_F(SqliteBackup, IsOnePrivateFileThatCanBeOpenedAlone) {
    const auto sql = *database_->connect(Access::write);
    ASSERT_TRUE(add_twins(*sql, 1));
    fs::create_directory(directory_ / "backups");
    const std::string path = directory_ / "backups/b";
    ASSERT_TRUE(database_->backup_to(path));
    std::size_t files = 0;
    for (const auto& entry : fs::directory_iterator(directory_ / "backups")) {
        EXPECT_EQ(entry.path(), path);
        files += 1;
    }
    EXPECT_EQ(files, 1U);
    struct stat found {};
    ASSERT_EQ(::stat(path.c_str(), &found), 0);
    EXPECT_EQ(found.st_mode & 0777U, 0600U);

    EXPECT_TRUE(integrity_problems(path)->empty());
    EXPECT_FALSE(fs::exists(path + "-wal"));          // reading it wrote nothing beside it
    const auto opened = open_sqlite({.path = path});  // and it can become the catalog
    ASSERT_TRUE(opened) << to_string(opened.error());
    ASSERT_TRUE(add_twins(**(*opened)->connect(Access::write), 2));
}

TEST_F(SqliteBackup, NeverReplacesAFile) {
    for (const char* suffix : {"", "-wal", "-journal"}) {
        const std::string taken = directory_ / ("taken" + std::string(suffix));
        std::ofstream(taken) << "precious";
        const auto copied = database_->backup_to(directory_ / "taken");
        ASSERT_FALSE(copied);
        EXPECT_EQ(copied.error().code, ErrorCode::write_rejected);
        EXPECT_EQ(fs::file_size(taken), 8U);
        fs::remove(taken);
    }
    EXPECT_FALSE(database_->backup_to(directory_ / "catalog"));
    EXPECT_FALSE(database_->backup_to(directory_ / "no/such/directory"));
}

TEST_F(SqliteBackup, RefusesToCopyDamage) {
    {
        const auto sql = *database_->connect(Access::write);
        for (std::int64_t i = 0; i < 300; ++i) ASSERT_TRUE(add_twins(*sql, i));
    }
    database_.reset();
    std::fstream file(directory_ / "catalog", std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(20 * 4096);
    file << std::string(4096, 'x');
    file.close();
    database_ = *open_sqlite({.path = directory_ / "catalog", .check_bytes_max = 0});
    const auto copied = database_->backup_to(directory_ / "b");
    ASSERT_FALSE(copied);
    EXPECT_EQ(copied.error().code, ErrorCode::catalog_corrupt);
    EXPECT_FALSE(fs::exists(directory_ / "b"));
}

}  // namespace
}  // namespace baton::sqlite
