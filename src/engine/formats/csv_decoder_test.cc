#include "engine/formats/csv_decoder.h"

#include <cmath>

#include <gtest/gtest.h>

#include "engine/formats/decoding_test.h"

namespace baton::formats {
namespace {

using testing::decode;
using testing::Decoded;
using Rows = std::vector<std::vector<Value>>;

const Schema kPair = {{{"ID", DataType::uint64, false}, {"NAME", DataType::varsized, true}}};

Value text(std::string value) {
    return value;
}

Value whole(std::uint64_t value) {
    return value;
}

Rows rows_of(const Schema& schema, const std::string& csv, const Config& format = {}) {
    const Decoded decoded = decode({.format = format, .schema = schema}, csv);
    EXPECT_FALSE(decoded.error) << to_string(*decoded.error);
    return decoded.rows;
}

std::string fault_of(const Schema& schema, const std::string& csv, const Config& format = {}) {
    const Decoded decoded = decode({.format = format, .schema = schema}, csv);
    EXPECT_TRUE(decoded.error.has_value()) << csv;
    if (!decoded.error) return {};
    EXPECT_EQ(decoded.error->code, ErrorCode::cannot_format);
    return decoded.error->message;
}

Schema one(DataType type, bool nullable = false) {
    return {{{"X", type, nullable}}};
}

TEST(CsvDecoder, ReadsARowPerLine) {
    EXPECT_EQ(rows_of(kPair, "1,a\n2,b\n"), (Rows{{whole(1), text("a")}, {whole(2), text("b")}}));
}

TEST(CsvDecoder, TheLastLineNeedsNoLineFeed) {
    EXPECT_EQ(rows_of(kPair, "1,a\n2,b"), (Rows{{whole(1), text("a")}, {whole(2), text("b")}}));
}

TEST(CsvDecoder, ACarriageReturnBeforeALineFeedDoesNotCount) {
    EXPECT_EQ(rows_of(kPair, "1,a\r\n2,\"b\"\r\n3,\r\n"),
              (Rows{{whole(1), text("a")}, {whole(2), text("b")}, {whole(3), Value()}}));
}

TEST(CsvDecoder, AnEmptyFieldOfANullableColumnIsNull) {
    const Schema schema = {{{"I", DataType::int32, true},
                            {"T", DataType::varsized, true},
                            {"B", DataType::boolean, true},
                            {"F", DataType::float64, true}}};
    EXPECT_EQ(rows_of(schema, ",,,\n"), (Rows{{Value(), Value(), Value(), Value()}}));
    EXPECT_EQ(rows_of(schema, "NULL,\"\",NULL,NULL\n"),
              (Rows{{Value(), text(""), Value(), Value()}}));
}

TEST(CsvDecoder, AnEmptyFieldOfANotNullColumnIsAnEmptyTextOrAFault) {
    const Schema schema = {{{"T", DataType::varsized, false}, {"I", DataType::int32, false}}};
    EXPECT_EQ(rows_of(schema, ",1\n"), (Rows{{text(""), std::int64_t{1}}}));
    EXPECT_EQ(fault_of(schema, "a,1\nb,\n"),
              "line 2: field 2, \"I\", is empty, but the column is NOT NULL");
}

TEST(CsvDecoder, QuotedFieldsHoldDelimitersQuotesAndLines) {
    EXPECT_EQ(rows_of(kPair, "1,\"a,b\"\n2,\"say \"\"hi\"\"\"\n3,\"two\nlines\"\n4,\"\"\n"),
              (Rows{{whole(1), text("a,b")},
                    {whole(2), text("say \"hi\"")},
                    {whole(3), text("two\nlines")},
                    {whole(4), text("")}}));
    EXPECT_EQ(rows_of(kPair, "\"7\",x\n"), (Rows{{whole(7), text("x")}}));
}

TEST(CsvDecoder, AQuoteWithinAFieldIsText) {
    EXPECT_EQ(rows_of(kPair, "1,5\" pipe\n2,a\"\"b\n"),
              (Rows{{whole(1), text("5\" pipe")}, {whole(2), text("a\"\"b")}}));
}

TEST(CsvDecoder, AQuotedFieldEndsWithItsQuote) {
    EXPECT_EQ(fault_of(kPair, "1,a\n2,\"b\"c\n"),
              "line 2: field 2 goes on after its closing quote");
    EXPECT_EQ(fault_of(kPair, "1,\"a\n2,b\n"), "line 1: a quote is not closed before the end");
}

TEST(CsvDecoder, WithoutHidingADelimiterAlwaysCounts) {
    const Config format = {{"ALLOW_COMMAS_IN_STRINGS", false}};
    EXPECT_EQ(rows_of(kPair, "1,\"a\"\n", format), (Rows{{whole(1), text("a")}}));
    EXPECT_EQ(fault_of(kPair, "1,\"a,b\"\n", format), "line 1: it has 3 fields instead of 2");
}

TEST(CsvDecoder, TheNumberOfFieldsIsThatOfTheSchema) {
    EXPECT_EQ(fault_of(kPair, "1,a\n2\n"), "line 2: it has 1 field instead of 2");
    EXPECT_EQ(fault_of(kPair, "1,a\n2,b,c\n"), "line 2: it has 3 fields instead of 2");
}

TEST(CsvDecoder, AnEmptyLineIsNoRecordUnlessThereIsOneColumn) {
    EXPECT_EQ(rows_of(kPair, "1,a\n\n\r\n2,b\n\n").size(), 2);
    EXPECT_EQ(rows_of(one(DataType::int8, true), "1\n\n2\n"),
              (Rows{{std::int64_t{1}}, {Value()}, {std::int64_t{2}}}));
}

TEST(CsvDecoder, RowsBeforeAFaultAreGiven) {
    const Decoded decoded = decode({.schema = kPair}, "1,a\n2,b\nx,c\n4,d\n");
    EXPECT_EQ(decoded.rows.size(), 2);
    ASSERT_TRUE(decoded.error.has_value());
    EXPECT_EQ(decoded.error->message, R"(line 3: field 1, "ID", is "x", not a UINT64)");
    EXPECT_EQ(decoded.error->hint,
              "correct it, or leave out what cannot be read with 'SKIP' AS "
              "INPUT_FORMATTER.ON_MALFORMED");
}

TEST(CsvDecoder, WhatCannotBeReadIsSkippedAndCountedIfAsked) {
    const Decoded decoded =
        decode({.format = {{"ON_MALFORMED", std::string("SKIP")}}, .schema = kPair},
               "1,a\nx,b\n3\n4,\xff\n5,e\n6,\"f\"g\n7,\"");
    EXPECT_EQ(decoded.rows, (Rows{{whole(1), text("a")}, {whole(5), text("e")}}));
    EXPECT_EQ(decoded.skipped, 5);
}

TEST(CsvDecoder, LinesWithinQuotesCountInMessages) {
    EXPECT_EQ(fault_of(kPair, "1,\"a\nb\"\nx,c\n"),
              "line 3: field 1, \"ID\", is \"x\", not a UINT64");
}

TEST(CsvDecoder, BytesAreUtf8EverywhereInARecord) {
    const Decoded decoded = decode({.schema = kPair, .wanted = {0}}, "1,\xc3\xa4\n2,\xc3\n");
    EXPECT_EQ(decoded.rows.size(), 1);
    ASSERT_TRUE(decoded.error.has_value());
    EXPECT_EQ(decoded.error->message, "line 2: it is not UTF-8");
}

TEST(CsvDecoder, OnlyWantedColumnsAreConverted) {
    const Decoded decoded = decode({.schema = kPair, .wanted = {1}}, "x,a\ny,b\n");
    EXPECT_EQ(decoded.rows, (Rows{{text("a")}, {text("b")}}));
    const Decoded none = decode({.schema = kPair, .wanted = {}, .none_wanted = true}, "x,a\ny,b\n");
    EXPECT_EQ(none.rows.size(), 2);
}

TEST(CsvDecoder, AHeaderIsPassedOver) {
    EXPECT_EQ(rows_of(kPair, "ID:UINT64:NOT_NULLABLE,NAME\n1,a\n", {{"HEADER", true}}),
              (Rows{{whole(1), text("a")}}));
}

TEST(CsvDecoder, DelimitersMayBeAnyText) {
    const Config format = {{"FIELD_DELIMITER", std::string("::")},
                           {"TUPLE_DELIMITER", std::string("END")}};
    EXPECT_EQ(rows_of(kPair, "1::a:bEND2::\"x::y\"END3::E", format),
              (Rows{{whole(1), text("a:b")}, {whole(2), text("x::y")}, {whole(3), text("E")}}));
    EXPECT_EQ(fault_of(kPair, "1::aENDx::bEND", format),
              "record 2: field 1, \"ID\", is \"x\", not a UINT64");
    EXPECT_EQ(
        rows_of(kPair, "1;a|2;b",
                {{"FIELD_DELIMITER", std::string(";")}, {"TUPLE_DELIMITER", std::string("|")}}),
        (Rows{{whole(1), text("a")}, {whole(2), text("b")}}));
    EXPECT_EQ(rows_of(kPair, "1\",\"a\n", {{"FIELD_DELIMITER", std::string("\",\"")}}),
              (Rows{{whole(1), text("a")}}));
}

TEST(CsvDecoder, WholeNumbersHaveTheRangeOfTheirType) {
    const auto limits = [](DataType type, const std::string& least, const std::string& most,
                           const std::string& below, const std::string& above) {
        EXPECT_EQ(rows_of(one(type), least + "\n" + most + "\n").size(), 2);
        for (const std::string& beyond : {below, above}) {
            EXPECT_EQ(fault_of(one(type), beyond + "\n"), "line 1: field 1, \"X\", is \"" + beyond +
                                                              "\", out of the range of " +
                                                              std::string(to_string(type)));
        }
    };
    limits(DataType::int8, "-128", "127", "-129", "128");
    limits(DataType::int16, "-32768", "32767", "-32769", "32768");
    limits(DataType::int32, "-2147483648", "2147483647", "-2147483649", "2147483648");
    limits(DataType::int64, "-9223372036854775808", "9223372036854775807", "-9223372036854775809",
           "9223372036854775808");
    limits(DataType::uint8, "0", "255", "-1", "256");
    limits(DataType::uint16, "0", "65535", "-1", "65536");
    limits(DataType::uint32, "0", "4294967295", "-1", "4294967296");
    limits(DataType::uint64, "0", "18446744073709551615", "-1", "18446744073709551616");
    EXPECT_EQ(rows_of(one(DataType::uint64), "000000000000000000000000000000000007\n"),
              (Rows{{whole(7)}}));
    EXPECT_EQ(rows_of(one(DataType::int64), " 12 \n-0\n"),
              (Rows{{std::int64_t{12}}, {std::int64_t{0}}}));
}

TEST(CsvDecoder, WhatIsNotAllOfANumberIsNone) {
    for (const char* const text :
         {"-", "--1", "1-", "1.0", "1e3", "0x1", "1 2", "1_000", "12345678a", "a12345678",
          "1234567890123456x", "+1", ":1", "/1"}) {
        EXPECT_EQ(fault_of(one(DataType::int64), std::string(text) + "\n"),
                  std::string("line 1: field 1, \"X\", is \"") + text + "\", not an INT64");
    }
}

TEST(CsvDecoder, RealNumbersAreTheNearestAndFinite) {
    EXPECT_EQ(rows_of(one(DataType::float64), "0.1\n-1e300\n5\n.5\n1e-400\n"),
              (Rows{{0.1}, {-1e300}, {5.0}, {0.5}, {0.0}}));
    EXPECT_EQ(rows_of(one(DataType::float32), "0.1\n"), (Rows{{static_cast<double>(0.1F)}}));
    EXPECT_EQ(rows_of(one(DataType::float64), "inf\n-Infinity\n"), (Rows{{HUGE_VAL}, {-HUGE_VAL}}));
    EXPECT_TRUE(std::isnan(std::get<double>(rows_of(one(DataType::float64), "NaN\n")[0][0])));
    EXPECT_EQ(fault_of(one(DataType::float64), "1e999\n"),
              "line 1: field 1, \"X\", is \"1e999\", out of the range of FLOAT64");
    EXPECT_EQ(fault_of(one(DataType::float32), "1e39\n"),
              "line 1: field 1, \"X\", is \"1e39\", out of the range of FLOAT32");
    EXPECT_EQ(fault_of(one(DataType::float64), "1.2.3\n"),
              "line 1: field 1, \"X\", is \"1.2.3\", not a FLOAT64");
}

TEST(CsvDecoder, BooleansAreWordsOrDigits) {
    EXPECT_EQ(rows_of(one(DataType::boolean), "true\nFALSE\n1\n0\nTrue\n"),
              (Rows{{true}, {false}, {true}, {false}, {true}}));
    EXPECT_EQ(fault_of(one(DataType::boolean), "yes\n"),
              "line 1: field 1, \"X\", is \"yes\", not a BOOLEAN");
}

TEST(CsvDecoder, ACharIsOneCharacterAtMost) {
    EXPECT_EQ(rows_of(one(DataType::character), "a\n\xc3\xa4\n"),
              (Rows{{text("a")}, {text("\xc3\xa4")}}));
    EXPECT_EQ(fault_of(one(DataType::character), "ab\n"),
              "line 1: field 1, \"X\", is \"ab\", more than one character");
}

TEST(CsvDecoder, RowsDoNotDependOnWherePartsEnd) {
    const Config long_ones = {{"FIELD_DELIMITER", std::string("::")},
                              {"TUPLE_DELIMITER", std::string("END")}};
    const std::string csv =
        "1,a\r\n2,\"x,\"\"y\"\"\n\"\n3,\n\n44444444444,\xc3\xa4\xc3\xb6\n5,\"\"\n6,last";
    const std::string other = "1::aEND2::\"x::y\"\"END\"END3::ENEND4::::END5::b";
    for (const std::size_t block : {1U, 3U, 16U, 4096U}) {
        for (std::size_t part = 1; part <= csv.size(); ++part) {
            const Decoded decoded =
                decode({.schema = kPair, .block_bytes = block, .part = part}, csv);
            EXPECT_FALSE(decoded.error) << to_string(*decoded.error);
            EXPECT_EQ(decoded.rows, rows_of(kPair, csv)) << block << " " << part;
            const Decoded skipping = decode(
                {.format = long_ones, .schema = kPair, .block_bytes = block, .part = part}, other);
            const Decoded whole_one = decode({.format = long_ones, .schema = kPair}, other);
            EXPECT_EQ(skipping.rows, whole_one.rows) << block << " " << part;
            EXPECT_EQ(skipping.error, whole_one.error) << block << " " << part;
        }
    }
}

TEST(CsvDecoder, ManyRowsComeInBatches) {
    std::string csv;
    for (std::size_t i = 0; i < 3 * engine::kBatchRows + 5; ++i) csv += std::to_string(i) + ",r\n";
    const Decoded decoded = decode({.schema = kPair}, csv);
    ASSERT_EQ(decoded.rows.size(), 3 * engine::kBatchRows + 5);
    for (std::size_t i = 0; i < decoded.rows.size(); ++i) EXPECT_EQ(decoded.rows[i][0], whole(i));
}

TEST(CsvDecoder, WhatWasBegunBeforeALossIsForgotten) {
    CsvDecoder decoder({.format = {}, .schema = kPair, .wanted = {0, 1}});
    testing::feed(decoder, "1,a\n2,\"b");
    engine::Batch batch;
    ASSERT_TRUE(*decoder.next(batch));
    ASSERT_FALSE(*decoder.next(batch));
    decoder.lost();
    testing::feed(decoder, "3,c\n");
    ASSERT_TRUE(*decoder.next(batch));
    EXPECT_EQ(batch.rows, 1);
    EXPECT_EQ(engine::value_at(batch.columns[0], 0), whole(3));
}

TEST(CsvDecoder, TextOutlivesTheDecoder) {
    engine::Batch batch;
    {
        CsvDecoder decoder({.format = {}, .schema = kPair, .wanted = {1}});
        testing::feed(decoder, "1,abc\n");
        ASSERT_TRUE(*decoder.next(batch));
    }
    EXPECT_EQ(engine::value_at(batch.columns[0], 0), text("abc"));
}

}  // namespace
}  // namespace baton::formats
