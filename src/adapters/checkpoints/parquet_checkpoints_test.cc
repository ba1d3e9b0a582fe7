#include "adapters/checkpoints/parquet_checkpoints.h"

#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>

#include "core/tables/commit_plan.h"
#include "core/tables/snapshot.h"
#include "core/tables/upkeep.h"
#include "testing/temporary_directory.h"

namespace baton::checkpoints {
namespace {

using namespace tables;

constexpr WallTime kNow(std::chrono::hours(500'000));

Snapshot table(int objects) {
    TableDefinition definition{
        .id = "0b9a7f5e-0000-4000-8000-000000000000", .name = "t", .partition_by = {"day"}};
    for (const auto& [name, type] : std::vector<std::pair<std::string, std::string>>{
             {"day", "DATE"}, {"n", "BIGINT"}, {"x", "DOUBLE"}, {"name", "VARCHAR"}}) {
        definition.columns.push_back({.name = name, .type = *table_type_of(type)});
    }
    const auto first = first_entry(definition, {.now = kNow, .engine = "t", .nonce = "n"});
    EXPECT_TRUE(first);
    SnapshotBuilder builder(*apply(Snapshot(), *first, {}));
    for (int i = 0; i < objects; ++i) {
        AddObject add{.other_tags = i % 7 == 0 ? R"({"ZCUBE_ID":"z"})" : ""};
        add.object = {.key = "day=x/a \"quote\" 'n " + std::to_string(i) + ".parquet",
                      .bytes = 10,
                      .rows = 3,
                      .checksum = "0123456789abcdef",
                      .modified = kNow};
        add.object.partition["day"] =
            i % 3 == 0 ? std::nullopt : std::optional<std::string>("2026-11-15");
        add.object.ranges["n"] = {.min = "-5", .max = "9223372036854775807", .nulls = 0};
        add.object.ranges["x"] = {.min = "0.1", .max = "Infinity"};
        add.object.ranges["name"] = {.min = "\xc3\xa4\n\\", .max = "z\xF4\x8F\xBF\xBF"};
        EXPECT_TRUE(builder.apply(std::move(add)));
    }
    EXPECT_TRUE(builder.apply(RemoveObject{.key = "gone", .removed = kNow}));
    EXPECT_TRUE(builder.apply(Transaction{.application = "q", .version = 7, .updated = kNow}));
    auto snapshot = builder.finish(5);
    EXPECT_TRUE(snapshot);
    return *std::move(snapshot);
}

TEST(ParquetCheckpoints, ACheckpointIsReadBackTheSame) {
    const testing::TemporaryDirectory folder;
    const std::string path = folder / "it's a checkpoint.parquet";
    const Snapshot before = table(5'000);
    CheckpointText text(before, kNow, {});
    ParquetCheckpoints files;
    const auto written = files.write([&] { return text.next(); }, path);
    ASSERT_TRUE(written) << written.error().message;
    EXPECT_FALSE(std::filesystem::exists(path + ".lines"));
    SnapshotBuilder builder{Snapshot()};
    const auto read = files.read(path, {}, [&](std::string_view line) -> Result<Done> {
        TRY_ASSIGN(action, read_action(line, builder.layout(), {}));
        if (!action) return Done{};
        return builder.apply(*std::move(action));
    });
    ASSERT_TRUE(read) << read.error().message;
    const auto after = builder.finish(5);
    ASSERT_TRUE(after);
    EXPECT_EQ(after->totals(), before.totals());
    EXPECT_EQ(after->metadata(), before.metadata());
    EXPECT_EQ(after->protocol(), before.protocol());
    EXPECT_EQ(after->transaction("q"), 7);
    EXPECT_EQ(after->removal_of("gone"), kNow);
    before.each([&](ObjectPlace place) {
        const auto found = after->find(before.key(place));
        ASSERT_TRUE(found) << before.key(place);
        EXPECT_EQ(after->object(*found), before.object(place));
    });
}

TEST(ParquetCheckpoints, AFileThatIsNoneIsDamage) {
    const testing::TemporaryDirectory folder;
    ParquetCheckpoints files;
    const auto none = [](std::string_view) { return Result<Done>(Done{}); };
    for (const std::string text : {"", "PAR1", "no parquet at all, but some bytes"}) {
        const std::string path = folder / "x";
        std::ofstream(path) << text;
        const auto read = files.read(path, {}, none);
        ASSERT_FALSE(read);
        EXPECT_EQ(read.error().code, ErrorCode::damaged_table);
    }
    EXPECT_FALSE(files.read(folder / "nothing", {}, none));
}

TEST(ParquetCheckpoints, ItsLimitsHold) {
    const testing::TemporaryDirectory folder;
    const std::string path = folder / "c";
    ParquetCheckpoints files;
    CheckpointText text(table(100), kNow, {});
    ASSERT_TRUE(files.write([&] { return text.next(); }, path));
    const auto none = [](std::string_view) { return Result<Done>(Done{}); };
    EXPECT_EQ(files.read(path, {.actions = 50}, none).error().code, ErrorCode::too_large);
    EXPECT_EQ(files.read(path, {.line_bytes = 50}, none).error().code, ErrorCode::too_large);
}

TEST(ParquetCheckpoints, AFailedWriteLeavesNothing) {
    const testing::TemporaryDirectory folder;
    ParquetCheckpoints files;
    bool first = true;
    const auto bad = [&] { return std::exchange(first, false) ? "no JSON\n" : std::string(); };
    const auto written = files.write(bad, folder / "c");
    ASSERT_FALSE(written);
    EXPECT_EQ(written.error().code, ErrorCode::cannot_write);
    EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
    EXPECT_FALSE(files.write(bad, folder / "no/such/folder/c"));
}

}  // namespace
}  // namespace baton::checkpoints
