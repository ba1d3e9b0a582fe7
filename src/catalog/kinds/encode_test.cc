#include "catalog/kinds/encode.h"

#include <gtest/gtest.h>

namespace baton::kinds {
namespace {

TEST(Encode, ASchemaComesBackAsItWas) {
    const Schema schema{.columns = {{.name = "ID", .type = DataType::uint64, .nullable = false},
                                    {.name = "with space", .type = DataType::varsized},
                                    {.name = "NOT NULL", .type = DataType::int8},
                                    {.name = "q\"\\\n", .type = DataType::boolean}}};
    EXPECT_EQ(to_json(Schema{.columns = {schema.columns[0]}}), "[\"ID UINT64 NOT NULL\"]");
    const auto back = schema_from_json(to_json(schema));
    ASSERT_TRUE(back) << to_string(back.error());
    EXPECT_EQ(*back, schema);
}

TEST(Encode, AConfigurationComesBackAsItWas) {
    const Config config = {{"A", true},      {"B", std::int64_t{-5}},
                           {"C", 2.0},       {"D", std::string("tab\t\"quoted\" \x01 é")},
                           {"E", INT64_MAX}, {"F", 0.1}};
    const auto back = config_from_json(to_json(config));
    ASSERT_TRUE(back) << to_string(back.error());
    EXPECT_EQ(*back, config);
    EXPECT_EQ(to_json(Config{{"C", 2.0}}), "{\"C\":2.0}");
}

TEST(Encode, DamagedTextIsToldNotTrusted) {
    for (const char* bad : {"", "[", "{}", "[1]", "[\"A\"]", "[\"A NOTYPE\"]"}) {
        const auto schema = schema_from_json(bad);
        ASSERT_FALSE(schema) << bad;
        EXPECT_EQ(schema.error().code, ErrorCode::catalog_corrupt);
    }
    for (const char* bad : {"", "{", "[]", "{\"A\":null}", "{\"A\":[1]}"}) {
        EXPECT_FALSE(config_from_json(bad)) << bad;
    }
}

TEST(Encode, FingerprintsTellTextsApart) {
    EXPECT_EQ(fingerprint("a"), fingerprint("a"));
    EXPECT_NE(fingerprint("a"), fingerprint("b"));
    EXPECT_EQ(fingerprint("").size(), 32U);
}

}  // namespace
}  // namespace baton::kinds
