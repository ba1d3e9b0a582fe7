#include "adapters/sqlite/log.h"

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "adapters/sqlite/sqlite.h"
#include "testing/temporary_directory.h"

namespace baton::sqlite {
namespace {

namespace fs = std::filesystem;

constexpr std::uintmax_t kPageBytes = 4096;
constexpr std::size_t kValueBytes = 400'000;  // about 100 pages in each commit
constexpr int kCommits = 400;                 // so the log would come to 160 MB

class SqliteLog : public ::testing::Test {
protected:
    SqliteLog() {
        database_ = *open_sqlite({.path = path_, .create = true, .initialise = [](Sql& sql) {
                                      return sql.run_script(
                                          "CREATE TABLE t (id INTEGER PRIMARY KEY, a TEXT) STRICT; "
                                          "INSERT INTO t VALUES (1, '')");
                                  }});
        writer_ = *database_->connect(Access::write);
    }

    std::uintmax_t log_bytes() { return fs::file_size(path_ + "-wal"); }
    // Writes for a while, and tells how long the log became.
    std::uintmax_t peak_of(int commits) {
        std::uintmax_t peak = 0;
        for (int i = 0; i < commits; ++i) {
            const std::string value(kValueBytes, static_cast<char>('a' + i % 26));
            EXPECT_TRUE(writer_->execute("UPDATE t SET a = ?", {value}));
            peak = std::max(peak, log_bytes());
        }
        return peak;
    }

    testing::TemporaryDirectory directory_;
    std::string path_ = directory_ / "catalog";
    std::unique_ptr<SqlDatabase> database_;
    std::unique_ptr<Sql> writer_;
};

TEST_F(SqliteLog, StaysShortWithoutReaders) {
    EXPECT_LT(peak_of(kCommits / 2), 2 * kLogPagesStep * kPageBytes);
}

TEST_F(SqliteLog, StaysBoundedWhileReadersAlwaysOverlap) {
    std::atomic<bool> finished = false;
    std::vector<std::thread> readers;
    for (int i = 0; i < 3; ++i) {
        readers.emplace_back([&] {
            const auto sql = *database_->connect(Access::read);
            while (!finished) {
                if (!sql->begin(Access::read)) continue;
                for (int k = 0; k < 20; ++k) (void)sql->query("SELECT id FROM t");
                sql->rollback();
            }
        });
    }
    const auto peak = peak_of(kCommits);
    finished = true;
    for (auto& reader : readers) reader.join();
    EXPECT_LT(peak, 3 * kLogPagesWanted * kPageBytes);
}

TEST_F(SqliteLog, ShrinksAgainAfterAReaderThatStayedLong) {
    const auto reader = *database_->connect(Access::read);
    ASSERT_TRUE(reader->begin(Access::read));
    const auto peak = peak_of(kCommits / 2);
    EXPECT_GT(peak, kLogPagesWanted * kPageBytes);
    EXPECT_EQ((*reader->query("SELECT length(a) FROM t"))[0][0], SqlValue(std::int64_t{0}));
    reader->rollback();
    (void)peak_of(30);
    EXPECT_LE(log_bytes(), kLogPagesWanted * kPageBytes + (1U << 20U));
}

}  // namespace
}  // namespace baton::sqlite
