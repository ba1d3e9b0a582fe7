// A coordinator that leads, with the real engine and a store of files.
#include "coordinator/upkeep/upkeep_loop.h"

#include <filesystem>
#include <thread>

#include <gtest/gtest.h>

#include "testing/coordinator/coordinator_test_base.h"
#include "testing/eventually.h"
#include "testing/real_tables/table_process.h"
#include "testing/tables/line_checkpoints.h"
#include "testing/temporary_directory.h"

namespace baton::coordinator {
namespace {

namespace fs = std::filesystem;

class CollectedLines : public Log {
public:
    void write(LogLevel /*level*/, std::string_view message,
               const std::vector<LogField>& /*fields*/) override {
        const std::lock_guard lock(mutex_);
        lines_.emplace_back(message);
    }
    [[nodiscard]] std::vector<std::string> lines() const {
        const std::lock_guard lock(mutex_);
        return lines_;
    }

private:
    mutable std::mutex mutex_;
    std::vector<std::string> lines_;
};

class UpkeepLoopTest : public testing::CoordinatorTest {
protected:
    void SetUp() override { open_with(std::chrono::hours(1)); }
    void TearDown() override {
        session_.reset();
        coordinator_.reset();
    }

    void open_with(Duration dropped_after) {
        CoordinatorOptions options;
        options.tables = &tables_.access();
        options.log = &log_;
        options.upkeep.schedule = {.note_pause = std::chrono::milliseconds(20),
                                   .more_pause = std::chrono::milliseconds(1),
                                   .busy_pause = std::chrono::milliseconds(20),
                                   .idle_pause_max = std::chrono::milliseconds(100),
                                   .trouble_pause_max = std::chrono::milliseconds(100),
                                   .thorough_every = std::chrono::milliseconds(100)};
        options.upkeep.dropped_after = dropped_after;
        options.upkeep.folders_every = std::chrono::milliseconds(20);
        open(options);
    }

    [[nodiscard]] Table table() {
        auto snapshot = coordinator_->snapshot();
        CHECK(snapshot);
        return **snapshot->read().find<Table>("T");
    }
    [[nodiscard]] std::size_t dropped() {
        auto snapshot = coordinator_->snapshot();
        CHECK(snapshot);
        return snapshot->read().dropped_tables()->size();
    }
    [[nodiscard]] std::string store_folder() const {
        return testing::TableProcess::store_folder(folder_.path());
    }
    [[nodiscard]] std::size_t files(const std::string& ending) const {
        std::size_t count = 0;
        for (const auto& file : fs::recursive_directory_iterator(store_folder())) {
            if (file.is_regular_file() && file.path().string().ends_with(ending)) count += 1;
        }
        return count;
    }
    void insert_rows(int clients, int each) {
        std::vector<std::thread> threads;
        for (int i = 0; i < clients; ++i) {
            threads.emplace_back([this, i, each] {
                Session session(*coordinator_, "");
                for (int n = 0; n < each; ++n) {
                    run(session, "INSERT INTO t VALUES (" + std::to_string(i * each + n) + ")");
                }
            });
        }
        for (std::thread& thread : threads) thread.join();
    }

