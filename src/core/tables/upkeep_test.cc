#include "core/tables/upkeep.h"

#include <algorithm>

#include <gtest/gtest.h>

#include "core/tables/commit_plan.h"
#include "core/tables/log_files.h"

namespace baton::tables {
namespace {

constexpr WallTime kNow(std::chrono::hours(500'000));
constexpr Duration kHour = std::chrono::hours(1);
constexpr Duration kDay = std::chrono::hours(24);

Snapshot created(const std::string& time_type, std::vector<std::string> partition_by) {
    const TableDefinition definition{.id = "i",
                                     .name = "t",
                                     .columns = {{.name = "n", .type = *table_type_of("BIGINT")},
                                                 {.name = "at", .type = *table_type_of(time_type)}},
                                     .partition_by = std::move(partition_by)};
    const auto entry = first_entry(definition, {.now = kNow});
    CHECK(entry);
    auto snapshot = apply(Snapshot(), *entry, {});
    CHECK(snapshot);
    return *std::move(snapshot);
}

Snapshot with(const Snapshot& snapshot, const CommitRequest& request, WallTime now = kNow) {
    const auto plan = plan_commit(snapshot, request, {.now = now});
    CHECK(plan);
    auto next = apply(snapshot, std::get<NextEntry>(*plan).text, {});
    CHECK(next);
    return *std::move(next);
}

// Small ones: "p0-0", "p0-1", ..
std::vector<TableObject> objects(const std::string& name, int count, std::uint64_t bytes,
                                 WallTime modified) {
    std::vector<TableObject> objects;
    for (int i = 0; i < count; ++i) {
        objects.push_back({.key = name + "-" + std::to_string(100 + i),
                           .bytes = bytes,
                           .rows = 1,
                           .modified = modified + std::chrono::seconds(i)});
    }
    return objects;
}

// By merge: how many objects, and the first.
std::vector<std::string> merges_of(const Snapshot& snapshot, const UpkeepOptions& options = {}) {
    std::vector<std::string> merges;
    for (const Merge& merge : upkeep(snapshot, 0, kNow, options).merges) {
        merges.push_back(std::to_string(merge.objects.size()) + " from " +
                         merge.objects.front().key);
    }
    return merges;
}

TEST(Upkeep, ObjectsOfLikeSizeAreMergedTheOldestFirst) {
    const Snapshot none = created("TIMESTAMP", {});
    EXPECT_TRUE(merges_of(with(none, {.add = objects("a", 7, 1'000, kNow)})).empty());
    const Snapshot eight = with(none, {.add = objects("a", 8, 1'000, kNow)});
    EXPECT_EQ(merges_of(eight), (std::vector<std::string>{"8 from a-100"}));
    // Larger ones are not written again for some small ones.
    const Snapshot mixed = with(eight, {.add = objects("b", 7, 30U << 20U, kNow - kHour)});
    EXPECT_EQ(merges_of(mixed), (std::vector<std::string>{"8 from a-100"}));
    const Snapshot large = with(eight, {.add = objects("c", 9, 200U << 20U, kNow)});
    EXPECT_EQ(merges_of(large), (std::vector<std::string>{"8 from a-100"}));
}

TEST(Upkeep, AMergedObjectIsNotLargerThanItHasToBe) {
    const Snapshot many =
        with(created("TIMESTAMP", {}), {.add = objects("a", 20, 20U << 20U, kNow)});
    EXPECT_EQ(merges_of(many, {.merged_at_once = 4}),
              (std::vector<std::string>{"7 from a-100", "7 from a-107", "6 from a-114"}));
    EXPECT_EQ(merges_of(many, {.merged_at_once = 4, .merges_max = 1}).size(), 1U);
}

TEST(Upkeep, AQuietPartitionIsMergedAsFarAsItGoes) {
    std::vector<TableObject> two = objects("a", 2, 1'000, kNow - 2 * kDay);
    two.back().bytes = 50U << 20U;
    const Snapshot quiet = with(created("TIMESTAMP", {}), {.add = two});
    EXPECT_EQ(merges_of(quiet), (std::vector<std::string>{"2 from a-100"}));
    two.pop_back();
    EXPECT_TRUE(merges_of(with(created("TIMESTAMP", {}), {.add = two})).empty());
}

TEST(Upkeep, OnlyObjectsOfOnePartitionAreMerged) {
    std::vector<TableObject> all;
    for (const std::string day : {"2026-11-15", "2026-11-16"}) {
        for (TableObject& object : objects(day, 8, 1'000, kNow)) {
            object.partition["at"] = day;
            all.push_back(object);
        }
    }
    const Snapshot snapshot = with(created("DATE", {"at"}), {.add = all});
    const Upkeep work = upkeep(snapshot, 0, kNow, {});
    ASSERT_EQ(work.merges.size(), 2U);
    EXPECT_EQ(work.merges[1].partition.at("at"), "2026-11-16");
    for (const TableObject& object : work.merges[1].objects) {
        EXPECT_TRUE(object.key.starts_with("2026-11-16"));
    }
}

// Merging as often as there is something to merge ends, and writes each row a few times.
TEST(Upkeep, MergingEndsAndWritesARowFewTimes) {
    Snapshot snapshot = created("TIMESTAMP", {});
    std::uint64_t written = 0;
    std::uint64_t added = 0;
    for (int i = 0; i < 2'000; ++i) {
        snapshot =
            with(snapshot, {.add = objects("a" + std::to_string(i), 1, 1U << 18U, kNow - kHour)});
        added += 1U << 18U;
        for (int round = 0;; ++round) {
            const Upkeep work = upkeep(snapshot, snapshot.version(), kNow, {});
            if (work.merges.empty()) break;
            ASSERT_LT(round, 10);
            for (const Merge& merge : work.merges) {
                CommitRequest request{.operation = "OPTIMIZE", .changes_rows = false};
                TableObject whole{.key = "m" + std::to_string(written), .modified = kNow};
                for (const TableObject& part : merge.objects) {
                    request.remove.push_back(part.key);
                    whole.bytes += part.bytes;
                }
                written += whole.bytes;
                request.add.push_back(whole);
                snapshot = with(snapshot, request);
            }
        }
    }
    EXPECT_EQ(snapshot.totals().bytes, added);
    EXPECT_LE(written, 4 * added);
    EXPECT_LE(snapshot.totals().objects, 50U);
}

TEST(Upkeep, RowsThatAreTooOldGoWithTheirObject) {
    const UpkeepOptions options{.retention_days = 30};
    const auto day = [](int days) { return to_string(kNow - days * kDay); };
    std::vector<TableObject> four = objects("a", 5, 1'000, kNow);
    four[0].ranges["at"] = {.min = day(90), .max = day(31), .nulls = 0};
    four[1].ranges["at"] = {.min = day(90), .max = day(29), .nulls = 0};
    four[2].ranges["at"] = {.min = day(90), .max = day(31), .nulls = 1};  // one is as old as it
    four[3].modified = kNow - 31 * kDay;                                  // nothing is known
    const Snapshot snapshot = with(created("TIMESTAMP", {}), {.add = four});
    EXPECT_EQ(upkeep(snapshot, 0, kNow, options).expired,
              (std::vector<std::string>{"a-100", "a-103"}));
    EXPECT_TRUE(upkeep(snapshot, 0, kNow, {}).expired.empty());
}

TEST(Upkeep, ADayGoesWhenItsEndIsTooOld) {
    std::vector<TableObject> two = objects("a", 2, 1'000, kNow);
    two[0].partition["at"] = to_string(kNow - 31 * kDay).substr(0, 10);
    two[1].partition["at"] = to_string(kNow - 30 * kDay).substr(0, 10);
    const Snapshot snapshot = with(created("DATE", {"at"}), {.add = two});
    EXPECT_EQ(retention_column(snapshot.layout()), "at");
    EXPECT_EQ(upkeep(snapshot, 0, kNow, {.retention_days = 30}).expired,
              (std::vector<std::string>{"a-100"}));
}

TEST(Upkeep, AnObjectIsDeletedAnHourAfterItsRemoval) {
    Snapshot snapshot = with(created("DATE", {}), {.add = objects("a", 2, 1, kNow)});
    snapshot = with(snapshot, {.remove = {"a-100"}}, kNow - kHour - std::chrono::seconds(1));
    snapshot = with(snapshot, {.remove = {"a-101"}}, kNow - kHour + std::chrono::seconds(1));
    EXPECT_EQ(upkeep(snapshot, 0, kNow, {}).deletable, (std::vector<std::string>{"a-100"}));
}

TEST(Upkeep, ACheckpointIsDueAfterItsVersions) {
    const Snapshot snapshot = with(created("DATE", {}), {});
    EXPECT_FALSE(upkeep(snapshot, std::nullopt, kNow, {}).checkpoint_due);
    EXPECT_TRUE(upkeep(snapshot, std::nullopt, kNow, {.checkpoint_every = 2}).checkpoint_due);
    EXPECT_FALSE(upkeep(snapshot, 0, kNow, {.checkpoint_every = 2}).checkpoint_due);
}

TEST(Upkeep, OnlyFilesThatNoVersionNamesAreLeftBehind) {
    Snapshot snapshot = with(created("DATE", {}), {.add = objects("a", 2, 1, kNow)});
    snapshot = with(snapshot, {.remove = {"a-100"}}, kNow);
    std::vector<StoredTableObject> stored;
    for (const std::string key :
         {"a-100", "a-101", "old", "x/old", "_delta_log/0.json", ".tmp/x", "x/_temporary/y"}) {
        stored.push_back({.key = key, .modified = kNow - 2 * kHour});
    }
    stored.push_back({.key = "young", .modified = kNow});
    EXPECT_EQ(unreferenced(snapshot, stored, kNow, {}), (std::vector<std::string>{"old", "x/old"}));
}

TEST(Upkeep, TheLogIsCleanedUpBehindAnOldCheckpoint) {
    std::vector<StoredLogFile> files;
    for (int version = 0; version < 40; ++version) {
        const WallTime time = kNow - (40 - version) * kDay;
        files.push_back({.key = entry_key(version), .modified = time});
        if (version % 5 == 4) files.push_back({.key = checkpoint_key(version), .modified = time});
    }
    // Version 9 is 31 days old, the newest that is older than 30 and has a checkpoint.
    const auto keys = log_cleanup(files, kNow, {});
    EXPECT_EQ(keys.size(), 10U);
    EXPECT_EQ(keys.front(), checkpoint_key(4) < entry_key(0) ? checkpoint_key(4) : entry_key(0));
    EXPECT_EQ(std::count(keys.begin(), keys.end(), entry_key(8)), 1);
    EXPECT_EQ(std::count(keys.begin(), keys.end(), entry_key(9)), 0);
    EXPECT_EQ(std::count(keys.begin(), keys.end(), checkpoint_key(9)), 0);
    // Everything that is left can be read.
    std::vector<std::string> left;
    for (const StoredLogFile& file : files) {
        if (std::find(keys.begin(), keys.end(), file.key) == keys.end()) left.push_back(file.key);
    }
    for (std::int64_t version = 9; version < 40; ++version) {
        EXPECT_TRUE(plan_read(left, version)) << version;
    }
    EXPECT_TRUE(log_cleanup(files, kNow - 35 * kDay, {}).empty());
}

TEST(Upkeep, ACheckpointForgetsWhatNoReaderNeeds) {
    Snapshot snapshot = created("DATE", {});
    const auto transaction = [](const std::string& application) {
        return CommitRequest{.transaction = Transaction{.application = application, .version = 1}};
    };
    snapshot = with(snapshot, transaction(once("old")), kNow - 8 * kDay);
    snapshot = with(snapshot, transaction("query 7"), kNow - 8 * kDay);
    snapshot = with(snapshot, transaction(once("young")), kNow);
    snapshot = with(snapshot, {.add = objects("a", 2, 1, kNow)});
    snapshot = with(snapshot, {.remove = {"a-100"}}, kNow - 2 * kDay);
    snapshot = with(snapshot, {.remove = {"a-101"}}, kNow - kHour);
    CheckpointText text(snapshot, kNow, {});
    std::string all;
    for (std::string piece = text.next(); !piece.empty(); piece = text.next()) all += piece;
    EXPECT_EQ(all.find("once:old"), std::string::npos);
    EXPECT_NE(all.find("once:young"), std::string::npos);
    EXPECT_NE(all.find("query 7"), std::string::npos);
    EXPECT_EQ(all.find("a-100"), std::string::npos);
    EXPECT_NE(all.find("a-101"), std::string::npos);
}

}  // namespace
}  // namespace baton::tables
