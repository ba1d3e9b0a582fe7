#include "tables/table_log.h"

#include <array>
#include <functional>
#include <set>
#include <thread>

#include <gtest/gtest.h>

#include "adapters/folder/folder_store.h"
#include "ports/store_account.h"
#include "stores/sure_store.h"
#include "testing/stores/faulty_attempts.h"
#include "testing/stores/memory_store.h"
#include "testing/tables/line_checkpoints.h"
#include "testing/temporary_directory.h"

namespace baton::tables {
namespace {

TableDefinition definition() {
    return {.id = "0b9a7f5e-0000-4000-8000-000000000000",
            .name = "t",
            .columns = {{.name = "n", .type = *table_type_of("BIGINT")}},
            .partition_by = {}};
}

CommitRequest adding(const std::string& key) {
    return {.add = {{.key = key, .bytes = 1, .rows = 1}}};
}

std::set<std::string> keys_of(const Snapshot& snapshot) {
    std::set<std::string> keys;
    snapshot.each([&](ObjectPlace place) { keys.emplace(snapshot.key(place)); });
    return keys;
}

// Several TableLogs of one table, as processes have them.
class TableLogTest : public ::testing::Test {
protected:
    TableLogParts parts(std::shared_ptr<ObjectStore> store) {
        processes_ += 1;
        return {.store = std::move(store),
                .folder = "tables/t/",
                .clock = &clock_,
                .checkpoints = &checkpoints_,
                .temporary_folder = folder_.path(),
                .engine = "Baton/test",
                .process = "p" + std::to_string(processes_)};
    }
    std::unique_ptr<TableLog> open() { return std::make_unique<TableLog>(parts(memory_)); }

    static SharedSnapshot newest(TableLog& log) {
        const auto snapshot = log.newest({});
        EXPECT_TRUE(snapshot) << to_string(snapshot.error());
        return snapshot ? *snapshot : std::make_shared<const Snapshot>();
    }
    static SharedSnapshot add(TableLog& log, const std::string& key) {
        const auto done = log.commit(adding(key), {});
        EXPECT_TRUE(done) << to_string(done.error());
        return done ? done->snapshot : std::make_shared<const Snapshot>();
    }

