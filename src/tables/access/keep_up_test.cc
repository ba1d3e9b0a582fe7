// With the real engine, the real folder store and real checkpoints.
#include "tables/access/keep_up.h"

#include <atomic>
#include <filesystem>
#include <set>
#include <thread>

#include <gtest/gtest.h>

#include "adapters/system/system_clock.h"
#include "tables/access/ingest.h"
#include "testing/real_tables/table_process.h"
#include "testing/tables/line_checkpoints.h"
#include "testing/temporary_directory.h"

namespace baton::tables {
namespace {

namespace fs = std::filesystem;

constexpr Duration kHour = std::chrono::hours(1);

class KeepUpTest : public ::testing::Test {
protected:
    void SetUp() override { ASSERT_TRUE(one_.access().create(table_, {})); }

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
    static std::string totals(testing::TableProcess& process, const Table& of) {
        return process.ask(
            of, "SELECT count(*)::VARCHAR || ', ' || coalesce(sum(n), 0)::VARCHAR FROM r");
    }
    static std::uint64_t objects(testing::TableProcess& process, const Table& of) {
        return process.objects(of);
    }
    [[nodiscard]] std::size_t stored() const {
        return testing::stored_objects(testing::TableProcess::store_folder(folder_.path()));
    }

    testing::TemporaryDirectory folder_;
    testing::SettableClock clock_{system::SystemClock().wall_now()};
    testing::TableProcess one_{folder_.path(), "one", clock_};
    const Table table_ = table();
};

TEST_F(KeepUpTest, SingleRowsBecomeFewObjectsWhileReadersSeeWholeAnswers) {
    constexpr int kClients = 4;
    constexpr std::int64_t kEach = 60;
    Ingest ingest(one_.access());
    std::atomic<bool> ended = false;
    std::atomic<std::uint64_t> merges = 0;
    std::thread keeper([&] {
        while (!ended) {
            const KeepUpOutcome outcome = keep_up(one_.access(), table_, {});
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
    const auto last = keep_up_whole(one_.access(), table_, {});
    ASSERT_TRUE(last) << to_string(last.error());
    EXPECT_GT(merges + last->merges, 0U);
    EXPECT_LT(objects(one_, table_), 16U);
    EXPECT_EQ(totals(one_, table_), "240, 28680");
    // An hour later only the objects of the table are there.
    clock_.pass(2 * kHour);
    ASSERT_TRUE(keep_up_whole(one_.access(), table_, {}));
    EXPECT_EQ(stored(), objects(one_, table_));
    EXPECT_EQ(totals(one_, table_), "240, 28680");
}

TEST_F(KeepUpTest, TwoLeadersThatMergeAtOnceLoseAndDoubleNothing) {
    testing::TableProcess two(folder_.path(), "two", clock_);
    Ingest ingest(one_.access());
    std::atomic<std::uint64_t> conflicts = 0;
    for (int round = 0; round < 4; ++round) {
        insert(ingest, table_, round * 20, 20);
        const auto keep = [&](testing::TableProcess& process) {
            const auto kept = keep_up_whole(process.access(), table_, {});
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
    ASSERT_TRUE(keep_up_whole(two.access(), table_, {}));
    EXPECT_EQ(stored(), objects(two, table_));
}

TEST_F(KeepUpTest, RowsThatAreTooOldGo) {
    Table dated = table("DATE");
    dated.location = "t-2";
    dated.options["RETENTION_DAYS"] = std::int64_t{30};
    ASSERT_TRUE(one_.access().create(dated, {}));
    Ingest ingest(one_.access());
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
    const auto kept = keep_up_whole(one_.access(), dated, {});
    ASSERT_TRUE(kept) << to_string(kept.error());
    EXPECT_EQ(kept->in_words(), "1 object with old rows removed");
    EXPECT_EQ(totals(one_, dated), "1, 2");
}

TEST_F(KeepUpTest, CheckpointsAreWrittenAndOldFilesGo) {
    Ingest ingest(one_.access());
    insert(ingest, table_, 0, 110);
    const auto kept = keep_up_whole(one_.access(), table_, {});
    ASSERT_TRUE(kept) << to_string(kept.error());
    EXPECT_TRUE(kept->checkpoint);
    EXPECT_EQ(kept->deleted, 0U);  // readers may still need them
    clock_.pass(2 * kHour);
    const auto later = keep_up_whole(one_.access(), table_, {});
    ASSERT_TRUE(later) << to_string(later.error());
    EXPECT_GE(later->deleted, 110U);
    const auto again = keep_up_whole(one_.access(), table_, {});
    ASSERT_TRUE(again);
    EXPECT_EQ(again->deleted, 0U);
    testing::TableProcess fresh(folder_.path(), "fresh", clock_);
    EXPECT_EQ(totals(fresh, table_), "110, 5995");
}

// A writer that needs an hour from its object to its entry must not add an object that is gone.
TEST_F(KeepUpTest, AWriterThatIsTooSlowIsRefused) {
    const auto opened = *one_.access().open(table_);
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
    const auto store = *one_.access().managed_store();
    ASSERT_TRUE(store->put("t-1/part-lost.parquet", "x", IfAbsent{}, {}));
    ASSERT_TRUE(keep_up_whole(one_.access(), table_, {}));
    EXPECT_EQ(stored(), 1U);
    clock_.pass(2 * kHour);
    const auto kept = keep_up_whole(one_.access(), table_, {});
    ASSERT_TRUE(kept);
    EXPECT_EQ(kept->left_behind, stored() == 0 ? 1U : 99U);
}

TEST_F(KeepUpTest, AFolderOfADroppedTableIsDeletedWithAllInIt) {
    Table other = table();
    other.location = "t-10";  // its name begins as that of the other
    ASSERT_TRUE(one_.access().create(other, {}));
    Ingest ingest(one_.access());
    insert(ingest, table_, 0, 5);
    insert(ingest, other, 0, 5);
    const auto first = delete_folder(one_.access(), "t-1", {});
    ASSERT_TRUE(first) << to_string(first.error());
    EXPECT_FALSE(*first);
    EXPECT_TRUE(*delete_folder(one_.access(), "t-1", {}));
    EXPECT_EQ(stored(), 5U);
    EXPECT_EQ(totals(one_, other), "5, 10");
}

TEST_F(KeepUpTest, ATableMadeAnewAtItsLocationIsAnotherOne) {
    Table outside = table();
    outside.managed = false;
    outside.location = folder_.path() + "/outside";
    fs::create_directories(outside.location);
    outside.created = clock_.wall_now();
    ASSERT_TRUE(one_.access().create(outside, {}));
    Ingest ingest(one_.access());
    insert(ingest, outside, 0, 3);
    EXPECT_EQ(totals(one_, outside), "3, 3");
    for (const auto& file : fs::directory_iterator(outside.location)) {
        if (file.path().filename().string().front() != '.') fs::remove_all(file.path());
    }
    Table again = outside;
    again.created = outside.created + std::chrono::seconds(1);
    const auto made = one_.access().create(again, {});
    ASSERT_TRUE(made) << to_string(made.error());
    EXPECT_EQ(totals(one_, again), "0, 0");
    insert(ingest, again, 5, 1);
    EXPECT_EQ(totals(one_, again), "1, 5");
    // A session that still has the older row of the catalog sees the table that is there.
    EXPECT_EQ(totals(one_, outside), "1, 5");
}

TEST_F(KeepUpTest, WorkThatIsGivenUpLeavesTheTableAsItWas) {
    Ingest ingest(one_.access());
    insert(ingest, table_, 0, 30);
    for (int after = 0; after < 12; ++after) {
        std::atomic<int> asked = 0;
        (void)keep_up(one_.access(), table_, {.given_up = [&] { return asked++ >= after; }});
        EXPECT_EQ(totals(one_, table_), "30, 435");
    }
    ASSERT_TRUE(keep_up_whole(one_.access(), table_, {}));
    EXPECT_EQ(totals(one_, table_), "30, 435");
    clock_.pass(2 * kHour);
    ASSERT_TRUE(keep_up_whole(one_.access(), table_, {}));
    EXPECT_EQ(stored(), objects(one_, table_));
}

}  // namespace
}  // namespace baton::tables
