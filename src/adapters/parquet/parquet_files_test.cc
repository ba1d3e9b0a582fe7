#include "adapters/parquet/parquet_files.h"

#include <cmath>
#include <filesystem>
#include <fstream>
#include <thread>

#include <gtest/gtest.h>

#include "adapters/parquet/checksums.h"
#include "adapters/parquet/duckdb_session.h"
#include "testing/temporary_directory.h"

namespace baton::parquet {
namespace {

using testing::TemporaryDirectory;
using Rows = std::vector<std::vector<Value>>;

constexpr Duration kLong = std::chrono::seconds(20);

Schema all_types() {
    Schema schema;
    for (const DataType type : all_data_types()) {
        schema.columns.push_back({std::string(to_string(type)) + " it's", type, true});
    }
    return schema;
}

Value extreme(DataType type, bool high) {
    if (is_float(type)) return high ? 1.5 : -HUGE_VAL;
    if (type == DataType::boolean) return high;
    if (type == DataType::character) return std::string(high ? "\xc3\xa4" : "");
    if (type == DataType::varsized) return std::string(high ? 100 : 3, 'x');
    const auto bits = 8 * engine::width_of(type);
    if (is_signed(type)) return high ? INT64_MAX >> (64 - bits) : INT64_MIN >> (64 - bits);
    return high ? UINT64_MAX >> (64 - bits) : std::uint64_t{0};
}

const files::AllowedFiles& any_files() {
    static const files::AllowedFiles kAll =
        *files::AllowedFiles::of({.directories = {"/"}, .never = {}});
    return kAll;
}

ParquetFiles any_tables() {
    return ParquetFiles(any_files());
}

engine::Batch batch_of(const Schema& schema, const Rows& rows) {
    engine::Batch batch{.rows = rows.size(), .columns = {}};
    for (std::size_t i = 0; i < schema.columns.size(); ++i) {
        std::vector<Value> values;
        for (const auto& row : rows) values.push_back(row[i]);
        batch.columns.push_back(engine::column_of(schema.columns[i].type, values));
    }
    return batch;
}

void write(const std::string& path, const Schema& schema, const std::vector<Rows>& batches) {
    auto sink = any_tables().write(path, schema);
    ASSERT_TRUE(sink.has_value()) << to_string(sink.error());
    for (const Rows& rows : batches) {
        const auto written = (*sink)->write(batch_of(schema, rows));
        ASSERT_TRUE(written.has_value()) << to_string(written.error());
    }
    const auto finished = (*sink)->finish();
    ASSERT_TRUE(finished.has_value()) << to_string(finished.error());
}

struct Outcome {
    Rows rows;
    std::optional<Error> error;
};

Outcome read(const std::string& path, const Schema& schema, std::vector<std::size_t> wanted = {}) {
    for (std::size_t i = 0; wanted.size() < schema.columns.size() && i < schema.columns.size();
         ++i) {
        wanted.push_back(i);
    }
    Outcome outcome;
    auto source = any_tables().read(path, schema, wanted);
    if (!source) return {.rows = {}, .error = source.error()};
    engine::Batch batch;
    while (true) {
        const auto pulled = (*source)->pull(batch, kLong);
        if (!pulled) outcome.error = pulled.error();
        if (!pulled || *pulled == engine::Pull::end) return outcome;
        for (std::size_t row = 0; row < batch.rows; ++row) {
            std::vector<Value> values;
            for (const engine::ColumnVector& c : batch.columns)
                values.push_back(engine::value_at(c, row));
            outcome.rows.push_back(std::move(values));
        }
    }
}

TEST(ParquetFiles, WhatIsWrittenIsReadBack) {
    const TemporaryDirectory directory;
    const Schema schema = all_types();
    Rows rows(3);
    for (const Column& column : schema.columns) {
        rows[0].push_back(extreme(column.type, false));
        rows[1].push_back(Value());
        rows[2].push_back(extreme(column.type, true));
    }
    Rows many;
    for (int i = 0; i < 5000; ++i) many.push_back(rows[static_cast<std::size_t>(i % 3)]);
    const std::string path = directory / "it's a [file].parquet";
    const std::string plain = directory / "it's.parquet";
    write(plain, schema, {rows, {}, many});
    const Outcome back = read(plain, schema);
    ASSERT_FALSE(back.error) << to_string(*back.error);
    ASSERT_EQ(back.rows.size(), 5003);
    for (std::size_t i = 0; i < 3; ++i) EXPECT_EQ(back.rows[i], rows[i]);
    EXPECT_EQ(back.rows.back(), many.back());
    EXPECT_EQ(read(path, schema).error->code, ErrorCode::cannot_open);
}

TEST(ParquetFiles, AFileIsThereWhenItIsComplete) {
    const TemporaryDirectory directory;
    const Schema schema = {{{"N", DataType::int32, false}}};
    {
        auto sink = any_tables().write(directory / "a", schema);
        ASSERT_TRUE((*sink)->write(batch_of(schema, {{std::int64_t{1}}})).has_value());
        EXPECT_FALSE(std::filesystem::exists(directory / "a"));
    }
    EXPECT_TRUE(std::filesystem::is_empty(directory.path()));
    write(directory / "a", schema, {{{std::int64_t{1}}}});
    write(directory / "a", schema, {{{std::int64_t{2}}}});
    EXPECT_EQ(read(directory / "a", schema).rows, (Rows{{std::int64_t{2}}}));
    write(directory / "empty", schema, {});
    const Outcome empty = read(directory / "empty", schema);
    EXPECT_FALSE(empty.error);
    EXPECT_TRUE(empty.rows.empty());
}

TEST(ParquetFiles, ADamagedFileIsFoundByItsChecksum) {
    const TemporaryDirectory directory;
    const Schema schema = {{{"N", DataType::int64, false}}};
    const std::string path = directory / "a.parquet";
    write(path, schema, {{{std::int64_t{123456789}}}});
    {
        std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
        file.seekg(20);
        const int byte = file.get();
        file.seekp(20);
        file.put(static_cast<char>(byte ^ 1));
    }
    EXPECT_EQ(read(path, schema).error->code, ErrorCode::damaged_file);
    std::filesystem::remove(checksum_path(path));
    EXPECT_TRUE(!read(path, schema).error ||
                read(path, schema).error->code != ErrorCode::damaged_file);
}

TEST(ParquetFiles, ColumnsAreFoundByNameAndConvertedWhereTheyFit) {
    const TemporaryDirectory directory;
    const std::string path = directory / "a.parquet";
    write(path, {{{"small", DataType::uint8, true}, {"t", DataType::varsized, true}}},
          {{{std::uint64_t{7}, std::string("x")}, {std::uint64_t{200}, Value()}}});
    EXPECT_EQ(read(path, {{{"SMALL", DataType::int64, false}}}).rows,
              (Rows{{std::int64_t{7}}, {std::int64_t{200}}}));
    EXPECT_EQ(read(path, {{{"T", DataType::varsized, true}, {"SMALL", DataType::uint8, true}}}, {0})
                  .rows.size(),
              2);
    const auto code = [&](const Schema& schema) { return read(path, schema).error->code; };
    EXPECT_EQ(code({{{"SMALL", DataType::int8, true}}}), ErrorCode::cannot_format);
    EXPECT_EQ(code({{{"T", DataType::varsized, false}}}), ErrorCode::cannot_format);
    EXPECT_EQ(code({{{"T", DataType::int64, true}}}), ErrorCode::schema);
    const Outcome missing = read(path, {{{"SMAL", DataType::int64, true}}});
    EXPECT_EQ(missing.error->code, ErrorCode::schema);
    EXPECT_EQ(missing.error->hint, "did you mean \"small\"?");
}

TEST(ParquetFiles, WhatIsNotThereOrNoParquetIsRefused) {
    const TemporaryDirectory directory;
    const Schema schema = {{{"N", DataType::int64, false}}};
    EXPECT_EQ(read(directory / "none", schema).error->code, ErrorCode::cannot_open);
    std::ofstream(directory / "text") << "no parquet at all";
    EXPECT_EQ(read(directory / "text", schema).error->code, ErrorCode::cannot_read);
    EXPECT_EQ(any_tables().write(directory / "no/such/a", schema).error().code,
              ErrorCode::cannot_open);
}

TEST(ParquetFiles, AWriteThatWaitsCanBeInterrupted) {
    const TemporaryDirectory directory;
    const Schema schema = {{{"N", DataType::int64, false}}};
    auto sink = any_tables().write(directory / "a", schema);
    ASSERT_TRUE(sink.has_value());
    (*sink)->interrupt();
    EXPECT_EQ((*sink)->write(batch_of(schema, {{std::int64_t{1}}})).error().code,
              ErrorCode::cancelled);
}

TEST(DuckDbSession, TouchesNoOtherFile) {
    const TemporaryDirectory directory;
    std::ofstream(directory / "secret.csv") << "a,b\n1,2\n";
    const auto file = any_files().write(directory / "a.parquet");
    ASSERT_TRUE(file.has_value());
    auto session = DuckDbSession::open(file->file, directory / "a.parquet");
    ASSERT_TRUE(session.has_value());
    const auto refused = [&](const std::string& sql) {
        return !session->run(sql, ErrorCode::cannot_read, "x").has_value();
    };
    EXPECT_TRUE(refused("SELECT * FROM read_csv(" + sql_literal(directory / "secret.csv") + ")"));
    EXPECT_TRUE(refused("COPY (SELECT 1) TO " + sql_literal(directory / "b.csv")));
    EXPECT_TRUE(refused("SET threads = 4"));
    EXPECT_TRUE(refused("LOAD httpfs"));
    EXPECT_FALSE(refused("SELECT 1"));
}

}  // namespace
}  // namespace baton::parquet
