// What SQLite makes of a disk that fails, and what we say about it.
#include "adapters/sqlite/errors.h"

#include <string>

#include <gtest/gtest.h>
#include <sqlite3.h>
#include <sys/wait.h>
#include <unistd.h>

#include "adapters/sqlite/sqlite.h"
#include "testing/temporary_directory.h"

namespace baton::sqlite {
namespace {

using testing::TemporaryDirectory;
using Numbers = std::vector<std::int64_t>;

// What the next calls on a log answer, instead of doing it; SQLITE_OK does it.
struct LogFaults {
    int sync = SQLITE_OK;
    int write = SQLITE_OK;
    int read = SQLITE_OK;
};

LogFaults& log_faults() {
    static LogFaults faults;
    return faults;
}

const sqlite3_io_methods*& real_methods() {
    static const sqlite3_io_methods* methods = nullptr;
    return methods;
}

sqlite3_vfs*& real_vfs() {
    static sqlite3_vfs* vfs = nullptr;
    return vfs;
}

int faulty_sync(sqlite3_file* file, int flags) {
    const int fault = log_faults().sync;
    return fault != SQLITE_OK ? fault : real_methods()->xSync(file, flags);
}

int faulty_write(sqlite3_file* file, const void* bytes, int size, sqlite3_int64 offset) {
    const int fault = log_faults().write;
    return fault != SQLITE_OK ? fault : real_methods()->xWrite(file, bytes, size, offset);
}

int faulty_read(sqlite3_file* file, void* bytes, int size, sqlite3_int64 offset) {
    const int fault = log_faults().read;
    return fault != SQLITE_OK ? fault : real_methods()->xRead(file, bytes, size, offset);
}

int faulty_open(sqlite3_vfs*, const char* name, sqlite3_file* file, int flags, int* out_flags) {
    static sqlite3_io_methods methods;
    const int code = real_vfs()->xOpen(real_vfs(), name, file, flags, out_flags);
    if (code == SQLITE_OK && (flags & SQLITE_OPEN_WAL) != 0) {
        real_methods() = file->pMethods;
        methods = *file->pMethods;
        methods.xSync = faulty_sync;
        methods.xWrite = faulty_write;
        methods.xRead = faulty_read;
        file->pMethods = &methods;
    }
    return code;
}

// From now on in this process.
void make_disk_faulty() {
    static sqlite3_vfs vfs;
    real_vfs() = sqlite3_vfs_find(nullptr);
    vfs = *real_vfs();
    vfs.zName = "faulty";
    vfs.xOpen = faulty_open;
    CHECK(sqlite3_vfs_register(&vfs, 1) == SQLITE_OK);
}

// Each test runs its body in a process of its own, which ends as if killed.
class SqliteFaultyDisk : public ::testing::Test {
protected:
    SqliteFaultyDisk() {
        CHECK(open_sqlite({.path = path_, .create = true, .initialise = [](Sql& sql) {
                               return sql.run_script("CREATE TABLE t (a INTEGER) STRICT");
                           }}));
    }

    // `body` gives 0, or the number of the step that went wrong.
    template <class Body>
    int in_child(const Body& body) {
        const pid_t child = ::fork();
        if (child == 0) {
            make_disk_faulty();
            const auto database = *open_sqlite({.path = path_});
            const auto sql = *database->connect(Access::write);
            ::_exit(body(*database, *sql));
        }
        int status = 0;
        EXPECT_EQ(::waitpid(child, &status, 0), child);
        return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    }

    static Result<Done> insert(Sql& sql, std::int64_t a) {
        TRY(sql.begin(Access::write));
        TRY(sql.execute("INSERT INTO t VALUES (?)", {a}));
        return sql.commit();
    }
    static bool failed_with(const Result<Done>& result, ErrorCode code) {
        if (!result && result.error().code == code) return true;
        std::fprintf(stderr, "%s\n", result ? "no error" : to_string(result.error()).c_str());
        return false;
    }
    static Numbers numbers_in(SqlDatabase& database) {
        Numbers numbers;
        const auto sql = *database.connect(Access::read);
        CHECK(sql->run("SELECT a FROM t ORDER BY a", {}, [&](const SqlRow& row) {
            numbers.push_back(std::get<std::int64_t>(row[0]));
        }));
        return numbers;
    }
    Numbers numbers_after_the_crash() { return numbers_in(**open_sqlite({.path = path_})); }

    TemporaryDirectory directory_;
    std::string path_ = directory_ / "catalog";
};

TEST_F(SqliteFaultyDisk, DoesNotKnowTheOutcomeOfACommitThatCouldNotBeSynced) {
    EXPECT_EQ(in_child([](SqlDatabase& database, Sql& sql) {
                  if (!insert(sql, 1)) return 1;
                  log_faults().sync = SQLITE_IOERR_FSYNC;
                  if (!failed_with(insert(sql, 2), ErrorCode::unknown_outcome)) return 2;
                  return numbers_in(database) == Numbers{1} ? 0 : 3;  // nobody sees it
              }),
              0);
    EXPECT_EQ(numbers_after_the_crash(), (Numbers{1, 2}));  // and yet it comes back
}

TEST_F(SqliteFaultyDisk, WritesOverACommitThatCouldNotBeSynced) {
    EXPECT_EQ(in_child([](SqlDatabase&, Sql& sql) {
                  if (!insert(sql, 1)) return 1;
                  log_faults().sync = SQLITE_IOERR_FSYNC;
                  if (!failed_with(insert(sql, 2), ErrorCode::unknown_outcome)) return 2;
                  log_faults().sync = SQLITE_OK;
                  return insert(sql, 3) ? 0 : 3;
              }),
              0);
    EXPECT_EQ(numbers_after_the_crash(), (Numbers{1, 3}));
}

TEST_F(SqliteFaultyDisk, DoesNotKnowTheOutcomeOfAWriteOutsideATransactionEither) {
    EXPECT_EQ(in_child([](SqlDatabase&, Sql& sql) {
                  log_faults().sync = SQLITE_IOERR_FSYNC;
                  const auto stored = sql.execute("INSERT INTO t VALUES (1)");
                  return !stored && stored.error().code == ErrorCode::unknown_outcome ? 0 : 1;
              }),
              0);
}

TEST_F(SqliteFaultyDisk, KnowsThatNothingHappenedWhenTheDiskIsFull) {
    EXPECT_EQ(in_child([](SqlDatabase& database, Sql& sql) {
                  if (!insert(sql, 1)) return 1;
                  log_faults().write = SQLITE_FULL;
                  if (!failed_with(insert(sql, 2), ErrorCode::catalog_full)) return 2;
                  return numbers_in(database) == Numbers{1} ? 0 : 3;
              }),
              0);
    EXPECT_EQ(numbers_after_the_crash(), Numbers{1});
}

TEST_F(SqliteFaultyDisk, IsUnavailableWhenItCannotBeRead) {
    EXPECT_EQ(in_child([](SqlDatabase& database, Sql& sql) {
                  if (!insert(sql, 1)) return 1;
                  const auto reader = *database.connect(Access::read);
                  log_faults().read = SQLITE_IOERR_READ;
                  const auto found = reader->query("SELECT a FROM t");
                  if (found || found.error().code != ErrorCode::catalog_unavailable) return 2;
                  log_faults().read = SQLITE_OK;
                  return reader->query("SELECT a FROM t") ? 0 : 3;
              }),
              0);
}

}  // namespace
}  // namespace baton::sqlite
