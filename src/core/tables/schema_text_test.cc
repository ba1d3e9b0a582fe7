#include "core/tables/schema_text.h"

#include <gtest/gtest.h>

namespace baton::tables {
namespace {

TEST(SchemaText, ColumnsAreReadBackTheSame) {
    SqlColumns columns;
    for (const std::string text :
         {"BOOLEAN", "TINYINT", "SMALLINT", "INTEGER", "BIGINT", "REAL", "DOUBLE", "DECIMAL(38,7)",
          "VARCHAR", "BLOB", "DATE", "TIMESTAMP", "TIMESTAMPTZ", "TIMESTAMP[]", "TIMESTAMPTZ[][]",
          "STRUCT(a INTEGER, \"B c\" STRUCT(d TIMESTAMP)[])[]"}) {
        const auto type = table_type_of(text);
        ASSERT_TRUE(type) << text;
        columns.push_back(
            {.name = "c " + text, .type = *type, .nullable = columns.size() % 2 == 0});
    }
    const auto read = columns_of(schema_text(columns));
    ASSERT_TRUE(read);
    EXPECT_EQ(*read, columns);
}

TEST(SchemaText, AColumnOfAnotherEngineIsReadWithItsTypes) {
    const auto read = columns_of(R"-({"type":"struct","fields":[
        {"name":"d","type":"decimal(10, 2)","nullable":true,"metadata":{"comment":"x"}},
        {"name":"n","type":"timestamp_ntz","nullable":false,"metadata":{}},
        {"name":"m","type":{"type":"map","keyType":"string","valueType":"long",
         "valueContainsNull":true},"nullable":true,"metadata":{}}]})-");
    ASSERT_TRUE(read);
    EXPECT_EQ(to_string((*read)[0].type), "DECIMAL(10,2)");
    EXPECT_EQ(to_string((*read)[1].type), "TIMESTAMP");
    EXPECT_EQ(to_string((*read)[2].type), "MAP(VARCHAR, BIGINT)");
}

TEST(SchemaText, AnUnknownTypeIsRefusedByItsName) {
    const auto read = columns_of(R"({"type":"struct","fields":[{"name":"v","type":"variant"}]})");
    ASSERT_FALSE(read);
    EXPECT_EQ(read.error().code, ErrorCode::table_not_supported);
    EXPECT_EQ(read.error().message, "the table has a column of the type \"variant\"");
}

TEST(SchemaText, DamageIsRefused) {
    for (const std::string text :
         {"", "1", "{}", R"({"fields":1})", R"({"fields":[1]})", R"({"fields":[{"name":"a"}]})",
          R"({"fields":[{"name":"","type":"long"}]})",
          R"({"fields":[{"name":"a","type":{"type":"array"}}]})",
          R"-({"fields":[{"name":"a","type":"decimal(40,2)"}]})-",
          R"({"fields":[{"name":"a","type":"long"},{"name":"A","type":"long"}]})"}) {
        const auto read = columns_of(text);
        ASSERT_FALSE(read) << text;
        EXPECT_EQ(read.error().code, ErrorCode::damaged_table) << text;
    }
    std::string deep = "\"long\"";
    for (int i = 0; i < 30; ++i) deep = R"({"type":"array","elementType":)" + deep + "}";
    EXPECT_FALSE(columns_of(R"({"fields":[{"name":"a","type":)" + deep + "}]}"));
}

TEST(SchemaText, FeaturesOfColumnsAreNamed) {
    const std::string text =
        R"({"type":"struct","fields":[{"name":"a","type":"long","nullable":true,
        "metadata":{"delta.invariants":"{}","delta.generationExpression":"b"}}]})";
    EXPECT_EQ(features_of_columns(text),
              (std::vector<std::string>{"generatedColumns", "invariants"}));
    EXPECT_TRUE(features_of_columns(schema_text({{.name = "a"}})).empty());
}

}  // namespace
}  // namespace baton::tables
