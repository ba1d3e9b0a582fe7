#include "engine/arrow/arrow_ipc.h"

#include <fstream>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "base/utf8.h"

namespace baton::arrow {
namespace {

Schema schema_of_all() {
    Schema schema;
    for (const DataType type : all_data_types()) {
        schema.columns.push_back({.name = std::string(to_string(type)), .type = type});
    }
    return schema;
}

Value some_value(DataType type, int seed) {
    if (is_text(type)) return std::string(static_cast<std::size_t>(seed % 20), 'a') + "é";
    if (type == DataType::boolean) return seed % 3 == 0;
    if (is_float(type)) return seed / 4.0;
    if (is_signed(type)) return std::int64_t{-(seed % 100)};
    return static_cast<std::uint64_t>(seed % 100);
}

engine::Batch some_batch(const Schema& schema, std::size_t rows, int nulls_every) {
    engine::Batch batch{.rows = rows, .columns = {}};
    int seed = 0;
    for (const Column& column : schema.columns) {
        std::vector<Value> values;
        for (std::size_t row = 0; row < rows; ++row) {
            const bool is_null = nulls_every != 0 && ++seed % nulls_every == 0;
            values.push_back(is_null ? Value() : some_value(column.type, ++seed));
        }
        batch.columns.push_back(engine::column_of(column.type, values));
    }
    return batch;
}

void expect_equal(const engine::Batch& a, const engine::Batch& b) {
    ASSERT_EQ(a.rows, b.rows);
    ASSERT_EQ(a.columns.size(), b.columns.size());
    for (std::size_t i = 0; i < a.columns.size(); ++i) {
        ASSERT_EQ(a.columns[i].type(), b.columns[i].type());
        for (std::size_t row = 0; row < a.rows; ++row) {
            ASSERT_EQ(engine::value_at(a.columns[i], row), engine::value_at(b.columns[i], row))
                << i << " " << row;
        }
    }
}

ArrowBytes shared(std::string bytes) {
    return std::make_shared<const std::string>(std::move(bytes));
}

TEST(ArrowIpc, EveryTypeIsReadBackAsItWasWritten) {
    const Schema schema = schema_of_all();
    for (const std::size_t rows : {0U, 1U, 7U, 8U, 9U, 1000U}) {
        for (const int nulls_every : {0, 1, 3}) {
            const engine::Batch batch = some_batch(schema, rows, nulls_every);
            const auto bytes = write_arrow_batch(schema, batch);
            ASSERT_TRUE(bytes);
            EXPECT_EQ(bytes->size() % 8, 0U);
            const auto read = read_arrow_batch(schema, shared(*bytes));
            ASSERT_TRUE(read) << to_string(read.error());
            expect_equal(*read, batch);
        }
    }
}

TEST(ArrowIpc, AStreamHasASchemaBatchesAndAnEnd) {
    Schema schema = schema_of_all();
    std::string bytes = write_arrow_schema(schema);
    for (const std::size_t rows : {3U, 0U, 20U}) {
        bytes += *write_arrow_batch(schema, some_batch(schema, rows, 4));
    }
    bytes += arrow_end();
    auto reader = ArrowReader::open(shared(bytes));
    ASSERT_TRUE(reader);
    for (Column& column : schema.columns) {
        if (is_text(column.type)) column.type = DataType::varsized;
    }
    EXPECT_EQ(reader->schema(), schema);
    for (const std::size_t rows : {3U, 0U, 20U}) {
        const auto batch = reader->next();
        ASSERT_TRUE(batch && *batch);
        EXPECT_EQ((*batch)->rows, rows);
    }
    const auto end = reader->next();
    ASSERT_TRUE(end);
    EXPECT_FALSE(*end);
}

TEST(ArrowIpc, NumbersWithoutNullAndTextsAreNotCopied) {
    const Schema schema{
        {{.name = "N", .type = DataType::int64}, {.name = "T", .type = DataType::varsized}}};
    const auto bytes = shared(*write_arrow_batch(schema, some_batch(schema, 100, 0)));
    const auto batch = read_arrow_batch(schema, bytes);
    ASSERT_TRUE(batch);
    const auto within = [&](const void* pointer) {
        return pointer >= bytes->data() && pointer < bytes->data() + bytes->size();
    };
    EXPECT_TRUE(within(batch->columns[0].data<std::int64_t>()));
    EXPECT_TRUE(within(batch->columns[1].texts()[50].data()));
}

TEST(ArrowIpc, ABatchWithoutColumnsHasItsRows) {
    const Schema none;
    const auto read = read_arrow_batch(
        none, shared(*write_arrow_batch(none, engine::Batch{.rows = 17, .columns = {}})));
    ASSERT_TRUE(read);
    EXPECT_EQ(read->rows, 17U);
}

TEST(ArrowIpc, WhatStandsWhereThereIsNullIsNothing) {
    const Schema schema{{{.name = "N", .type = DataType::int64}}};
    std::string bytes = *write_arrow_batch(schema, some_batch(schema, 8, 2));
    for (std::size_t i = bytes.size() - 64; i < bytes.size(); ++i) bytes[i] = 'x';  // the values
    const auto read = read_arrow_batch(schema, shared(bytes));
    ASSERT_TRUE(read);
    for (std::size_t row = 0; row < 8; ++row) {
        const bool is_zero = read->columns[0].data<std::int64_t>()[row] == 0;
        EXPECT_EQ(is_zero, read->columns[0].is_null(row)) << row;
    }
}

TEST(ArrowIpc, TextThatIsNotUtf8IsRefused) {
    const Schema schema{{{.name = "T", .type = DataType::varsized}}};
    const std::vector<Value> values = {std::string("aé"), std::string("bb")};
    const engine::Batch batch{.rows = 2,
                              .columns = {engine::column_of(DataType::varsized, values)}};
    const std::string good = *write_arrow_batch(schema, batch);
    const std::size_t at = good.rfind("a\xc3\xa9");
    ASSERT_NE(at, std::string::npos);
    std::string bad = good;
    bad[at] = '\xff';
    EXPECT_FALSE(read_arrow_batch(schema, shared(bad)));
    // The first text ends within a character, and the second begins there.
    bad = good;
    const std::size_t offsets = at - 16;
    bad[offsets + 4] = 2;
    const auto refused = read_arrow_batch(schema, shared(bad));
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().message, "cannot read Arrow data: a character is cut in two");
}

TEST(ArrowIpc, AnotherSchemaIsRefused) {
    const Schema schema{{{.name = "N", .type = DataType::int64}}};
    const auto bytes = shared(*write_arrow_batch(schema, some_batch(schema, 8, 0)));
    EXPECT_FALSE(read_arrow_batch(schema_of_all(), bytes));
    EXPECT_FALSE(read_arrow_batch(Schema{{{.name = "T", .type = DataType::varsized}}}, bytes));
    EXPECT_FALSE(read_arrow_batch(schema, shared(write_arrow_schema(schema))));
    EXPECT_FALSE(read_arrow_batch(schema, shared(*bytes + std::string(8, '\0'))));
    EXPECT_FALSE(ArrowReader::open(bytes));
}

// Cut anywhere, or with any byte changed: an answer, and if it is a batch every cell can be read.
RC_GTEST_PROP(ArrowIpcProperty, DamagedBytesAreAnswered, ()) {
    const Schema schema = schema_of_all();
    std::string bytes = write_arrow_schema(schema);
    bytes +=
        *write_arrow_batch(schema, some_batch(schema, *rc::gen::inRange<std::size_t>(0, 40), 3));
    bytes.resize(*rc::gen::inRange<std::size_t>(0, bytes.size() + 1));
    const int changes = *rc::gen::inRange(0, 4);
    for (int i = 0; i < changes && !bytes.empty(); ++i) {
        bytes[*rc::gen::inRange<std::size_t>(0, bytes.size())] = *rc::gen::arbitrary<char>();
    }
    auto reader = ArrowReader::open(shared(bytes));
    if (!reader) return;
    while (true) {
        const auto batch = reader->next();
        if (!batch || !*batch) return;
        for (const engine::ColumnVector& column : (*batch)->columns) {
            for (std::size_t row = 0; row < (*batch)->rows; ++row) {
                const Value value = engine::value_at(column, row);
                if (const auto* text = std::get_if<std::string>(&value))
                    RC_ASSERT(is_valid_utf8(*text));
            }
        }
    }
}

// Bytes that another implementation of Arrow has read to the expected cells (see the directory).
TEST(ArrowIpc, TheBytesAreThoseThatOthersCanRead) {
    const Schema schema = schema_of_all();
    std::string bytes = write_arrow_schema(schema);
    bytes += *write_arrow_batch(schema, some_batch(schema, 11, 3));
    bytes += arrow_end();
    std::ifstream in(std::string(BATON_TESTDATA) + "/all_types.arrow", std::ios::binary);
    const std::string golden((std::istreambuf_iterator<char>(in)), {});
    EXPECT_TRUE(bytes == golden) << "write it with ARROW_GOLDEN=file and have it read again";
    if (const char* path = std::getenv("ARROW_GOLDEN")) {
        std::ofstream(path, std::ios::binary) << bytes;
    }
}

TEST(Utf8, OnlyWholeCharactersAreText) {
    EXPECT_TRUE(is_valid_utf8(""));
    EXPECT_TRUE(is_valid_utf8("plain, and more than eight bytes of it"));
    EXPECT_TRUE(is_valid_utf8("gr\xc3\xbcn \xe2\x82\xac \xf0\x9f\x98\x80"));
    for (const std::string bad : {"\x80", "\xc3", "\xc0\xaf", "\xe0\x80\xaf", "\xed\xa0\x80",
                                  "\xf4\x90\x80\x80", "\xf8\x88\x80\x80", "12345678\xff"}) {
        EXPECT_FALSE(is_valid_utf8(bad)) << bad;
    }
}

}  // namespace
}  // namespace baton::arrow
