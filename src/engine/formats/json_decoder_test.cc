#include "engine/formats/json_decoder.h"

#include <cmath>

#include <gtest/gtest.h>

#include "engine/formats/decoding_test.h"

namespace baton::formats {
namespace {

using testing::Decoded;
using Rows = std::vector<std::vector<Value>>;

const Schema kPair = {{{"ID", DataType::uint64, false}, {"NAME", DataType::varsized, true}}};

Value text(std::string value) {
    return value;
}

Value whole(std::uint64_t value) {
    return value;
}

Decoded decode(const Schema& schema, const std::string& json, std::size_t part = SIZE_MAX,
               std::size_t block = 0) {
    return testing::decode({.format = {{"TYPE", std::string("JSON")}},
                            .schema = schema,
                            .block_bytes = block,
                            .part = part},
                           json);
}

Rows rows_of(const Schema& schema, const std::string& json) {
    const Decoded decoded = decode(schema, json);
    EXPECT_FALSE(decoded.error) << to_string(*decoded.error);
    return decoded.rows;
}

std::string fault_of(const Schema& schema, const std::string& json) {
    const Decoded decoded = decode(schema, json);
    EXPECT_TRUE(decoded.error.has_value()) << json;
    return decoded.error ? decoded.error->message : "";
}

TEST(JsonDecoder, ReadsAnObjectPerLine) {
    EXPECT_EQ(rows_of(kPair, "{\"ID\":1,\"NAME\":\"a\"}\n{\"ID\":2,\"NAME\":\"b\"}"),
              (Rows{{whole(1), text("a")}, {whole(2), text("b")}}));
}

TEST(JsonDecoder, FieldsAreFoundInAnyOrderAndCase) {
    EXPECT_EQ(rows_of(kPair,
                      "{\"ID\":1,\"NAME\":\"a\"}\n"
                      "{ \"other\" : [1, {\"ID\": 9}] , \"name\" : \"b\" , \"id\" : 2 }\r\n"
                      "{\"id\":4,\"ID\":3,\"Id\":5,\"NAME\":null}\n"),
              (Rows{{whole(1), text("a")}, {whole(2), text("b")}, {whole(3), Value()}}));
}

TEST(JsonDecoder, TheLastOfTwoFieldsOfANameCounts) {
    EXPECT_EQ(rows_of(kPair, "{\"ID\":1,\"ID\":2}\n"), (Rows{{whole(2), Value()}}));
}

TEST(JsonDecoder, NestedFieldsAreNamedByTheirPath) {
    const Schema nested = {{{"MILK/CYCLES/LEFT", DataType::int32, false},
                            {"MILK/CYCLES/RIGHT", DataType::int32, true},
                            {"MILK", DataType::varsized, true},
                            {"ID", DataType::uint64, false}}};
    EXPECT_EQ(rows_of(nested,
                      "{\"milk\":{\"cycles\":{\"left\":3,\"right\":5,\"x\":1}},\"id\":42}\n"
                      "{\"milk\":{\"cycles\":{\"left\":4}},\"id\":43}\n"
                      "{\"MILK/CYCLES/LEFT\":7,\"ID\":44,\"MILK\":\"none\"}\n"),
              (Rows{{std::int64_t{3}, std::int64_t{5}, Value(), whole(42)},
                    {std::int64_t{4}, Value(), Value(), whole(43)},
                    {std::int64_t{7}, Value(), text("none"), whole(44)}}));
}

TEST(JsonDecoder, WhatIsMissingIsNullOrAFault) {
    EXPECT_EQ(rows_of(kPair, "{\"ID\":1}\n"), (Rows{{whole(1), Value()}}));
    EXPECT_EQ(fault_of(kPair, "{\"ID\":1}\n\n{\"NAME\":\"a\"}\n"),
              "line 3: field 1, \"ID\", is missing");
    EXPECT_EQ(fault_of(kPair, "{\"ID\":null}\n"),
              "line 1: field 1, \"ID\", is NULL, but the column is NOT NULL");
}

TEST(JsonDecoder, EscapesAreDecoded) {
    EXPECT_EQ(rows_of(kPair,
                      "{\"ID\":1,\"NAME\":\"a\\n\\\"\\u00e4\\ud83d\\ude00\\\\\"}\n"
                      "{\"\\u0049D\":2,\"NAME\":\"\\n\\n\"}\n{\"ID\":3,\"NAME\":\"\"}\n"),
              (Rows{{whole(1), text("a\n\"\xc3\xa4\xf0\x9f\x98\x80\\")},
                    {whole(2), text("\n\n")},
                    {whole(3), text("")}}));
    EXPECT_EQ(fault_of(kPair, "{\"ID\":1,\"NAME\":\"\\n\"}\n{\"ID\":-1}\n"),
              "line 2: field 1, \"ID\", is \"-1\", out of the range of UINT64");
}

TEST(JsonDecoder, ValuesFollowTheRulesOfTheirType) {
    const Schema schema = {{{"B", DataType::boolean, true},
                            {"F", DataType::float64, true},
                            {"I", DataType::int8, true},
                            {"T", DataType::varsized, true}}};
    EXPECT_EQ(rows_of(schema,
                      "{\"B\":true,\"F\":1.5e2,\"I\":-8,\"T\":12}\n"
                      "{\"B\":0,\"F\":\"-Infinity\",\"I\":\"7\",\"T\":false}\n"),
              (Rows{{true, 150.0, std::int64_t{-8}, text("12")},
                    {false, -HUGE_VAL, std::int64_t{7}, text("false")}}));
    EXPECT_EQ(fault_of(schema, "{\"I\":1.5}"), "line 1: field 3, \"I\", is \"1.5\", not an INT8");
    EXPECT_EQ(fault_of(schema, "{\"I\":300}"),
              "line 1: field 3, \"I\", is \"300\", out of the range of INT8");
    EXPECT_EQ(fault_of(schema, "{\"I\":[1]}"), "line 1: \"I\" is an array, not a value");
    EXPECT_EQ(fault_of(schema, "{\"I\":{\"J\":1}}"), "line 1: \"I\" is an object, not a value");
}

TEST(JsonDecoder, WhatIsNoObjectIsAFault) {
    EXPECT_EQ(fault_of(kPair, "[1]\n"), "line 1: it is not a JSON object");
    EXPECT_EQ(fault_of(kPair, "{\"ID\":1} {}\n"), "line 1: something follows the object");
    for (const char* const bad : {"{\"ID\":1", "{\"ID\":1,", "{\"ID\" 1}", "{ID:1}", "{\"ID\":1}}",
                                  "{\"ID\":\"1}", "{\"ID\":tru}", "{\"ID\":1x}", "\xff",
                                  "{\"ID\":1,\"NAME\":\"\xff\"}", "{\"ID\":1,\"NAME\":\"\\x\"}"}) {
        EXPECT_NE(fault_of(kPair, std::string(bad) + "\n"), "") << bad;
    }
}

TEST(JsonDecoder, RowsDoNotDependOnWherePartsEnd) {
    const std::string json =
        "{\"ID\":1,\"NAME\":\"a\\nb\"}\n\n{\"name\":\"\xc3\xa4\",\"id\":22222222222}\r\n"
        "{\"ID\":3,\"x\":{\"y\":[1,2,{}]},\"NAME\":\"last\"}";
    const Rows rows = rows_of(kPair, json);
    ASSERT_EQ(rows.size(), 3);
    for (const std::size_t block : {1U, 7U, 64U}) {
        for (std::size_t part = 1; part <= json.size(); ++part) {
            EXPECT_EQ(decode(kPair, json, part, block).rows, rows) << block << " " << part;
        }
    }
}

}  // namespace
}  // namespace baton::formats
