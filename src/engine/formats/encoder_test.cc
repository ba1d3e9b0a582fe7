#include "engine/formats/encoder.h"

#include <cmath>
#include <cstdio>
#include <limits>

#include <gtest/gtest.h>

#include "base/prng.h"

namespace baton::formats {
namespace {

const Schema kSchema = {{{"I", DataType::int8, true},
                         {"F", DataType::float64, false},
                         {"B", DataType::boolean, true},
                         {"T", DataType::varsized, true}}};

engine::Batch sample() {
    const std::vector<Value> ints = {std::int64_t{-5}, Value()};
    const std::vector<Value> reals = {1.5, 2.0};
    const std::vector<Value> truths = {true, Value()};
    const std::vector<Value> texts = {std::string("say \"a,b\""), Value()};
    return {.rows = 2,
            .columns = {engine::column_of(DataType::int8, ints),
                        engine::column_of(DataType::float64, reals),
                        engine::column_of(DataType::boolean, truths),
                        engine::column_of(DataType::varsized, texts)}};
}

std::string encoded(const Config& format) {
    std::string text;
    (*make_encoder(format, kSchema))->encode(sample(), text);
    return text;
}

std::string decimal(double number) {
    std::string text;
    append_decimal(text, number);
    return text;
}

TEST(CsvEncoder, WritesRowsAsTheDialectHasThem) {
    EXPECT_EQ(encoded({}), "-5,1.5,true,say \"a,b\"\nNULL,2.0,NULL,NULL\n");
}

TEST(CsvEncoder, KeepsToItsOptions) {
    EXPECT_EQ(encoded({{"FIELD_DELIMITER", std::string("; ")},
                       {"TUPLE_DELIMITER", std::string("|")},
                       {"QUOTE_STRINGS", true}}),
              "-5; 1.5; true; \"say \"\"a,b\"\"\"|NULL; 2.0; NULL; NULL|");
}

TEST(CsvEncoder, HasAHeaderWithTypes) {
    EXPECT_EQ((*make_encoder({}, kSchema))->header(),
              "I:INT8:IS_NULLABLE,F:FLOAT64:NOT_NULLABLE,B:BOOLEAN:IS_NULLABLE,T:VARSIZED:IS_"
              "NULLABLE\n");
}

TEST(CsvEncoder, RealNumbersHaveOneToSixDecimals) {
    EXPECT_EQ(decimal(0.0), "0.0");
    EXPECT_EQ(decimal(-0.0), "-0.0");
    EXPECT_EQ(decimal(100.0), "100.0");
    EXPECT_EQ(decimal(-2.5), "-2.5");
    EXPECT_EQ(decimal(1.0 / 3), "0.333333");
    EXPECT_EQ(decimal(0.0000004), "0.0");
    EXPECT_EQ(decimal(0.0000005), "0.0");  // the double nearest to it is below it
    EXPECT_EQ(decimal(1e22), "10000000000000000000000.0");
    EXPECT_EQ(decimal(999999999.9999999), "1000000000.0");
    EXPECT_EQ(decimal(std::nan("")), "nan");
    EXPECT_EQ(decimal(-HUGE_VAL), "-inf");
    EXPECT_EQ(decimal(std::numeric_limits<double>::max()).size(), 309 + 2);
}

TEST(CsvEncoder, RealNumbersAreRoundedAsPrintfDoes) {
    Prng prng(1);
    for (int i = 0; i < 200'000; ++i) {
        const auto digits = static_cast<double>(prng.between(0, 2'000'000'000'000)) - 1e12;
        const double number = digits / std::pow(10, static_cast<double>(prng.between(0, 12)));
        std::array<char, 64> expected{};
        std::snprintf(expected.data(), expected.size(), "%.6f", number);
        std::string text = expected.data();
        while (text.ends_with('0') && text[text.size() - 2] != '.') text.pop_back();
        ASSERT_EQ(decimal(number), text) << i;
    }
}

TEST(JsonEncoder, WritesAnObjectPerLine) {
    EXPECT_EQ(encoded({{"TYPE", std::string("JSON")}}),
              "{\"I\":-5,\"F\":1.5,\"B\":true,\"T\":\"say \\\"a,b\\\"\"}\n"
              "{\"I\":null,\"F\":2,\"B\":null,\"T\":null}\n");
}

TEST(MakeEncoder, RefusesWhatItDoesNotKnow) {
    EXPECT_EQ(make_encoder({{"TYPE", std::string("XML")}}, kSchema).error().code,
              ErrorCode::invalid_configuration);
}

}  // namespace
}  // namespace baton::formats
