// What is left after a process was killed, or a disk was full, at an arbitrary moment.
#include <csignal>
#include <filesystem>
#include <string>

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "adapters/sqlite/sqlite.h"
#include "testing/temporary_directory.h"

namespace baton::sqlite {
namespace {

namespace fs = std::filesystem;
using testing::TemporaryDirectory;

constexpr std::int64_t kCrashRows = 3000;

Result<Done> fill_in_parts(Sql& sql) {
    TRY(sql.run_script("CREATE TABLE t (id INTEGER PRIMARY KEY, a TEXT NOT NULL) STRICT"));
    for (std::int64_t from = 0; from < kCrashRows; from += 100) {  // several transactions
        TRY(sql.begin(Access::write));
        for (std::int64_t i = from; i < from + 100; ++i) {
            TRY(sql.execute("INSERT INTO t VALUES (?, ?)", {i, std::string(200, 'x')}));
        }
        TRY(sql.commit());
    }
    return Done{};
}

SqliteOptions options(const std::string& path, bool create = false) {
    return {.path = path, .create = create, .initialise = fill_in_parts};
}

std::int64_t count(SqlDatabase& database) {
    const auto sql = *database.connect(Access::read);
    return std::get<std::int64_t>((*sql->query("SELECT count(*) FROM t"))[0][0]);
}

// Runs `body` in a process of its own, whose exit code it gives.
template <class Body>
pid_t in_child(const Body& body) {
    const pid_t child = ::fork();
    if (child == 0) ::_exit(body());
    return child;
}

int exit_code(pid_t child) {
    int status = 0;
    EXPECT_EQ(::waitpid(child, &status, 0), child);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

// From now on no file of this process grows beyond `bytes`.
void limit_file_size(rlim_t bytes) {
    std::signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{.rlim_cur = bytes, .rlim_max = RLIM_INFINITY};
    ::setrlimit(RLIMIT_FSIZE, &limit);
}

TEST(SqliteCrash, WhileCreatingLeavesNothingOrAWholeCatalog) {
    int wholes = 0;
    for (int delay = 1; delay < 40; ++delay) {
        const TemporaryDirectory directory;
        const std::string path = directory / "catalog";
        const int ended = exit_code(in_child([&] {
            const itimerval timer{.it_interval = {},
                                  .it_value = {.tv_sec = 0, .tv_usec = delay * 1000}};
            ::setitimer(ITIMER_REAL, &timer, nullptr);  // the signal kills, and nothing is closed
            return open_sqlite(options(path, true)) ? 0 : 1;
        }));
        EXPECT_NE(ended, 1);
        const bool published = fs::exists(path);
        wholes += published ? 1 : 0;
        // Either there is none yet, or it is complete; either way the next process can go on.
        const auto opened = open_sqlite(options(path, !published));
        ASSERT_TRUE(opened) << to_string(opened.error());
        EXPECT_EQ(count(**opened), kCrashRows);
        EXPECT_FALSE(fs::exists(path + ".new"));
    }
    RecordProperty("published_before_the_kill", wholes);
}

TEST(SqliteCrash, KeepsEveryConfirmedCommit) {
    const TemporaryDirectory directory;
    const std::string path = directory / "catalog";
    ASSERT_TRUE(open_sqlite(options(path, true)));
    std::int64_t confirmed = kCrashRows;
    for (int round = 0; round < 10; ++round) {
        int pipe_ends[2];
        ASSERT_EQ(::pipe(pipe_ends), 0);
        const pid_t child = in_child([&] {
            ::close(pipe_ends[0]);
            const auto database = open_sqlite(options(path));
            const auto sql = *(*database)->connect(Access::write);
            for (std::int64_t id = confirmed;; ++id) {
                if (!sql->execute("INSERT INTO t VALUES (?, 'y')", {id})) return 1;
                if (::write(pipe_ends[1], &id, sizeof id) != sizeof id) return 2;
            }
        });
        ::close(pipe_ends[1]);
        std::int64_t last = confirmed - 1;
        for (int i = 0; i < 20 * (round + 1); ++i) {
            ASSERT_EQ(::read(pipe_ends[0], &last, sizeof last), ssize_t{sizeof last});
        }
        ::kill(child, SIGKILL);
        exit_code(child);
        while (::read(pipe_ends[0], &last, sizeof last) == ssize_t{sizeof last}) {
        }
        ::close(pipe_ends[0]);

        const auto opened = open_sqlite(options(path));
        ASSERT_TRUE(opened) << to_string(opened.error());
        const std::int64_t found = count(**opened);
        EXPECT_GE(found, last + 1);
        EXPECT_LE(found, last + 2);  // one may have been committed but not yet reported
        confirmed = found;
    }
}

TEST(SqliteFullDisk, FailsACommitAndLeavesTheCatalogUsable) {
    const TemporaryDirectory directory;
    const std::string path = directory / "catalog";
    ASSERT_TRUE(open_sqlite(options(path, true)));
    const pid_t child = in_child([&] {
        const auto database = *open_sqlite(options(path));
        const auto sql = *database->connect(Access::write);
        limit_file_size(fs::file_size(path) + 500'000);
        std::int64_t id = kCrashRows;
        Result<std::int64_t> stored = std::int64_t{0};
        while (stored && id < 1'000'000) {
            stored = sql->execute("INSERT INTO t VALUES (?, ?)", {id++, std::string(2000, 'z')});
        }
        if (stored || stored.error().code != ErrorCode::catalog_full) return 1;
        const std::int64_t confirmed = id - 1;
        if (count(*database) != confirmed) return 2;

        // Inside a transaction too, at the latest on commit.
        Result<Done> done = sql->begin(Access::write);
        for (int i = 0; i < 1000 && done; ++i) {
            const auto added =
                sql->execute("INSERT INTO t VALUES (?, ?)", {id + i, std::string(2000, 'z')});
            if (!added) done = added.error();
        }
        if (done) done = sql->commit();
        if (done || done.error().code != ErrorCode::catalog_full) return 3;
        sql->rollback();
        if (count(*database) != confirmed) return 4;

        // With space again, the same connection goes on.
        limit_file_size(RLIM_INFINITY);
        if (!sql->execute("INSERT INTO t VALUES (?, 'small')", {id})) return 5;
        return count(*database) == confirmed + 1 ? 0 : 6;
    });
    EXPECT_EQ(exit_code(child), 0);
    EXPECT_TRUE(integrity_problems(path)->empty());
    EXPECT_TRUE(open_sqlite(options(path)));
}

TEST(SqliteFullDisk, FailsABackupAndLeavesNoFile) {
    const TemporaryDirectory directory;
    const std::string path = directory / "catalog";
    ASSERT_TRUE(open_sqlite(options(path, true)));
    fs::create_directory(directory / "backups");
    const pid_t child = in_child([&] {
        const auto database = *open_sqlite(options(path));
        for (const rlim_t bytes : {0UL, 1000UL, 100'000UL, fs::file_size(path) - 4096}) {
            limit_file_size(bytes);
            const auto copied = database->backup_to(directory / "backups/b");
            limit_file_size(RLIM_INFINITY);
            if (copied) return 1;
            if (copied.error().code != ErrorCode::catalog_full ||
                copied.error().hint.find("the disk of the backup") == std::string::npos) {
                std::fprintf(stderr, "%s\n", to_string(copied.error()).c_str());
                return 2;
            }
            if (!fs::is_empty(directory / "backups")) return 3;
        }
        return database->backup_to(directory / "backups/b") ? 0 : 4;
    });
    EXPECT_EQ(exit_code(child), 0);
}

TEST(SqliteFullDisk, FailsCreationAndLeavesNoFile) {
    const TemporaryDirectory directory;
    const std::string path = directory / "catalog";
    const pid_t child = in_child([&] {
        for (const rlim_t bytes : {1000UL, 50'000UL, 300'000UL}) {
            limit_file_size(bytes);
            const auto opened = open_sqlite(options(path, true));
            limit_file_size(RLIM_INFINITY);
            if (opened) return 1;
            if (opened.error().code != ErrorCode::catalog_full) {
                std::fprintf(stderr, "%s\n", to_string(opened.error()).c_str());
                return 2;
            }
            if (fs::exists(path) || fs::exists(path + ".new")) return 3;
        }
        return open_sqlite(options(path, true)) ? 0 : 4;
    });
    EXPECT_EQ(exit_code(child), 0);
}

}  // namespace
}  // namespace baton::sqlite
