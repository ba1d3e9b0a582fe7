#include "core/descriptors/generator.h"

#include <gtest/gtest.h>

namespace baton::descriptors {

namespace {

std::string complaint(const std::string& schema, const std::string& rate_type = "FIXED",
                      const std::string& rate = "emit_rate 10") {
    const std::vector<GivenOption> given = {{"GENERATOR_SCHEMA", schema, {}},
                                            {"GENERATOR_RATE_TYPE", rate_type, {}},
                                            {"GENERATOR_RATE_CONFIG", rate, {}}};
    const auto source = complete_source("Generator", given, {});
    return source ? "" : to_string(source.error());
}

std::string rate_complaint(const std::string& type, const std::string& rate) {
    return complaint("RANDOMSTR 1 2", type, rate);
}

TEST(GeneratorSchema, HasFieldsSeparatedByCommasOrLines) {
    EXPECT_EQ(complaint("SEQUENCE UINT64 0 10 1"), "");
    EXPECT_EQ(complaint("SEQUENCE UINT64 0 10 1, RANDOMSTR 4096 4096"), "");
    EXPECT_EQ(complaint("SEQUENCE UINT64  0 10 1\r\n  NORMAL_DISTRIBUTION FLOAT64 0 1\n\n"), "");
    EXPECT_EQ(complaint("sequence float32 -1.5 2e3 0.1"), "");
}

TEST(GeneratorSchema, HasAtLeastOneField) {
    EXPECT_EQ(complaint(" ,\n"),
              "error 1000: option \"GENERATOR_SCHEMA\" has no fields; write one of SEQUENCE, "
              "NORMAL_DISTRIBUTION, RANDOMSTR for each column");
}

TEST(GeneratorSchema, KnowsThreeKindsOfFields) {
    EXPECT_EQ(complaint("SEQUENCE INT8 0 1 1, SEQENCE INT8 0 1 1"),
              "error 1000: option \"GENERATOR_SCHEMA\" has a bad field \"SEQENCE INT8 0 1 1\": "
              "unknown kind \"SEQENCE\"; did you mean \"SEQUENCE\"?");
    EXPECT_NE(complaint("WORDLIST a b").find("known kinds: SEQUENCE"), std::string::npos);
}

TEST(GeneratorSchema, TheValuesOfASequenceAreOfItsType) {
    EXPECT_EQ(complaint("SEQUENCE UINT8 0 256 1"),
              "error 1000: option \"GENERATOR_SCHEMA\" has a bad field \"SEQUENCE UINT8 0 256 1\": "
              "\"256\" is not a UINT8; write SEQUENCE type from to step");
    EXPECT_NE(complaint("SEQUENCE UINT64 -1 5 1"), "");
    EXPECT_NE(complaint("SEQUENCE INT32 0 1.5 1"), "");
    EXPECT_NE(complaint("SEQUENCE FLOAT64 0 inf 1"), "");
    EXPECT_NE(complaint("SEQUENCE FLOAT64 0 nan 1"), "");
    EXPECT_NE(complaint("SEQUENCE VARSIZED 0 1 1"), "");
    EXPECT_NE(complaint("SEQUENCE BOOLEAN 0 1 1"), "");
    EXPECT_NE(complaint("SEQUENCE UINT65 0 1 1"), "");
    EXPECT_NE(complaint("SEQUENCE UINT64 0 1"), "");
    EXPECT_EQ(complaint("SEQUENCE UINT64 0 18446744073709551615 1"), "");
    for (const char* type : {"INT8", "INT16", "INT32", "INT64", "UINT8", "UINT16", "UINT32"}) {
        EXPECT_EQ(complaint("SEQUENCE " + std::string(type) + " 0 100 1"), "");
    }
}

TEST(GeneratorSchema, ADistributionHasAMeanAndADeviation) {
    EXPECT_EQ(complaint("NORMAL_DISTRIBUTION FLOAT32 -5 0.5"), "");
    EXPECT_NE(complaint("NORMAL_DISTRIBUTION FLOAT32 0 -1").find("is negative"), std::string::npos);
    EXPECT_NE(complaint("NORMAL_DISTRIBUTION FLOAT32 zero 1"), "");
    EXPECT_NE(complaint("NORMAL_DISTRIBUTION CHAR 0 1"), "");
    EXPECT_NE(complaint("NORMAL_DISTRIBUTION FLOAT64 0"), "");
}

TEST(GeneratorSchema, TextHasALeastAndAMostLength) {
    EXPECT_EQ(complaint("RANDOMSTR 0 0"), "");
    EXPECT_NE(complaint("RANDOMSTR 5 4").find("above the most"), std::string::npos);
    EXPECT_NE(complaint("RANDOMSTR -1 4"), "");
    EXPECT_NE(complaint("RANDOMSTR 1"), "");
}

TEST(GeneratorSchema, TextHasAtMost64KiB) {
    EXPECT_EQ(complaint("RANDOMSTR 65536 65536"), "");
    EXPECT_EQ(complaint("RANDOMSTR 4294967295 4294967295"),
              "error 1000: option \"GENERATOR_SCHEMA\" has a bad field "
              "\"RANDOMSTR 4294967295 4294967295\": a text would be too long; lengths go up to "
              "65536");
    EXPECT_NE(complaint("RANDOMSTR 0 65537"), "");
}

TEST(GeneratorSchema, TheTextsOfARowHaveAtMost1MiBTogether) {
    std::string sixteen = "RANDOMSTR 0 65536";
    for (int i = 1; i < 16; ++i) sixteen += ", RANDOMSTR 0 65536";
    EXPECT_EQ(complaint(sixteen), "");
    EXPECT_EQ(complaint(sixteen + ", RANDOMSTR 0 1"),
              "error 1000: option \"GENERATOR_SCHEMA\" describes rows of up to 1048577 bytes; the "
              "texts of a row may have 1048576 bytes together");
}

TEST(GeneratorRate, IsAtMostATrillionRowsPerSecond) {
    EXPECT_EQ(rate_complaint("FIXED", "emit_rate 1e12"), "");
    EXPECT_NE(rate_complaint("FIXED", "emit_rate 1e300").find("is above 1e12"), std::string::npos);
    EXPECT_NE(rate_complaint("SINUS", "amplitude 1e13, frequency 1").find("is above 1e12"),
              std::string::npos);
}

TEST(GeneratorRate, IsANumberOfRowsPerSecond) {
    EXPECT_EQ(rate_complaint("fixed", "emit_rate 1000"), "");
    EXPECT_EQ(rate_complaint("FIXED", "emitRate 0.5\n"), "");
    EXPECT_EQ(
        rate_complaint("FIXED", "rate 5"),
        "error 1000: option \"GENERATOR_RATE_CONFIG\" does not describe a rate of type FIXED: "
        "unknown word \"rate\"; write emit_rate n, rows per second");
    EXPECT_NE(rate_complaint("FIXED", ""), "");
    EXPECT_NE(rate_complaint("FIXED", "emit_rate"), "");
    EXPECT_NE(rate_complaint("FIXED", "emit_rate 0"), "");
    EXPECT_NE(rate_complaint("FIXED", "emit_rate 1 2"), "");
    EXPECT_NE(rate_complaint("FIXED", "emit_rate 1, emit_rate 2"), "");
}

TEST(GeneratorRate, OrAWave) {
    EXPECT_EQ(rate_complaint("SINUS", "amplitude 1000\nfrequency 2"), "");
    EXPECT_EQ(rate_complaint("SINUS", "frequency 0.1, amplitude 1000"), "");
    EXPECT_NE(rate_complaint("SINUS", "amplitude 5").find("\"FREQUENCY\" is missing"),
              std::string::npos);
    EXPECT_NE(rate_complaint("SINUS", "amplitude 5, frequency -1"), "");
}

TEST(GeneratorRate, OfAWaveHasNoDefault) {
    const std::vector<GivenOption> given = {{"GENERATOR_SCHEMA", std::string("RANDOMSTR 1 2"), {}},
                                            {"GENERATOR_RATE_TYPE", std::string("SINUS"), {}}};
    EXPECT_FALSE(complete_source("Generator", given, {}).has_value());
}

}  // namespace

}  // namespace baton::descriptors
