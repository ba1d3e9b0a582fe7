// With the real engine, the real folder store and real checkpoints.
#include "tables/access/keep_up.h"

#include <atomic>
#include <filesystem>
#include <set>
#include <thread>

#include <gtest/gtest.h>

#include "adapters/checkpoints/parquet_checkpoints.h"
#include "adapters/duckdb/duckdb_engine.h"
#include "adapters/folder/folder_store.h"
#include "adapters/system/system_clock.h"
#include "stores/url_stores.h"
#include "tables/access/ingest.h"
#include "tables/access/write_objects.h"
#include "testing/tables/line_checkpoints.h"
#include "testing/temporary_directory.h"

namespace baton::tables {
namespace {

namespace fs = std::filesystem;

constexpr Duration kHour = std::chrono::hours(1);

// One process with its tables; several share the stores.
struct Process {
    Process(const std::string& folder, const std::string& name, const Clock& clock)
        : stores({.folder = [&clock](const stores::FolderUrl& url) -> stores::OpenedAttempts {
                      folder::FolderOptions options;
                      options.path = url.path;
                      auto opened = folder::FolderStore::open(options, clock);
                      if (!opened) return opened.error();
                      return std::unique_ptr<StoreAttempts>(*std::move(opened));
                  },
                  .s3 = nullptr},
                 clock, std::hash<std::string>()(name)) {
        const std::string work = folder + "/work-" + name;
        fs::create_directories(work + "/spill");
        fs::create_directories(folder + "/store");
        auto opened = duckdb_engine::open_engine({.slots = 2, .spill_folder = work + "/spill"});
        CHECK(opened);
        engine = *std::move(opened);
        access = std::make_unique<TableAccess>(TableAccessParts{.stores = &stores,
                                                                .engine = engine.get(),
                                                                .checkpoints = &checkpoints,
                                                                .clock = &clock,
                                                                .default_store = folder + "/store",
                                                                .work_folder = work,
                                                                .process = name,
                                                                .engine_name = "Baton/test"});
    }

    stores::UrlStores stores;
    std::unique_ptr<QuestionEngine> engine;
    checkpoints::ParquetCheckpoints checkpoints;
    std::unique_ptr<TableAccess> access;
};

class KeepUpTest : public ::testing::Test {
protected:
    void SetUp() override { ASSERT_TRUE(one_.access->create(table_, {})); }

    static Table table(const std::string& time_type = "BIGINT") {
        Table table{.name = "T",
                    .location = "t-1",
                    .managed = true,
                    .columns = {{.name = "n", .type = *table_type_of("BIGINT")},
                                {.name = "d", .type = *table_type_of(time_type)}}};
        return table;
    }

    // Rows n = from .. from + count - 1, each by an INSERT of its own.
    static void insert(Ingest& ingest, const Table& into, std::int64_t from, std::int64_t count) {
        for (std::int64_t n = from; n < from + count; ++n) {
            const auto added = wait(ingest.add({.table = into,
                                                .columns = {"n"},
                                                .rows = std::vector<ConstantRow>{{n}},
                                                .key = {}}));
            ASSERT_TRUE(added) << to_string(added.error());
        }
    }
    static Result<Added> wait(const std::shared_ptr<AddedLater>& later) {
        while (!later->given()) std::this_thread::yield();
        return later->take();
    }

    // "count, sum" of column n, over the newest version.
    static std::string totals(Process& process, const Table& of) {
        const auto opened = process.access->open(of);
        if (!opened) return to_string(opened.error());
        const auto snapshot = (*opened)->log->newest({});
        if (!snapshot) return to_string(snapshot.error());
        RelationFiles files;
        (*snapshot)->each([&](ObjectPlace place) {
            const TableObject object = (*snapshot)->object(place);
            files.files.push_back({.path = *process.access->local_path(**opened, object, {}),
                                   .partition = object.partition,
                                   .rows = object.rows});
        });
        QuestionTask task{.tree = *process.engine->parse("SELECT count(*)::VARCHAR || ', ' || "
                                                         "coalesce(sum(n), 0)::VARCHAR FROM r")};
        task.relations.push_back({.name = "r", .columns = of.columns, .content = std::move(files)});
        const auto answer = process.engine->answer(std::move(task));
        if (!answer) return to_string(answer.error());
        const auto rows = (*answer)->next();
        if (!rows) return to_string(rows.error());
        return std::get<std::string>(rows->rows.front().front());
    }
    static std::uint64_t objects(Process& process, const Table& of) {
        return (*(*process.access->open(of))->log->newest({}))->totals().objects;
    }
    // Parquet objects in the store, merged away or not.
    [[nodiscard]] std::size_t stored() const {
        std::size_t count = 0;
        for (const auto& file : fs::recursive_directory_iterator(folder_.path() + "/store")) {
            const std::string path = file.path().string();
            if (path.ends_with(".parquet") && path.find("_delta_log") == std::string::npos) {
                count += 1;
            }
        }
        return count;
    }