    testing::TemporaryDirectory folder_;
    testing::SettableClock clock_;
    testing::LineCheckpoints checkpoints_;
    std::shared_ptr<testing::MemoryStore> memory_ = std::make_shared<testing::MemoryStore>();
    int processes_ = 0;
};

TEST_F(TableLogTest, ATableIsMadeOnceAndAdoptedAfterwards) {
    const auto one = open();
    const auto two = open();
    EXPECT_EQ(one->newest({}).error().message, "there is no table at \"memory://test/tables/t/\"");
    ASSERT_TRUE(one->create(definition(), {}));
    add(*one, "a");
    const auto adopted = two->create(definition(), {});
    ASSERT_TRUE(adopted);
    EXPECT_EQ((*adopted)->version(), 1);
    TableDefinition other = definition();
    other.columns.push_back({.name = "m", .type = *table_type_of("DATE")});
    EXPECT_EQ(open()->create(other, {}).error().code, ErrorCode::table_exists);
}

TEST_F(TableLogTest, AFolderWithOtherFilesIsRefused) {
    ASSERT_TRUE(memory_->put("tables/t/holiday.jpg", "x", Always{}, {}));
    const auto made = open()->create(definition(), {});
    ASSERT_FALSE(made);
    EXPECT_EQ(made.error().code, ErrorCode::table_exists);
    EXPECT_EQ(memory_->contents().size(), 1U);
}

TEST_F(TableLogTest, OneSeesTheCommitsOfTheOther) {
    const auto one = open();
    const auto two = open();
    ASSERT_TRUE(one->create(definition(), {}));
    EXPECT_EQ(newest(*two)->version(), 0);
    add(*one, "a");
    add(*one, "b");
    EXPECT_EQ(keys_of(*newest(*two)), (std::set<std::string>{"a", "b"}));
    add(*two, "c");
    EXPECT_EQ(keys_of(*newest(*one)), (std::set<std::string>{"a", "b", "c"}));
}

// Counts requests, and can hold them up.
class CountingStore : public testing::MemoryStore {
public:
    using MemoryStore::get;
    Result<Got> get(const std::string& key, const GetOptions& options,
                    const StoreCall& call) override {
        gets += 1;
        if (on_get) on_get();
        return MemoryStore::get(key, options, call);
    }
    std::atomic<int> gets = 0;
    std::function<void()> on_get;
};

TEST_F(TableLogTest, ARefreshIsOneGetAndManyCallersShareIt) {
    const auto store = std::make_shared<CountingStore>();
    TableLog log(parts(store));
    ASSERT_TRUE(log.create(definition(), {}));
    store->gets = 0;
    newest(log);
    EXPECT_EQ(store->gets, 1);
    store->gets = 0;
    // The first get waits until all others wait for it: they need one more, together.
    constexpr int kCallers = 16;
    std::atomic<int> begun = 0;
    store->on_get = [&] {
        while (begun < kCallers) std::this_thread::yield();
    };
    std::vector<std::thread> threads;
    for (int i = 0; i < kCallers; ++i) {
        threads.emplace_back([&] {
            begun += 1;
            EXPECT_EQ(newest(log)->version(), 0);
        });
    }
    for (auto& thread : threads) thread.join();
    EXPECT_GE(store->gets, 1);
    EXPECT_LE(store->gets, kCallers / 2);
}

TEST_F(TableLogTest, ACallerThatGivesUpWaitsForNoOther) {
    const auto store = std::make_shared<CountingStore>();
    TableLog log(parts(store));
    ASSERT_TRUE(log.create(definition(), {}));
    std::atomic<bool> waiting = false;
    std::atomic<bool> go = false;
    store->on_get = [&] {
        waiting = true;
        while (!go) std::this_thread::yield();
    };
    std::thread first([&] { newest(log); });
    while (!waiting) std::this_thread::yield();
    const auto second = log.newest({.given_up = [] { return true; }});
    ASSERT_FALSE(second);
    EXPECT_EQ(second.error().code, ErrorCode::cancelled);
    go = true;
    first.join();
}

TEST_F(TableLogTest, ARemovalOfAnObjectThatIsGoneIsAConflict) {
    const auto one = open();
    const auto two = open();
    ASSERT_TRUE(one->create(definition(), {}));
    add(*one, "a");
    newest(*two);
    ASSERT_TRUE(one->commit({.remove = {"a"}}, {}));
    const auto lost = two->commit({.add = {{.key = "b", .bytes = 1}}, .remove = {"a"}}, {});
    ASSERT_FALSE(lost);
    EXPECT_EQ(lost.error().code, ErrorCode::conflict);
    EXPECT_TRUE(keys_of(*newest(*one)).empty());
}

TEST_F(TableLogTest, ATransactionIsDoneOnceInAnyProcess) {
    ASSERT_TRUE(open()->create(definition(), {}));
    CommitRequest request = adding("a");
    request.transaction = Transaction{.application = once("key"), .version = 1};
    const auto first = open()->commit(request, {});
    ASSERT_TRUE(first);
    EXPECT_FALSE(first->before);
    request.add.front().key = "b";
    const auto again = open()->commit(request, {});
    ASSERT_TRUE(again);
    EXPECT_TRUE(again->before);
    EXPECT_EQ(keys_of(*again->snapshot), std::set<std::string>{"a"});
}

TEST_F(TableLogTest, ACheckpointAndTheRestAreTheTable) {
    const auto one = open();
    ASSERT_TRUE(one->create(definition(), {}));
    for (int i = 0; i < 20; ++i) add(*one, "a" + std::to_string(i));
    ASSERT_TRUE(one->commit({.remove = {"a3"}}, {}));
    ASSERT_TRUE(one->write_checkpoint({}));
    ASSERT_TRUE(one->write_checkpoint({}));
    add(*one, "b");
    // The entries before it are not needed.
    std::vector<std::string> old;
    for (int i = 0; i < 21; ++i) old.push_back("tables/t/" + entry_key(i));
    ASSERT_TRUE(memory_->remove(old, {}));
    const auto two = open();
    const SharedSnapshot snapshot = newest(*two);
    EXPECT_EQ(snapshot->version(), 22);
    EXPECT_EQ(keys_of(*snapshot), keys_of(*newest(*one)));
    EXPECT_EQ(snapshot->totals(), newest(*one)->totals());
    EXPECT_TRUE(snapshot->removal_of("a3"));
    const auto older = two->at_version(3, {});
    ASSERT_FALSE(older);
    EXPECT_EQ(older.error().code, ErrorCode::invalid_question);
}

TEST_F(TableLogTest, AHintThatLiesDoesNoHarm) {
    const auto one = open();
    ASSERT_TRUE(one->create(definition(), {}));
    add(*one, "a");
    for (const std::string hint :
         {"{\"version\":77,\"size\":1}", "{\"version\":1,\"size\":1}", "x"}) {
        ASSERT_TRUE(
            memory_->put("tables/t/" + std::string(kLastCheckpointKey), hint, Always{}, {}));
        EXPECT_EQ(keys_of(*newest(*open())), std::set<std::string>{"a"}) << hint;
    }
}

TEST_F(TableLogTest, OlderVersionsAreReadAsLongAsTheirObjectsAreThere) {
    const auto one = open();
    ASSERT_TRUE(one->create(definition(), {}));
    add(*one, "a");
    add(*one, "b");
    ASSERT_TRUE(one->commit({.remove = {"a"}}, {}));
    const auto two = one->at_version(2, {});
    ASSERT_TRUE(two);
    EXPECT_EQ(keys_of(**two), (std::set<std::string>{"a", "b"}));
    EXPECT_EQ(keys_of(**one->at_version(1, {})), std::set<std::string>{"a"});
    EXPECT_EQ(one->at_version(9, {}).error().message, "the table has no version 9");
    clock_.pass(std::chrono::minutes(61));
    EXPECT_EQ(one->at_version(2, {}).error().message,
              "version 2 of the table can no longer be read: objects of it were deleted");
    EXPECT_TRUE(one->at_version(3, {}));
}

TEST_F(TableLogTest, ALogThatWasCleanedUpIsReadFromItsCheckpoint) {
    const auto one = open();
    const auto two = open();
    ASSERT_TRUE(one->create(definition(), {}));
    newest(*two);
    for (int i = 0; i < 5; ++i) add(*one, "a" + std::to_string(i));
    ASSERT_TRUE(one->write_checkpoint({}));
    std::vector<std::string> old;
    for (int i = 0; i < 5; ++i) old.push_back("tables/t/" + entry_key(i));
    ASSERT_TRUE(memory_->remove(old, {}));
    clock_.pass(std::chrono::minutes(2));
    EXPECT_EQ(newest(*two)->version(), 5);
    add(*two, "b");
    EXPECT_EQ(newest(*one)->version(), 6);
}

TEST_F(TableLogTest, ATableThatWasMadeAnewIsReadAnew) {
    const auto one = open();
    ASSERT_TRUE(one->create(definition(), {}));
    for (int i = 0; i < 5; ++i) add(*one, "a" + std::to_string(i));
    std::vector<std::string> all;
    for (const auto& [key, bytes] : memory_->contents()) all.push_back(key);
    ASSERT_TRUE(memory_->remove(all, {}));
    ASSERT_TRUE(open()->create(definition(), {}));
    clock_.pass(std::chrono::minutes(2));
    EXPECT_EQ(newest(*one)->version(), 0);
}

TEST_F(TableLogTest, AMissingEntryIsDamage) {
    const auto one = open();
    ASSERT_TRUE(one->create(definition(), {}));
    for (int i = 0; i < 5; ++i) add(*one, "a" + std::to_string(i));
    ASSERT_TRUE(memory_->remove({"tables/t/" + entry_key(2)}, {}));
    const auto damaged = open()->newest({});
    ASSERT_FALSE(damaged);
    EXPECT_EQ(damaged.error().message, "the table's log is damaged: version 2 is missing");
}

TEST_F(TableLogTest, OldObjectsAndFilesOfTheLogAreDeleted) {
    const auto one = open();
    ASSERT_TRUE(one->create(definition(), {}));
    for (const std::string key : {"a", "b", "c"}) {
        ASSERT_TRUE(memory_->put("tables/t/" + key, "x", Always{}, {}));
    }
    add(*one, "a");
    add(*one, "b");
    ASSERT_TRUE(one->commit({.remove = {"a"}}, {}));
    EXPECT_EQ(*one->remove_old({}), 0U);
    clock_.pass(std::chrono::minutes(61));
    EXPECT_EQ(*one->remove_old({}), 1U);
    EXPECT_FALSE(memory_->contents().contains("tables/t/a"));
    EXPECT_TRUE(memory_->contents().contains("tables/t/b"));
    EXPECT_EQ(*one->remove_old({}), 0U);
    // "c" was left behind. In this store a second passes with each put.
    EXPECT_TRUE(one->unreferenced({})->empty());
    for (int i = 0; i < 3'700; ++i) ASSERT_TRUE(memory_->put("clock", "x", Always{}, {}));
    clock_.pass(std::chrono::hours(24) * 40);
    const auto left = one->unreferenced({});
    ASSERT_TRUE(left);
    EXPECT_EQ(*left, std::vector<std::string>{"c"});
    EXPECT_EQ(*one->remove_unreferenced({}), 1U);
    EXPECT_FALSE(memory_->contents().contains("tables/t/c"));
    EXPECT_TRUE(memory_->contents().contains("tables/t/b"));
}

struct StoreCase {
    std::string name;
    testing::StoreFaults faults;
    bool folder = false;
};
void PrintTo(const StoreCase& each, std::ostream* out) {
    *out << each.name;
}

// Processes that append at once, over stores of all kinds.
class ManyWriters : public TableLogTest, public ::testing::WithParamInterface<StoreCase> {
protected:
    void SetUp() override {
        if (!GetParam().folder) return;
        const auto opened = folder::FolderStore::open({.path = folder_ / "store"}, clock_);
        ASSERT_TRUE(opened);
    }
    std::shared_ptr<ObjectStore> store(std::uint64_t seed) {
        std::unique_ptr<StoreAttempts> attempts;
        if (GetParam().folder) {
            auto opened = folder::FolderStore::open({.path = folder_ / "store"}, clock_);
            CHECK(opened);
            attempts = *std::move(opened);
        } else {
            attempts = std::make_unique<testing::FaultyAttempts>(memory_, GetParam().faults, seed);
        }
        return std::make_shared<stores::SureStore>(std::move(attempts), clock_, seed,
                                                   [this](Duration time) { clock_.pass(time); });
    }
};

TEST_P(ManyWriters, EveryAcknowledgedAppendIsThereExactlyOnce) {
    constexpr int kProcesses = 3;
    constexpr int kThreads = 3;  // of each
    constexpr int kAppends = 15;
    std::vector<std::unique_ptr<TableLog>> logs;
    for (int i = 0; i < kProcesses; ++i) {
        logs.push_back(std::make_unique<TableLog>(parts(store(static_cast<std::uint64_t>(i) + 1))));
    }
    while (!logs.front()->create(definition(), {})) {
    }
    std::mutex mutex;
    std::set<std::string> acknowledged;
    std::set<std::string> tried;
    const auto append = [&](int process, int thread) {
        const std::string writer = std::to_string(process) + "-" + std::to_string(thread);
        for (int i = 0; i < kAppends; ++i) {
            // Each repeat writes its rows anew, under another key: the number makes it once.
            for (int repeat = 0; repeat < 50; ++repeat) {
                const std::string key =
                    writer + "/" + std::to_string(i) + "/" + std::to_string(repeat);
                CommitRequest request = adding(key);
                const bool numbered = thread != 0;
                if (numbered)
                    request.transaction = Transaction{.application = writer, .version = i};
                const auto done =
                    logs[static_cast<std::size_t>((process + repeat) % kProcesses)]->commit(request,
                                                                                            {});
                const std::lock_guard lock(mutex);
                tried.insert(key);
                if (done && !done->before) acknowledged.insert(key);
                const bool unknown = !done && done.error().code == ErrorCode::unknown_outcome;
                if (done || (unknown && !numbered)) break;
            }
        }
    };
    std::vector<std::thread> threads;
    for (int process = 0; process < kProcesses; ++process) {
        for (int thread = 0; thread < kThreads; ++thread)
            threads.emplace_back(append, process, thread);
    }
    for (auto& thread : threads) thread.join();
    TableLog reader(parts(GetParam().folder ? store(99) : memory_));
    const SharedSnapshot snapshot = newest(reader);
    const std::set<std::string> there = keys_of(*snapshot);
    for (const std::string& key : acknowledged) EXPECT_TRUE(there.contains(key)) << key;
    std::set<std::string> once;  // without the repeat
    for (const std::string& key : there) {
        EXPECT_TRUE(tried.contains(key)) << key;
        EXPECT_TRUE(once.insert(key.substr(0, key.rfind('/'))).second) << key;
    }
    // With a number every append ends well, however often it takes.
    for (int process = 0; process < kProcesses; ++process) {
        for (int thread = 1; thread < kThreads; ++thread) {
            for (int i = 0; i < kAppends; ++i) {
                const std::string name = std::to_string(process) + "-" + std::to_string(thread) +
                                         "/" + std::to_string(i);
                EXPECT_TRUE(once.contains(name)) << name;
            }
        }
    }
    EXPECT_EQ(static_cast<std::size_t>(snapshot->version()), there.size());
    EXPECT_EQ(snapshot->totals().rows, there.size());
}

INSTANTIATE_TEST_SUITE_P(
    Stores, ManyWriters,
    ::testing::Values(StoreCase{.name = "Memory"},
                      StoreCase{.name = "Faulty",
                                .faults = {.not_sent = 5,
                                           .lost_request = 5,
                                           .lost_answer = 5,
                                           .throttled = 5,
                                           .refused_500 = 5,
                                           .done_500 = 5,
                                           .contended = 5}},
                      StoreCase{.name = "VeryFaulty",
                                .faults = {.lost_request = 20, .lost_answer = 30, .done_500 = 15}},
                      StoreCase{.name = "Folder", .folder = true}),
    [](const ::testing::TestParamInfo<StoreCase>& each) { return each.param.name; });

}  // namespace
}  // namespace baton::tables
