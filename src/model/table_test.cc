#include "model/table.h"

#include <gtest/gtest.h>

namespace baton {
namespace {

// The type as it is printed, or the error.
std::string read(const std::string& text) {
    const Result<SqlType> type = table_type_of(text);
    if (type) return to_string(*type);
    EXPECT_EQ(type.error().code, ErrorCode::type_mismatch);
    return type.error().message +
           (type.error().hint.empty() ? std::string() : "; " + type.error().hint);
}

TEST(TableType, HasItsUsualNamesInAnyCase) {
    for (const auto& [names, printed] :
         std::vector<std::pair<std::vector<std::string>, std::string>>{
             {{"bool", "BOOLEAN"}, "BOOLEAN"},
             {{"TINYINT", "int1"}, "TINYINT"},
             {{"INT2", "smallint"}, "SMALLINT"},
             {{"int", "INTEGER", "INT4"}, "INTEGER"},
             {{"INT8", "bigint"}, "BIGINT"},
             {{"REAL", "float4", "FLOAT(24)"}, "REAL"},
             {{"FLOAT", "double", "Double  Precision", "FLOAT8", "FLOAT(53)"}, "DOUBLE"},
             {{"NUMERIC(10,2)", "decimal ( 10 , 2 )", "DEC(10,2)"}, "DECIMAL(10,2)"},
             {{"NUMERIC(5)"}, "DECIMAL(5,0)"},
             {{"NUMERIC"}, "DECIMAL(18,3)"},
             {{"TEXT", "varchar", "STRING", "char", "CHARACTER VARYING"}, "VARCHAR"},
             {{"BYTEA", "blob"}, "BLOB"},
             {{"date"}, "DATE"},
             {{"TIMESTAMP", "timestamp without time zone", "TIMESTAMP(6)"}, "TIMESTAMP"},
             {{"TIMESTAMPTZ", "TIMESTAMP WITH TIME ZONE"}, "TIMESTAMPTZ"},
             {{" int [ ] "}, "INTEGER[]"},
             {{"NUMERIC(5)[][]"}, "DECIMAL(5,0)[][]"},
             {{"struct(a INT, \"B \"\"c\" DATE[])"}, "STRUCT(a INTEGER, \"B \"\"c\" DATE[])"},
         }) {
        for (const std::string& name : names) EXPECT_EQ(read(name), printed) << name;
    }
}

TEST(TableType, PrintedIsReadBackTheSame) {
    const std::string text =
        "STRUCT(a DECIMAL(38,38), b STRUCT(\"select me\" TIMESTAMPTZ, c BLOB[])[], d DOUBLE)[]";
    EXPECT_EQ(read(text), text);
}

TEST(TableType, ALengthThatIsNotKeptIsRefused) {
    EXPECT_EQ(read("VARCHAR(10)"), "tables keep no length of \"VARCHAR\"; use VARCHAR");
    EXPECT_EQ(read("CHAR(3)"), "tables keep no length of \"CHAR\"; use VARCHAR");
    EXPECT_EQ(read("TIMESTAMP(3)"), "timestamps of tables have microseconds; use TIMESTAMP");
    EXPECT_EQ(read("INT[3]"), "lists of tables have any length; use INTEGER[]");
}

TEST(TableType, AnUnknownNameIsRefusedWithAWayOut) {
    EXPECT_EQ(read("VARCHR"), "unknown type \"VARCHR\"; did you mean \"VARCHAR\"?");
    EXPECT_EQ(read("UINT64"), "\"UINT64\" is not a type of tables; use DECIMAL(20,0)");
    EXPECT_EQ(read("int64"), "\"int64\" is not a type of tables; use BIGINT");
    EXPECT_EQ(read("JSON"), "\"JSON\" is not a type of tables; use VARCHAR");
    EXPECT_NE(read("MAP(INT, INT)").find("tables have BOOLEAN"), std::string::npos);
}

TEST(TableType, WhatIsNoTypeIsRefused) {
    for (const std::string text : {"",
                                   "  ",
                                   "5",
                                   "INT INT",
                                   "INT)",
                                   "DECIMAL(0)",
                                   "DECIMAL(39)",
                                   "DECIMAL(5,6)",
                                   "DECIMAL(",
                                   "DECIMAL()",
                                   "DECIMAL(-1)",
                                   "DECIMAL(99999999999)",
                                   "FLOAT(0)",
                                   "FLOAT(54)",
                                   "STRUCT",
                                   "STRUCT()",
                                   "STRUCT(a)",
                                   "STRUCT(a INT",
                                   "STRUCT(a INT, A INT)",
                                   "STRUCT(\"\" INT)",
                                   "STRUCT(\"a INT)",
                                   "INT[",
                                   "INT(4)",
                                   "DATE(6)"}) {
        EXPECT_FALSE(table_type_of(text)) << text;
    }
}

TEST(TableType, IsBoundedInDepthAndLength) {
    std::string lists = "INT";
    std::string structs = "INT";
    for (int i = 0; i < 100'000; ++i) lists += "[]";
    for (int i = 0; i < 100; ++i) structs = "STRUCT(a " + structs + ")";
    EXPECT_EQ(read(lists), "the type is too long");
    EXPECT_EQ(read(structs), "a type is nested too deep");
    EXPECT_EQ(read(lists.substr(0, 3 + 2 * 15)), "INTEGER" + lists.substr(3, 2 * 15));
    EXPECT_EQ(read(lists.substr(0, 3 + 2 * 16)), "a type is nested too deep");
}

TEST(TableType, TypesOfAnswersArePrinted) {
    using Kind = SqlType::Kind;
    EXPECT_EQ(to_string(SqlType{.kind = Kind::ubigint}), "UBIGINT");
    EXPECT_EQ(to_string(SqlType{.kind = Kind::interval}), "INTERVAL");
    EXPECT_EQ(to_string(SqlType{
                  .kind = Kind::map,
                  .parts = {{.type = {.kind = Kind::varchar}}, {.type = {.kind = Kind::integer}}}}),
              "MAP(VARCHAR, INTEGER)");
    for (unsigned kind = 0; kind <= static_cast<unsigned>(Kind::other); ++kind) {
        EXPECT_FALSE(to_string(SqlType{.kind = static_cast<Kind>(kind)}).empty()) << kind;
    }
}

TEST(TableType, TakesEveryValueOfAStreamsColumn) {
    const std::vector<std::pair<DataType, std::string>> cases = {
        {DataType::int8, "TINYINT"},     {DataType::int16, "SMALLINT"},
        {DataType::int32, "INTEGER"},    {DataType::int64, "BIGINT"},
        {DataType::uint8, "SMALLINT"},   {DataType::uint16, "INTEGER"},
        {DataType::uint32, "BIGINT"},    {DataType::uint64, "DECIMAL(20,0)"},
        {DataType::float32, "REAL"},     {DataType::float64, "DOUBLE"},
        {DataType::boolean, "BOOLEAN"},  {DataType::character, "VARCHAR"},
        {DataType::varsized, "VARCHAR"},
    };
    EXPECT_EQ(cases.size(), all_data_types().size());
    for (const auto& [type, printed] : cases) {
        EXPECT_EQ(to_string(table_type_of(type)), printed);
    }
}

}  // namespace
}  // namespace baton
