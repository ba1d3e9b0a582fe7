#include "adapters/sqlite/sqlite.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <functional>
#include <string>

#include <gtest/gtest.h>
#include <sqlite3.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/prng.h"
#include "testing/temporary_directory.h"

namespace baton::sqlite {
namespace {

namespace fs = std::filesystem;
using testing::TemporaryDirectory;

constexpr std::int64_t kRows = 2000;

Result<Done> fill(Sql& sql) {
    TRY(sql.begin(Access::write));
    TRY(
        sql.run_script("CREATE TABLE t (id INTEGER PRIMARY KEY, a TEXT NOT NULL) STRICT;"
                       "CREATE INDEX t_a ON t (a);"));
    for (std::int64_t i = 0; i < kRows; ++i) {
        TRY(sql.execute("INSERT INTO t VALUES (?, ?)", {i, "some text " + std::to_string(i)}));
    }
    return sql.commit();
}

std::string contents(const std::string& path) {
    std::ifstream in(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
}

void write(const std::string& path, const std::string& bytes) {
    std::ofstream(path, std::ios::binary | std::ios::trunc) << bytes;
}

class SqliteFileTest : public ::testing::Test {
protected:
    [[nodiscard]] std::string path() const { return directory_ / "catalog"; }
    [[nodiscard]] std::string beside(const std::string& name) const { return directory_ / name; }

    Result<std::unique_ptr<SqlDatabase>> open(bool create = false) {
        return open_sqlite({.path = path(), .create = create, .initialise = fill});
    }
    void create() {
        const auto created = open(true);
        ASSERT_TRUE(created) << to_string(created.error());
    }
    // The refusal to open; what it says is also printed where a test fails.
    Error refusal(bool create = false) {
        const auto opened = open(create);
        EXPECT_FALSE(opened);
        return opened ? Error{} : opened.error();
    }
    void expect_whole() {
        const auto opened = open();
        ASSERT_TRUE(opened) << to_string(opened.error());
        const auto sql = *(*opened)->connect(Access::read);
        EXPECT_EQ((*sql->query("SELECT count(*) FROM t"))[0][0], SqlValue(kRows));
    }
    static bool says(const Error& error, const std::string& words) {
        return error.message.find(words) != std::string::npos;
    }

private:
    TemporaryDirectory directory_;
};

// The log is cut at every length that the disk may have got to: whole commits, in order, and
// nothing less than was synced.
TEST_F(SqliteFileTest, ALossOfPowerTakesBackOnlyCommitsThatWereNotSynced) {
    const auto database = *open(true);
    const auto sql = *database->connect(Access::write);
    const auto sync = *sql->defer_sync();
    ASSERT_NE(sync, nullptr);
    const auto commit = [&](std::int64_t id) {
        ASSERT_TRUE(sql->begin(Access::write));
        ASSERT_TRUE(sql->execute("INSERT INTO t VALUES (?, 'x')", {id}));
        ASSERT_TRUE(sql->commit());
    };
    commit(kRows);
    ASSERT_TRUE(sync->sync());
    const std::size_t synced = contents(path() + "-wal").size();
    commit(kRows + 1);
    commit(kRows + 2);
    const std::string file = contents(path());
    const std::string log = contents(path() + "-wal");
    ASSERT_GT(log.size(), synced);
    std::vector<std::int64_t> counts;
    for (std::size_t length = synced; length <= log.size(); length += 1024) {
        const std::string copy = beside("copy" + std::to_string(length));
        write(copy, file);
        write(copy + "-wal", log.substr(0, length));
        const auto after = open_sqlite({.path = copy});
        ASSERT_TRUE(after) << to_string(after.error());
        const auto reader = *(*after)->connect(Access::read);
        counts.push_back(std::get<std::int64_t>((*reader->query("SELECT count(*) FROM t"))[0][0]));
    }
    EXPECT_EQ(counts.front(), kRows + 1);
    EXPECT_GT(counts.back(), kRows + 1);
    EXPECT_TRUE(std::is_sorted(counts.begin(), counts.end()));
}

TEST_F(SqliteFileTest, IsCreatedPrivateAndReadableLater) {
    {
        const auto database = open(true);
        ASSERT_TRUE(database) << to_string(database.error());
        const auto sql = *(*database)->connect(Access::write);
        ASSERT_TRUE(sql->execute("DELETE FROM t WHERE id < 0"));
        ASSERT_TRUE(sql->execute("UPDATE t SET a = a"));
        for (const char* suffix : {"", "-wal", "-shm", ".lock"}) {
            struct stat found {};
            ASSERT_EQ(::stat((path() + suffix).c_str(), &found), 0) << suffix;
            EXPECT_EQ(found.st_mode & 0777U, 0600U) << suffix;
        }
    }
    EXPECT_FALSE(fs::exists(path() + "-wal"));  // closed properly, it is one file
    expect_whole();
    EXPECT_TRUE(integrity_problems(path())->empty());
}

TEST_F(SqliteFileTest, IsNotCreatedUnlessAsked) {
    const Error error = refusal();
    EXPECT_EQ(error.code, ErrorCode::catalog_unavailable);
    EXPECT_TRUE(says(error, "there is no file")) << error.message;
    EXPECT_FALSE(fs::exists(path()));
    EXPECT_FALSE(fs::exists(path() + ".lock"));
}

TEST_F(SqliteFileTest, IsNotCreatedWhenItCannotBeFilled) {
    const auto opened = open_sqlite({.path = path(), .create = true, .initialise = [](Sql& sql) {
                                         (void)fill(sql);
                                         return sql.run_script("CREATE TABLE t (a)");
                                     }});
    ASSERT_FALSE(opened);
    EXPECT_EQ(opened.error().code, ErrorCode::defect);
    for (const auto& entry : fs::directory_iterator(fs::path(path()).parent_path())) {
        EXPECT_EQ(entry.path().filename(), "catalog.lock");
    }
}

TEST_F(SqliteFileTest, IsNeverInitialisedTwice) {
    create();
    EXPECT_TRUE(open(true));
    expect_whole();
}

TEST_F(SqliteFileTest, IsRefusedWhenItsDirectoryIsMissing) {
    const auto opened = open_sqlite({.path = beside("no/such/catalog"), .create = true});
    ASSERT_FALSE(opened);
    EXPECT_EQ(opened.error().code, ErrorCode::catalog_unavailable);
}

TEST_F(SqliteFileTest, IsRefusedWhenItIsADirectory) {
    fs::create_directory(path());
    EXPECT_EQ(refusal(true).code, ErrorCode::catalog_unavailable);
}

TEST_F(SqliteFileTest, IsRefusedWhenEmpty) {
    write(path(), "");
    for (const bool create : {false, true}) {
        const Error error = refusal(create);
        EXPECT_EQ(error.code, ErrorCode::catalog_corrupt);
        EXPECT_TRUE(says(error, "the file is empty")) << error.message;
    }
    EXPECT_EQ(fs::file_size(path()), 0U);
}

TEST_F(SqliteFileTest, IsRefusedWhenShortenedToAnyLength) {
    create();
    const std::string whole = contents(path());
    std::vector<std::size_t> lengths = {1,
                                        15,
                                        16,
                                        99,
                                        100,
                                        101,
                                        511,
                                        512,
                                        513,
                                        4095,
                                        4096,
                                        4097,
                                        8191,
                                        8192,
                                        whole.size() / 2,
                                        whole.size() - 4096,
                                        whole.size() - 1};
    for (std::size_t page = 0; page < whole.size(); page += 4 * 4096) lengths.push_back(page + 7);
    for (const std::size_t length : lengths) {
        write(path(), whole.substr(0, length));
        for (const bool create : {false, true}) {
            const Error error = refusal(create);
            EXPECT_EQ(error.code, ErrorCode::catalog_corrupt) << length << " " << error.message;
            EXPECT_TRUE(says(error, length == 1 ? "empty" : "shortened") ||
                        (length < 16 && says(error, "overwritten")))
                << error.message;
            EXPECT_NE(error.hint.find("baton restore"), std::string::npos);
        }
        EXPECT_EQ(contents(path()).size(), length);  // and nothing was done to it
        EXPECT_EQ(integrity_problems(path())->size(), 1U);
    }
    write(path(), whole);
    expect_whole();
}

TEST_F(SqliteFileTest, IsRefusedWhenShortenedBesideItsLogWithoutLookingAtEveryPage) {
    create();
    std::string file;
    std::string log;
    {
        const auto opened = open();
        const auto sql = *(*opened)->connect(Access::write);
        ASSERT_TRUE(sql->execute("UPDATE t SET a = 'another text' WHERE id = 7"));
        file = contents(path());
        log = contents(path() + "-wal");
    }
    const std::string left = beside("left");
    for (const std::size_t pages : {std::size_t{0}, std::size_t{1}, std::size_t{5}}) {
        write(left, file.substr(0, file.size() - pages * 4096));
        write(left + "-wal", log);
        const auto opened = open_sqlite({.path = left, .check_bytes_max = 0});
        EXPECT_EQ(opened.has_value(), pages == 0) << pages;
        if (opened) continue;
        EXPECT_EQ(opened.error().code, ErrorCode::catalog_corrupt);
    }
}

TEST_F(SqliteFileTest, IsRefusedWhenLengthened) {
    create();
    write(path(), contents(path()) + std::string(100, 'x'));
    EXPECT_EQ(refusal().code, ErrorCode::catalog_corrupt);
}

TEST_F(SqliteFileTest, IsRefusedWhenOverwritten) {
    create();
    const std::size_t size = contents(path()).size();
    Prng prng(7);
    std::string random(size, '\0');
    std::generate(random.begin(), random.end(), [&] { return static_cast<char>(prng.next()); });
    for (const std::string& bytes :
         {std::string(size, '\0'), random, std::string(size, 'x'), std::string("hello\n")}) {
        write(path(), bytes);
        EXPECT_EQ(refusal(true).code, ErrorCode::catalog_corrupt);
        EXPECT_EQ(contents(path()), bytes);
    }
}

TEST_F(SqliteFileTest, IsRefusedWhenSomePageWasOverwritten) {
    create();
    const std::string whole = contents(path());
    Prng prng(11);
    for (std::size_t page = 1; page < whole.size() / 4096; ++page) {
        std::string damaged = whole;
        for (std::size_t i = 0; i < 4096; ++i) {
            damaged[page * 4096 + i] = page % 2 == 0 ? '\0' : static_cast<char>(prng.next());
        }
        write(path(), damaged);
        const Error error = refusal();
        ASSERT_EQ(error.code, ErrorCode::catalog_corrupt) << page << " " << error.message;
        ASSERT_FALSE(integrity_problems(path())->empty()) << page;
    }
}

TEST_F(SqliteFileTest, IsRefusedWhenAByteOfItsHeaderIsFlipped) {
    create();
    const std::string whole = contents(path());
    for (const std::size_t offset : {0, 5, 15, 16, 28, 31, 44, 47, 56, 59, 68, 71}) {
        std::string damaged = whole;
        damaged[offset] = static_cast<char>(damaged[offset] ^ 0x24);
        write(path(), damaged);
        EXPECT_EQ(refusal().code, ErrorCode::catalog_corrupt) << offset;
    }
}

TEST_F(SqliteFileTest, IsRefusedWhenOfANewerFormat) {
    create();
    for (const std::size_t offset : {18, 19}) {
        std::string newer = contents(path());
        newer[offset] = 3;
        write(path(), newer);
        EXPECT_EQ(refusal().code, ErrorCode::catalog_version);
        newer[offset] = 2;
        write(path(), newer);
    }
    expect_whole();
}

TEST_F(SqliteFileTest, IsRefusedWhenItIsAnotherDatabase) {
    sqlite3* db = nullptr;
    ASSERT_EQ(sqlite3_open(path().c_str(), &db), SQLITE_OK);
    ASSERT_EQ(sqlite3_exec(db, "CREATE TABLE t (a)", nullptr, nullptr, nullptr), SQLITE_OK);
    sqlite3_close(db);
    const Error error = refusal(true);
    EXPECT_EQ(error.code, ErrorCode::catalog_corrupt);
    EXPECT_TRUE(says(error, "not a catalog of Baton")) << error.message;
}

TEST_F(SqliteFileTest, IsRefusedWhenOnlyItsLogIsThere) {
    write(path() + "-wal", "x");
    for (const bool create : {false, true}) {
        const Error error = refusal(create);
        EXPECT_EQ(error.code, ErrorCode::catalog_corrupt);
        EXPECT_TRUE(says(error, "the file is missing, but its log")) << error.message;
    }
    EXPECT_FALSE(fs::exists(path()));
}

TEST_F(SqliteFileTest, IsRefusedWithoutPermission) {
    if (::geteuid() == 0) GTEST_SKIP() << "root may do anything";
    create();
    fs::permissions(path(), fs::perms::owner_read);
    EXPECT_EQ(refusal().code, ErrorCode::catalog_unavailable);
    fs::permissions(path(), fs::perms::none);
    EXPECT_EQ(refusal().code, ErrorCode::catalog_unavailable);
}

TEST_F(SqliteFileTest, IsHeldByOneProcess) {
    create();
    int ready[2];
    int leave[2];
    ASSERT_EQ(::pipe(ready), 0);
    ASSERT_EQ(::pipe(leave), 0);
    const pid_t child = ::fork();
    if (child == 0) {
        ::close(leave[1]);
        const auto held = open();
        char byte = held ? 'y' : 'n';
        (void)!::write(ready[1], &byte, 1);
        (void)!::read(leave[0], &byte, 1);
        ::_exit(0);  // as a crash: nothing is closed
    }
    char answer = 0;
    ASSERT_EQ(::read(ready[0], &answer, 1), 1);
    ASSERT_EQ(answer, 'y');

    const Error error = refusal();
    EXPECT_EQ(error.code, ErrorCode::catalog_in_use);
    EXPECT_TRUE(says(error, "process " + std::to_string(child) + " holds it")) << error.message;
    EXPECT_TRUE(integrity_problems(path())->empty());
    {
        const auto beside = open_sqlite({.path = path(), .lock = false});
        ASSERT_TRUE(beside) << to_string(beside.error());
        EXPECT_EQ((*beside)->connect(Access::write).error().code, ErrorCode::write_rejected);
        EXPECT_TRUE((*beside)->connect(Access::read));
    }
    ::close(leave[1]);
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    expect_whole();
    for (const int end : {ready[0], ready[1], leave[0]}) ::close(end);
}

TEST_F(SqliteFileTest, IsHeldOnceWithinAProcess) {
    const auto first = open(true);
    ASSERT_TRUE(first);
    const Error error = refusal();
    EXPECT_EQ(error.code, ErrorCode::catalog_in_use);
    EXPECT_TRUE(says(error, "process " + std::to_string(::getpid()))) << error.message;
}

TEST_F(SqliteFileTest, IsHeldUntilItsLastConnectionIsClosed) {
    auto database = *open(true);
    auto sql = *database->connect(Access::read);
    database.reset();
    EXPECT_EQ(refusal().code, ErrorCode::catalog_in_use);
    sql.reset();
    expect_whole();
}

TEST_F(SqliteFileTest, NamesReferencesThatDangle) {
    create();
    {
        const auto database = *open();
        const auto sql = *database->connect(Access::write);
        ASSERT_TRUE(sql->run_script(
            "CREATE TABLE c (id INTEGER PRIMARY KEY, t INTEGER REFERENCES t) STRICT;"
            "PRAGMA foreign_keys=OFF; INSERT INTO c VALUES (5, -1);"));
    }
    const auto problems = integrity_problems(path());
    ASSERT_TRUE(problems) << to_string(problems.error());
    EXPECT_EQ(*problems, std::vector<std::string>{
                             R"(row 5 of "c" refers to a row of "t" that does not exist)"});
}

TEST_F(SqliteFileTest, IsCopiedFromTheLogAsOftenAsAsked) {
    { const auto created = open(true); }
    const auto before = fs::file_size(path());
    const auto size_after_a_commit = [&](int log_pages_step) {
        const auto database = *open_sqlite({.path = path(), .log_pages_step = log_pages_step});
        const auto sql = *database->connect(Access::write);
        EXPECT_TRUE(sql->execute("UPDATE t SET a = ? WHERE id = 0", {std::string(100'000, 'x')}));
        return fs::file_size(path());
    };
    EXPECT_EQ(size_after_a_commit(2'000), before);
    EXPECT_GT(size_after_a_commit(10), before);
}

}  // namespace
}  // namespace baton::sqlite
