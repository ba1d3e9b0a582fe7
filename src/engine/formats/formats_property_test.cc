// Laws of formats over drawn tables: what is written can be read, wherever the parts end.
#include <cmath>

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include "engine/formats/byte_index.h"
#include "engine/formats/decoding_test.h"
#include "engine/formats/encoder.h"

namespace baton::formats {
namespace {

using testing::Decoded;
using Rows = std::vector<std::vector<Value>>;

struct Table {
    Schema schema;
    Rows rows;
};

std::string drawn_text(std::size_t most) {
    static const std::vector<std::string> kParts = {
        "a", "B", "7",  " ",  ",",  "\"", "\n", "\r",   "::",  "\\", "\xc3\xa4", "\xf0\x9f\x98\x80",
        "/", ":", "\t", "{}", "xy", "'",  "0",  "NULL", "\x01"};
    std::string text;
    const auto count = *rc::gen::inRange<std::size_t>(0, most + 1);
    for (std::size_t i = 0; i < count; ++i) text += *rc::gen::elementOf(kParts);
    return text;
}

// Numbers with six decimals at most keep their value in a CSV.
Value drawn_value(DataType type) {
    switch (type) {
        case DataType::int8:
            return std::int64_t{*rc::gen::arbitrary<std::int8_t>()};
        case DataType::int16:
            return std::int64_t{*rc::gen::arbitrary<std::int16_t>()};
        case DataType::int32:
            return std::int64_t{*rc::gen::arbitrary<std::int32_t>()};
        case DataType::int64:
            return *rc::gen::element(std::int64_t{INT64_MIN}, std::int64_t{INT64_MAX},
                                     *rc::gen::arbitrary<std::int64_t>());
        case DataType::uint8:
            return std::uint64_t{*rc::gen::arbitrary<std::uint8_t>()};
        case DataType::uint16:
            return std::uint64_t{*rc::gen::arbitrary<std::uint16_t>()};
        case DataType::uint32:
            return std::uint64_t{*rc::gen::arbitrary<std::uint32_t>()};
        case DataType::uint64:
            return *rc::gen::element(std::uint64_t{UINT64_MAX},
                                     *rc::gen::arbitrary<std::uint64_t>());
        case DataType::float32:
            return static_cast<double>(static_cast<float>(*rc::gen::inRange(-1000, 1000)) / 8.0F);
        case DataType::float64:
            return static_cast<double>(
                       *rc::gen::inRange<std::int64_t>(-1'000'000'000'000, 1'000'000'000'000)) /
                   1e6;
        case DataType::boolean:
            return *rc::gen::arbitrary<bool>();
        case DataType::character:
            return *rc::gen::element<std::string>("a", ",", "\"", "\xc3\xa4", "\n");
        case DataType::varsized:
            return drawn_text(12);
    }
    return {};
}

// A NULL text cannot be told from the word in a CSV: there text is NOT NULL.
Table drawn_table(bool null_texts) {
    Table table;
    const auto columns = *rc::gen::inRange<std::size_t>(1, 6);
    for (std::size_t i = 0; i < columns; ++i) {
        const DataType type = *rc::gen::elementOf(
            std::vector<DataType>(all_data_types().begin(), all_data_types().end()));
        const bool nullable = (null_texts || !is_text(type)) && *rc::gen::arbitrary<bool>();
        table.schema.columns.push_back({"C" + std::to_string(i), type, nullable});
    }
    const auto rows = *rc::gen::inRange<std::size_t>(0, 20);
    for (std::size_t i = 0; i < rows; ++i) {
        std::vector<Value> row;
        for (const Column& column : table.schema.columns) {
            const bool null = column.nullable && *rc::gen::inRange(0, 4) == 0;
            row.push_back(null ? Value() : drawn_value(column.type));
        }
        table.rows.push_back(std::move(row));
    }
    return table;
}

engine::Batch batch_of(const Table& table) {
    engine::Batch batch{.rows = table.rows.size(), .columns = {}};
    for (std::size_t i = 0; i < table.schema.columns.size(); ++i) {
        std::vector<Value> values;
        for (const auto& row : table.rows) values.push_back(row[i]);
        batch.columns.push_back(engine::column_of(table.schema.columns[i].type, values));
    }
    return batch;
}

Decoded there_and_back(const Table& table, const Config& format) {
    std::string text;
    (*make_encoder(format, table.schema))->encode(batch_of(table), text);
    const auto part = *rc::gen::inRange<std::size_t>(1, text.size() + 2);
    const auto block = *rc::gen::inRange<std::size_t>(1, 200);
    return testing::decode(
        {.format = format, .schema = table.schema, .block_bytes = block, .part = part}, text);
}

TEST(Formats, WhatIsWrittenAsCsvIsReadBack) {
    EXPECT_TRUE(rc::check([] {
        const Table table = drawn_table(false);
        const Config format = {
            {"QUOTE_STRINGS", true},
            {"FIELD_DELIMITER", *rc::gen::element<std::string>(",", ";", "::", "|->")},
            {"TUPLE_DELIMITER", *rc::gen::element<std::string>("\n", "\r\n", "#", "END")}};
        const Decoded decoded = there_and_back(table, format);
        RC_ASSERT(!decoded.error);
        RC_ASSERT(decoded.rows == table.rows);
    }));
}

TEST(Formats, WhatIsWrittenAsJsonIsReadBack) {
    EXPECT_TRUE(rc::check([] {
        const Table table = drawn_table(true);
        const Decoded decoded = there_and_back(table, {{"TYPE", std::string("JSON")}});
        RC_ASSERT(!decoded.error);
        RC_ASSERT(decoded.rows == table.rows);
    }));
}

// Any bytes: the same rows, the same count and the same error, however they arrive.
TEST(Formats, BytesMeanTheSameWhereverPartsEnd) {
    EXPECT_TRUE(rc::check([] {
        Table table = drawn_table(true);
        std::string bytes = drawn_text(60);
        if (*rc::gen::arbitrary<bool>()) bytes += "\xff" + drawn_text(20);
        const Config format = {{"TYPE", *rc::gen::element<std::string>("CSV", "JSON")},
                               {"ALLOW_COMMAS_IN_STRINGS", *rc::gen::arbitrary<bool>()},
                               {"HEADER", *rc::gen::arbitrary<bool>()},
                               {"ON_MALFORMED", *rc::gen::element<std::string>("FAIL", "SKIP")},
                               {"FIELD_DELIMITER", *rc::gen::element<std::string>(",", "::")}};
        const Decoded whole = testing::decode({.format = format, .schema = table.schema}, bytes);
        const auto part = *rc::gen::inRange<std::size_t>(1, bytes.size() + 2);
        const auto block = *rc::gen::inRange<std::size_t>(1, 70);
        const Decoded parts = testing::decode(
            {.format = format, .schema = table.schema, .block_bytes = block, .part = part}, bytes);
        RC_ASSERT(parts.rows == whole.rows);
        RC_ASSERT(parts.skipped == whole.skipped);
        RC_ASSERT(parts.error == whole.error);
    }));
}

TEST(ByteIndex, VectorsFindWhatBytesFind) {
    EXPECT_TRUE(rc::check([] {
        std::string text = drawn_text(300);
        const std::size_t size = text.size();
        text.append(64, ',');
        const auto from = *rc::gen::inRange<std::size_t>(0, size + 1);
        const Needles needles = {',', '\n', *rc::gen::element('"', ',')};
        std::vector<std::uint32_t> quick(size + 8);
        std::vector<std::uint32_t> plain(size + 8);
        quick.resize(index_bytes(text.data(), from, size, needles, quick.data()));
        plain.resize(index_bytes_plainly(text.data(), from, size, needles, plain.data()));
        RC_ASSERT(quick == plain);
    }));
}

}  // namespace
}  // namespace baton::formats