    testing::TemporaryDirectory folder_;
    testing::SettableClock table_clock_{system::SystemClock().wall_now()};
    CollectedLines log_;
    testing::TableProcess tables_{folder_.path(), "test", table_clock_};
};

TEST_F(UpkeepLoopTest, ViewsSoonSayWhatATableHas) {
    run("CREATE TABLE t (n BIGINT)");
    run("INSERT INTO t VALUES (1), (2)");
    EXPECT_TRUE(testing::eventually([&] {
        return rows("SELECT rows, objects FROM baton.tables") == "2|1\n";
    })) << rows("SELECT rows, objects FROM baton.tables");
    EXPECT_GT(coordinator_->upkeep_counts().notes, 0U);
}

TEST_F(UpkeepLoopTest, SingleRowsOfManyClientsBecomeFewObjects) {
    run("CREATE TABLE t (n BIGINT)");
    std::atomic<bool> ended = false;
    std::thread reader([&] {
        Session session(*coordinator_, "");
        for (int before = 0; !ended;) {
            const int count = std::atoi(rows(session, "SELECT count(*) FROM t").c_str());
            EXPECT_GE(count, before);
            before = count;
        }
    });
    insert_rows(4, 250);
    ended = true;
    reader.join();
    EXPECT_TRUE(testing::eventually([&] {
        return std::atoi(rows("SELECT objects FROM baton.tables").c_str()) < 16;
    })) << rows("SELECT objects FROM baton.tables");
    EXPECT_EQ(rows("SELECT count(*), sum(n), count(DISTINCT n) FROM t"), "1000|499500|1000\n");
    EXPECT_TRUE(log_.lines().empty()) << log_.lines().front();
    // Hours later the store holds no more than the table.
    table_clock_.pass(std::chrono::hours(3));
    EXPECT_TRUE(testing::eventually([&] {
        const auto log = (*tables_.access().open(table()))->log;
        return files(".parquet") - files(".checkpoint.parquet") == log->known()->totals().objects;
    })) << files(".parquet");
    EXPECT_EQ(rows("SELECT count(*), sum(n) FROM t"), "1000|499500\n");
}

TEST_F(UpkeepLoopTest, TheFolderOfADroppedTableIsDeletedAfterItsTime) {
    run("CREATE TABLE t (n BIGINT)");
    run("INSERT INTO t VALUES (1)");
    run("DROP TABLE t");
    run("CREATE TABLE t (n BIGINT)");
    run("INSERT INTO t VALUES (7)");
    const std::size_t before = files(".json");
    EXPECT_GE(before, 4U);
    EXPECT_EQ(dropped(), 1U);
    EXPECT_EQ(files(".json"), before);
}

TEST_F(UpkeepLoopTest, AFolderGoesForGoodAndOnlyThatOfTheTable) {
    open_with(Duration::zero());
    run("CREATE TABLE t (n BIGINT)");
    run("INSERT INTO t VALUES (1)");
    run("DROP TABLE t");
    run("CREATE TABLE t (n BIGINT)");
    run("INSERT INTO t VALUES (7)");
    EXPECT_TRUE(testing::eventually([&] { return dropped() == 0; }));
    EXPECT_EQ(files(".json"), 2U);
    EXPECT_EQ(rows("SELECT n FROM t"), "7\n");
    EXPECT_EQ(coordinator_->upkeep_counts().deleted_folders, 1U);
}

TEST_F(UpkeepLoopTest, TroubleIsLoggedOnceAndNamesTheTable) {
    run("CREATE TABLE t (n BIGINT)");
    insert_rows(1, 3);
    fs::path log;
    for (const auto& file : fs::recursive_directory_iterator(store_folder())) {
        if (file.path().filename() == "_delta_log") log = file.path();
    }
    fs::remove_all(log);
    table_clock_.pass(std::chrono::minutes(2));
    EXPECT_TRUE(testing::eventually([&] { return coordinator_->upkeep_counts().failures > 3; }));
    const std::vector<std::string> lines = log_.lines();
    ASSERT_EQ(lines.size(), 1U);
    EXPECT_TRUE(lines.front().starts_with("upkeep of table \"T\" failed: ")) << lines.front();
}

TEST_F(UpkeepLoopTest, VacuumDoesTheWorkAtOnceAndSaysSo) {
    run("CREATE TABLE t (n BIGINT)");
    insert_rows(1, 3);
    const auto results = run("VACUUM t");
    EXPECT_EQ(results.back().tag, "VACUUM");
    EXPECT_EQ(results.back().notice, "table T: nothing was due");
}

}  // namespace
}  // namespace baton::coordinator
