#include "model/schema.h"

#include <set>
#include <string>

#include <gtest/gtest.h>

namespace baton {
namespace {

Schema schema_of(std::initializer_list<std::string> names) {
    Schema schema;
    for (const std::string& name : names) schema.columns.push_back({.name = name});
    return schema;
}

std::string refusal_of(const Schema& schema) {
    const auto result = validate(schema, "source \"S\"");
    return result ? "" : to_string(result.error());
}

TEST(Schema, NeedsAColumn) {
    EXPECT_EQ(refusal_of(schema_of({})),
              "error 2003: invalid schema of source \"S\": it has no columns");
}

TEST(Schema, NeedsANameForEachColumn) {
    EXPECT_EQ(refusal_of(schema_of({"A", ""})),
              "error 2003: invalid schema of source \"S\": a column has an empty name");
}

TEST(Schema, NamesEachColumnOnce) {
    EXPECT_EQ(refusal_of(schema_of({"A", "B", "A"})),
              "error 2003: invalid schema of source \"S\": column \"A\" appears twice");
}

TEST(Schema, MayHaveNamesThatDifferInCaseOnly) {
    EXPECT_EQ(refusal_of(schema_of({"A", "a"})), "");
}

TEST(Schema, IsEqualColumnByColumn) {
    EXPECT_EQ(schema_of({"A", "B"}), schema_of({"A", "B"}));
    EXPECT_NE(schema_of({"A", "B"}), schema_of({"B", "A"}));
    Schema other = schema_of({"A", "B"});
    other.columns[1].nullable = false;
    EXPECT_NE(schema_of({"A", "B"}), other);
}

TEST(DataType, IsReadBackAsItIsPrinted) {
    std::set<std::string_view> names;
    for (const DataType type : all_data_types()) {
        EXPECT_TRUE(names.insert(to_string(type)).second) << to_string(type);
        EXPECT_EQ(data_type_of(to_string(type)), type);
    }
    EXPECT_EQ(names.size(), 13U);
    EXPECT_EQ(data_type_of("varSized"), DataType::varsized);
}

TEST(DataType, HasOneSpelling) {
    EXPECT_EQ(data_type_of("INTEGER"), std::nullopt);
    EXPECT_EQ(data_type_of(""), std::nullopt);
}

}  // namespace
}  // namespace baton
