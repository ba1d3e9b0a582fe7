#include "core/analysis/table_columns.h"

#include <gtest/gtest.h>

#include "model/table_sink.h"

namespace baton::analysis {
namespace {

Sink table(const SqlColumns& columns) {
    return sink_of({.name = "T", .location = "file:///t", .columns = columns});
}

SqlField field(const std::string& name, const std::string& type, bool nullable = true) {
    const auto parsed = table_type_of(type);
    EXPECT_TRUE(parsed) << type;
    return {.name = name, .type = *parsed, .nullable = nullable};
}

Result<Schema> fit(const SqlColumns& columns, const std::vector<Column>& given) {
    return columns_for(table(columns), Schema{.columns = given}, Position{});
}

constexpr std::array kAll = {
    DataType::int8,    DataType::int16,     DataType::int32,   DataType::int64,   DataType::uint8,
    DataType::uint16,  DataType::uint32,    DataType::uint64,  DataType::float32, DataType::float64,
    DataType::boolean, DataType::character, DataType::varsized};

// The types of streams that a type of tables takes, as their names.
std::string taken_by(const std::string& type) {
    std::string names;
    for (const DataType one : kAll) {
        if (takes(*table_type_of(type), one)) {
            names += (names.empty() ? "" : " ") + std::string(to_string(one));
        }
    }
    return names;
}

TEST(TableColumns, AColumnTakesEachTypeThatItHoldsWithoutLoss) {
    EXPECT_EQ(taken_by("TINYINT"), "INT8");
    EXPECT_EQ(taken_by("SMALLINT"), "INT8 INT16 UINT8");
    EXPECT_EQ(taken_by("INTEGER"), "INT8 INT16 INT32 UINT8 UINT16");
    EXPECT_EQ(taken_by("BIGINT"), "INT8 INT16 INT32 INT64 UINT8 UINT16 UINT32 UINT64");
    EXPECT_EQ(taken_by("DECIMAL(20,0)"), "INT8 INT16 INT32 INT64 UINT8 UINT16 UINT32 UINT64");
    EXPECT_EQ(taken_by("DECIMAL(20,1)"), "INT8 INT16 INT32 INT64 UINT8 UINT16 UINT32");
    EXPECT_EQ(taken_by("DECIMAL(5,2)"), "INT8 UINT8");
    EXPECT_EQ(taken_by("REAL"), "INT8 INT16 UINT8 FLOAT32");
    EXPECT_EQ(taken_by("DOUBLE"), "INT8 INT16 INT32 UINT8 UINT16 UINT32 FLOAT32 FLOAT64");
    EXPECT_EQ(taken_by("BOOLEAN"), "BOOLEAN");
    EXPECT_EQ(taken_by("VARCHAR"), "CHAR VARSIZED");
    for (const char* none : {"BLOB", "DATE", "TIMESTAMP", "TIMESTAMPTZ", "BIGINT[]"}) {
        EXPECT_EQ(taken_by(none), "") << none;
    }
}

TEST(TableColumns, EachTypeHasAColumnThatTakesIt) {
    for (const DataType type : kAll) EXPECT_TRUE(takes(table_type_of(type), type));
}

TEST(TableColumns, NamesAreFoundInAnyCaseAndGetThatOfTheTable) {
    const auto schema = fit({field("Id", "BIGINT", false), field("Some \"name\"", "VARCHAR")},
                            {{.name = "SOME \"NAME\"", .type = DataType::varsized},
                             {.name = "ID", .type = DataType::int64, .nullable = false}});
    ASSERT_TRUE(schema) << to_string(schema.error());
    EXPECT_EQ(schema->columns[0].name, "Some \"name\"");
    EXPECT_EQ(schema->columns[1].name, "Id");
}

TEST(TableColumns, ErrorsNameBothColumnsAndTypes) {
    const auto wrong =
        fit({field("a", "BIGINT")}, {{.name = "A", .type = DataType::varsized, .nullable = true}});
    ASSERT_FALSE(wrong);
    EXPECT_EQ(wrong.error().code, ErrorCode::type_mismatch);
    EXPECT_EQ(wrong.error().message,
              "column \"A\" VARSIZED of the query does not fit column \"a\" BIGINT of table \"T\"");
    EXPECT_EQ(wrong.error().hint, "CAST(x AS INT64) converts");
    const auto null = fit({field("a", "BIGINT", false)},
                          {{.name = "A", .type = DataType::int64, .nullable = true}});
    ASSERT_FALSE(null);
    EXPECT_EQ(null.error().code, ErrorCode::type_mismatch);
    EXPECT_EQ(null.error().message,
              "column \"A\" INT64 of the query does not fit column \"a\" BIGINT NOT NULL of table "
              "\"T\": it may be NULL");
}

TEST(TableColumns, UnknownMissingAndDoubledColumnsAreRefused) {
    const SqlColumns columns = {field("id", "BIGINT", false), field("note", "VARCHAR")};
    const Column id{.name = "ID", .type = DataType::int64, .nullable = false};
    EXPECT_TRUE(fit(columns, {id}));
    const auto unknown = fit(columns, {id, {.name = "NOTES", .type = DataType::varsized}});
    ASSERT_FALSE(unknown);
    EXPECT_EQ(unknown.error().code, ErrorCode::unknown_field);
    EXPECT_NE(unknown.error().hint.find("note"), std::string::npos) << unknown.error().hint;
    const auto twice = fit(columns, {id, {.name = "id", .type = DataType::int64}});
    ASSERT_FALSE(twice);
    EXPECT_EQ(twice.error().code, ErrorCode::schema);
    const auto missing = fit(columns, {{.name = "NOTE", .type = DataType::varsized}});
    ASSERT_FALSE(missing);
    EXPECT_EQ(missing.error().code, ErrorCode::schema);
    EXPECT_NE(missing.error().message.find("\"id\" BIGINT NOT NULL"), std::string::npos);
}

TEST(TableColumns, ATableThatIsReadOnlyIsRefused) {
    const Sink sink = sink_of({.name = "F", .type = "Files", .location = "/f", .columns = {}});
    const auto refused = columns_for(sink, Schema{}, Position{});
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, ErrorCode::not_supported);
}

}  // namespace
}  // namespace baton::analysis
