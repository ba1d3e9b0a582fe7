#include "adapters/duckdb/checkpoints.h"

#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>

#include "testing/temporary_directory.h"

namespace baton::duckdb_engine {

namespace {

const std::vector<std::string> kLines = {
    R"({"protocol":{"minReaderVersion":1,"minWriterVersion":2}})",
    R"({"metaData":{"id":"x","format":{"provider":"parquet","options":{}},"schemaString":"{}",)"
    R"("partitionColumns":["day"],"createdTime":5,"configuration":{"k":"v"}}})",
    R"({"txn":{"appId":"app","version":7}})",
    R"({"add":{"path":"p/1","partitionValues":{"day":null},"size":10,"modificationTime":3,)"
    R"("dataChange":true,"stats":"{\"numRecords\":1}","tags":{"xxh3":"00"}}})",
    R"({"add":{"path":"p/2","partitionValues":{"day":"2020-01-01"},"size":9223372036854775807,)"
    R"("modificationTime":3,"dataChange":false}})",
    R"({"remove":{"path":"p/3","deletionTimestamp":4,"dataChange":true}})",
};

Result<std::vector<std::string>> lines_of(const std::string& path,
                                          const CheckpointFiles::Limits& limits = {}) {
    std::vector<std::string> lines;
    TRY(make_checkpoint_files()->read(path, limits, [&](std::string_view line) -> Result<Done> {
        lines.emplace_back(line);
        return Done{};
    }));
    return lines;
}

class Checkpoints : public ::testing::Test {
protected:
    Result<Done> write(const std::vector<std::string>& lines) {
        std::size_t next = 0;
        return make_checkpoint_files()->write(
            [&] { return next == lines.size() ? std::string() : lines[next++] + "\n"; }, path_);
    }

    testing::TemporaryDirectory folder_;
    std::string path_ = folder_ / "it's 1.checkpoint.parquet";
};

}  // namespace

TEST_F(Checkpoints, TheLinesComeBack) {
    // Out of order: protocol and metaData come first all the same.
    const auto written = write({kLines[3], kLines[2], kLines[5], kLines[1], kLines[4], kLines[0]});
    ASSERT_TRUE(written) << to_string(written.error());
    const auto lines = lines_of(path_);
    ASSERT_TRUE(lines) << to_string(lines.error());
    EXPECT_EQ(*lines, kLines);
    EXPECT_FALSE(std::filesystem::exists(path_ + ".lines"));
}

TEST_F(Checkpoints, LimitsAndTheCallerEndTheReading) {
    ASSERT_TRUE(write(kLines));
    EXPECT_EQ(lines_of(path_, {.actions = 3}).error().code, ErrorCode::too_large);
    const auto outcome = make_checkpoint_files()->read(path_, {}, [](std::string_view) {
        return Result<Done>(Error{.code = ErrorCode::cancelled});
    });
    EXPECT_EQ(outcome.error().code, ErrorCode::cancelled);
}

TEST_F(Checkpoints, AFileThatIsNoneIsDamaged) {
    std::ofstream(path_) << "PAR1 no checkpoint at all PAR1";
    EXPECT_EQ(lines_of(path_).error().code, ErrorCode::damaged_table);
    EXPECT_EQ(lines_of(folder_ / "gone").error().code, ErrorCode::damaged_table);
    const auto failed = write({"no JSON"});
    ASSERT_FALSE(failed);
    EXPECT_EQ(failed.error().code, ErrorCode::cannot_write);
}

}  // namespace baton::duckdb_engine