    testing::TemporaryDirectory folder_;
    testing::SettableClock clock_{system::SystemClock().wall_now()};
    Process one_{folder_.path(), "one", clock_};
    const Table table_ = table();
};

TEST_F(KeepUpTest, SingleRowsBecomeFewObjectsWhileReadersSeeWholeAnswers) {
    constexpr int kClients = 4;
    constexpr std::int64_t kEach = 60;
    Ingest ingest(*one_.access);
    std::atomic<bool> ended = false;
    std::atomic<std::uint64_t> merges = 0;
    std::thread keeper([&] {
        while (!ended) {
            const KeepUpOutcome outcome = keep_up(*one_.access, table_, {});
            EXPECT_TRUE(outcome.result) << to_string(outcome.result.error());
            merges += outcome.did.merges;
        }
    });
    // The rows of a client are there in their order, and none goes again.
    std::thread reader([&] {
        for (std::int64_t before = 0; !ended;) {
            const std::string seen = totals(one_, table_);
            const std::int64_t count = std::atoll(seen.c_str());
            EXPECT_GE(count, before) << seen;
            before = count;
        }
    });
    std::vector<std::thread> clients;
    for (int i = 0; i < kClients; ++i) {
        clients.emplace_back([&, i] { insert(ingest, table_, i * kEach, kEach); });
    }
    for (std::thread& client : clients) client.join();
    ended = true;
    keeper.join();
    reader.join();
    const auto last = keep_up_whole(*one_.access, table_, {});
    ASSERT_TRUE(last) << to_string(last.error());
    EXPECT_GT(merges + last->merges, 0U);
    EXPECT_LT(objects(one_, table_), 16U);
    EXPECT_EQ(totals(one_, table_), "240, 28680");
    // An hour later only the objects of the table are there.
    clock_.pass(2 * kHour);
    ASSERT_TRUE(keep_up_whole(*one_.access, table_, {}));
    EXPECT_EQ(stored(), objects(one_, table_));
    EXPECT_EQ(totals(one_, table_), "240, 28680");
}

TEST_F(KeepUpTest, TwoLeadersThatMergeAtOnceLoseAndDoubleNothing) {
    Process two(folder_.path(), "two", clock_);
    Ingest ingest(*one_.access);
    std::atomic<std::uint64_t> conflicts = 0;
    for (int round = 0; round < 4; ++round) {
        insert(ingest, table_, round * 20, 20);
        const auto keep = [&](Process& process) {
            const auto kept = keep_up_whole(*process.access, table_, {});
            EXPECT_TRUE(kept) << to_string(kept.error());
            if (kept) conflicts += kept->conflicts;
        };
        std::thread other([&] { keep(two); });
        keep(one_);
        other.join();
    }
    EXPECT_EQ(totals(one_, table_), "80, 3160");
    EXPECT_EQ(totals(two, table_), "80, 3160");
    clock_.pass(2 * kHour);
    ASSERT_TRUE(keep_up_whole(*two.access, table_, {}));
    EXPECT_EQ(stored(), objects(two, table_));
}

TEST_F(KeepUpTest, RowsThatAreTooOldGo) {
    Table dated = table("DATE");
    dated.location = "t-2";
    dated.options["RETENTION_DAYS"] = std::int64_t{30};
    ASSERT_TRUE(one_.access->create(dated, {}));
    Ingest ingest(*one_.access);
    const auto add = [&](std::int64_t n, Duration age) {
        const std::string day = to_string(clock_.wall_now() - age).substr(0, 10);
        const auto added = wait(ingest.add({.table = dated,
                                            .columns = {},
                                            .rows = std::vector<ConstantRow>{{n, day}},
                                            .key = {}}));
        ASSERT_TRUE(added) << to_string(added.error());
    };
    add(1, 40 * 24 * kHour);
    add(2, 24 * kHour);
    const auto kept = keep_up_whole(*one_.access, dated, {});
    ASSERT_TRUE(kept) << to_string(kept.error());
    EXPECT_EQ(kept->in_words(), "1 object with old rows removed");
    EXPECT_EQ(totals(one_, dated), "1, 2");
}

TEST_F(KeepUpTest, CheckpointsAreWrittenAndOldFilesGo) {
    Ingest ingest(*one_.access);
    insert(ingest, table_, 0, 110);
    const auto kept = keep_up_whole(*one_.access, table_, {});
    ASSERT_TRUE(kept) << to_string(kept.error());
    EXPECT_TRUE(kept->checkpoint);
    EXPECT_EQ(kept->deleted, 0U);  // readers may still need them
    clock_.pass(2 * kHour);
    const auto later = keep_up_whole(*one_.access, table_, {});
    ASSERT_TRUE(later) << to_string(later.error());
    EXPECT_GE(later->deleted, 110U);
    const auto again = keep_up_whole(*one_.access, table_, {});
    ASSERT_TRUE(again);
    EXPECT_EQ(again->deleted, 0U);
    Process fresh(folder_.path(), "fresh", clock_);
    EXPECT_EQ(totals(fresh, table_), "110, 5995");
}

// A writer that needs an hour from its object to its entry must not add an object that is gone.
TEST_F(KeepUpTest, AWriterThatIsTooSlowIsRefused) {
    const auto opened = *one_.access->open(table_);
    const WallTime begun = clock_.wall_now();
    CommitRequest request{.add = {{.key = "part-slow.parquet", .bytes = 1, .rows = 1}},
                          .written_since = begun};
    clock_.pass(kHour / 2 + std::chrono::seconds(1));
    const auto refused = opened->log->commit(request, {});
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, ErrorCode::conflict);
    request.written_since = clock_.wall_now();
    EXPECT_TRUE(opened->log->commit(request, {}));
}

TEST_F(KeepUpTest, ObjectsThatADeadWriterLeftAreDeletedAnHourLater) {
    ASSERT_TRUE(one_.access->managed_store());
    const auto store = *one_.access->managed_store();
    ASSERT_TRUE(store->put("t-1/part-lost.parquet", "x", IfAbsent{}, {}));
    ASSERT_TRUE(keep_up_whole(*one_.access, table_, {}));
    EXPECT_EQ(stored(), 1U);
    clock_.pass(2 * kHour);
    const auto kept = keep_up_whole(*one_.access, table_, {});
    ASSERT_TRUE(kept);
    EXPECT_EQ(kept->left_behind, stored() == 0 ? 1U : 99U);
}

TEST_F(KeepUpTest, AFolderOfADroppedTableIsDeletedWithAllInIt) {
    Table other = table();
    other.location = "t-10";  // its name begins as that of the other
    ASSERT_TRUE(one_.access->create(other, {}));
    Ingest ingest(*one_.access);
    insert(ingest, table_, 0, 5);
    insert(ingest, other, 0, 5);
    const auto first = delete_folder(*one_.access, "t-1", {});
    ASSERT_TRUE(first) << to_string(first.error());
    EXPECT_FALSE(*first);
    EXPECT_TRUE(*delete_folder(*one_.access, "t-1", {}));
    EXPECT_EQ(stored(), 5U);
    EXPECT_EQ(totals(one_, other), "5, 10");
}

TEST_F(KeepUpTest, ATableMadeAnewAtItsLocationIsAnotherOne) {
    Table outside = table();
    outside.managed = false;
    outside.location = folder_.path() + "/outside";
    fs::create_directories(outside.location);
    outside.created = clock_.wall_now();
    ASSERT_TRUE(one_.access->create(outside, {}));
    Ingest ingest(*one_.access);
    insert(ingest, outside, 0, 3);
    EXPECT_EQ(totals(one_, outside), "3, 3");
    for (const auto& file : fs::directory_iterator(outside.location)) {
        if (file.path().filename().string().front() != '.') fs::remove_all(file.path());
    }
    Table again = outside;
    again.created = outside.created + std::chrono::seconds(1);
    const auto made = one_.access->create(again, {});
    ASSERT_TRUE(made) << to_string(made.error());
    EXPECT_EQ(totals(one_, again), "0, 0");
    insert(ingest, again, 5, 1);
    EXPECT_EQ(totals(one_, again), "1, 5");
    // A session that still has the older row of the catalog sees the table that is there.
    EXPECT_EQ(totals(one_, outside), "1, 5");
}

TEST_F(KeepUpTest, WorkThatIsGivenUpLeavesTheTableAsItWas) {
    Ingest ingest(*one_.access);
    insert(ingest, table_, 0, 30);
    for (int after = 0; after < 12; ++after) {
        std::atomic<int> asked = 0;
        (void)keep_up(*one_.access, table_, {.given_up = [&] { return asked++ >= after; }});
        EXPECT_EQ(totals(one_, table_), "30, 435");
    }
    ASSERT_TRUE(keep_up_whole(*one_.access, table_, {}));
    EXPECT_EQ(totals(one_, table_), "30, 435");
    clock_.pass(2 * kHour);
    ASSERT_TRUE(keep_up_whole(*one_.access, table_, {}));
    EXPECT_EQ(stored(), objects(one_, table_));
}

}  // namespace
}  // namespace baton::tables
