#include "doors/pg/wire/values.h"

#include <bit>
#include <cmath>
#include <limits>
#include <type_traits>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "base/time.h"

namespace baton::pgwire {
namespace {

using namespace std::string_literals;  // NOLINT: zeros within texts

constexpr double kInfinity = std::numeric_limits<double>::infinity();

TypeId id(KnownType type) {
    return static_cast<TypeId>(type);
}

std::string cell(ColumnType type, Format format, const Value& value) {
    std::string out;
    const auto written = append_cell(out, type, format, value);
    return written ? out : to_string(written.error());
}
std::string text(ColumnType type, const Value& value) {
    return cell(type, Format::text, value);
}
std::string binary(ColumnType type, const Value& value) {
    return cell(type, Format::binary, value);
}

Value parameter(KnownType type, Format format, std::string_view bytes) {
    const auto value = parameter_of(id(type), format, bytes);
    if (const auto* refused = std::get_if<Report>(&value)) {
        return refused->sqlstate + " " + refused->message;
    }
    return std::get<Value>(value);
}
Value from_text(KnownType type, std::string_view bytes) {
    return parameter(type, Format::text, bytes);
}
Value from_binary(KnownType type, std::string_view bytes) {
    return parameter(type, Format::binary, bytes);
}

TEST(Cells, EachTypeHasItsNumberAndSize) {
    EXPECT_EQ(type_id_of(ColumnType::text), 25U);
    EXPECT_EQ(type_id_of(ColumnType::int32), 23U);
    EXPECT_EQ(type_id_of(ColumnType::integer), 20U);
    EXPECT_EQ(type_id_of(ColumnType::unsigned_integer), 1700U);
    EXPECT_EQ(type_id_of(ColumnType::float32), 700U);
    EXPECT_EQ(type_id_of(ColumnType::float64), 701U);
    EXPECT_EQ(type_id_of(ColumnType::boolean), 16U);
    EXPECT_EQ(type_id_of(ColumnType::time), 1184U);
    EXPECT_EQ(type_id_of(ColumnType::json), 114U);
    EXPECT_EQ(size_of(ColumnType::boolean), 1);
    EXPECT_EQ(size_of(ColumnType::int32), 4);
    EXPECT_EQ(size_of(ColumnType::integer), 8);
    EXPECT_EQ(size_of(ColumnType::text), -1);
}

TEST(Cells, WholeNumbersAndTruthsAsText) {
    EXPECT_EQ(text(ColumnType::boolean, true), "t");
    EXPECT_EQ(text(ColumnType::boolean, false), "f");
    EXPECT_EQ(text(ColumnType::integer, std::numeric_limits<std::int64_t>::min()),
              "-9223372036854775808");
    EXPECT_EQ(text(ColumnType::unsigned_integer, UINT64_MAX), "18446744073709551615");
    EXPECT_EQ(text(ColumnType::unsigned_integer, std::int64_t{7}), "7");
    EXPECT_EQ(text(ColumnType::text, "ä"), "ä");
    EXPECT_EQ(text(ColumnType::json, "{}"), "{}");
}

TEST(Cells, FloatsAsPostgresWritesThem) {
    const auto wide = [](double value) { return text(ColumnType::float64, value); };
    EXPECT_EQ(wide(0.1), "0.1");
    EXPECT_EQ(wide(1), "1");
    EXPECT_EQ(wide(-0.0), "-0");
    EXPECT_EQ(wide(100000000000000), "100000000000000");
    EXPECT_EQ(wide(1e15), "1e+15");
    EXPECT_EQ(wide(123456789012345680), "1.2345678901234568e+17");
    EXPECT_EQ(wide(0.0001), "0.0001");
    EXPECT_EQ(wide(0.00001), "1e-05");
    EXPECT_EQ(wide(1.7976931348623157e308), "1.7976931348623157e+308");
    EXPECT_EQ(wide(5e-324), "5e-324");
    EXPECT_EQ(wide(std::nan("")), "NaN");
    EXPECT_EQ(wide(kInfinity), "Infinity");
    EXPECT_EQ(wide(-kInfinity), "-Infinity");
    const auto narrow = [](double value) { return text(ColumnType::float32, value); };
    EXPECT_EQ(narrow(0.1), "0.1");
    EXPECT_EQ(narrow(123456), "123456");
    EXPECT_EQ(narrow(1234567), "1.234567e+06");
    EXPECT_EQ(narrow(1e6), "1e+06");
    EXPECT_EQ(narrow(-kInfinity), "-Infinity");
}

TEST(Cells, TimesAsPostgresWritesThem) {
    const auto time = [](const std::string& value) { return text(ColumnType::time, value); };
    EXPECT_EQ(time("2026-11-15T09:46:16.123456Z"), "2026-11-15 09:46:16.123456+00");
    EXPECT_EQ(time("2026-11-15T09:46:16.120000Z"), "2026-11-15 09:46:16.12+00");
    EXPECT_EQ(time("2026-11-15T09:46:16.000000Z"), "2026-11-15 09:46:16+00");
    EXPECT_EQ(time("2026-11-15T09:46:00.000000Z"), "2026-11-15 09:46:00+00");
    EXPECT_EQ(time("2026-11-15T09:46:16Z"), "2026-11-15 09:46:16+00");
    EXPECT_EQ(time("0001-01-01T00:00:00Z"), "0001-01-01 00:00:00+00");
    EXPECT_EQ(time("9999-12-31T23:59:59.999999Z"), "9999-12-31 23:59:59.999999+00");
}

TEST(Cells, BinaryForms) {
    EXPECT_EQ(binary(ColumnType::boolean, true), "\1"s);
    EXPECT_EQ(binary(ColumnType::int32, std::int64_t{-2}), "\xff\xff\xff\xfe"s);
    EXPECT_EQ(text(ColumnType::int32, std::int64_t{1} << 31),
              "error 4003: 2147483648 cannot be sent as integer");
    EXPECT_EQ(binary(ColumnType::integer, std::int64_t{-2}), "\xff\xff\xff\xff\xff\xff\xff\xfe"s);
    EXPECT_EQ(binary(ColumnType::float64, 1.0), "\x3f\xf0\0\0\0\0\0\0"s);
    EXPECT_EQ(binary(ColumnType::float32, 1.0), "\x3f\x80\0\0"s);
    EXPECT_EQ(binary(ColumnType::text, "ab"), "ab");
    EXPECT_EQ(binary(ColumnType::json, "{}"), "{}");
    EXPECT_EQ(binary(ColumnType::time, "2000-01-01T00:00:00.000001Z"), "\0\0\0\0\0\0\0\1"s);
    EXPECT_EQ(binary(ColumnType::time, "1999-12-31T23:59:59.999999Z"),
              "\xff\xff\xff\xff\xff\xff\xff\xff"s);
}

TEST(Cells, UnsignedNumbersAsBinaryNumeric) {
    const auto numeric = [](std::uint64_t value) {
        return binary(ColumnType::unsigned_integer, value);
    };
    EXPECT_EQ(numeric(0), "\0\0\0\0\0\0\0\0"s);
    EXPECT_EQ(numeric(12), "\0\1\0\0\0\0\0\0\0\x0c"s);
    EXPECT_EQ(numeric(10'000), "\0\1\0\1\0\0\0\0\0\1"s);  // the zero at the end is left out
    EXPECT_EQ(numeric(10'002), "\0\2\0\1\0\0\0\0\0\1\0\2"s);
    EXPECT_EQ(numeric(UINT64_MAX), "\0\5\0\4\0\0\0\0\x07\x34\x1a\x58\x02\xe1\x03\xbb\x06\x4f"s);
}

TEST(Cells, WhatIsNotOfTheTypeIsRefused) {
    EXPECT_EQ(text(ColumnType::integer, "x"), "error 4003: \"x\" cannot be sent as integer");
    EXPECT_EQ(text(ColumnType::integer, UINT64_MAX),
              "error 4003: 18446744073709551615 cannot be sent as integer");
    EXPECT_EQ(text(ColumnType::unsigned_integer, std::int64_t{-1}),
              "error 4003: -1 cannot be sent as unsigned integer");
    EXPECT_EQ(text(ColumnType::time, "yesterday"),
              "error 4003: \"yesterday\" cannot be sent as time");
    EXPECT_EQ(text(ColumnType::time, "2026-02-30T00:00:00Z"),
              "error 4003: \"2026-02-30T00:00:00Z\" cannot be sent as time");
    EXPECT_EQ(text(ColumnType::boolean, std::int64_t{1}),
              "error 4003: 1 cannot be sent as boolean");
    EXPECT_EQ(text(ColumnType::float32, 1e300), "error 4003: a value cannot be sent as float");
    EXPECT_EQ(text(ColumnType::text, Value()), "error 4003: null cannot be sent as text");
}

TEST(RowWriter, WritesRowsAndCountsThem) {
    const std::vector<Column> columns = {{"n", ColumnType::integer}, {"t", ColumnType::text}};
    RowWriter writer(columns, {Format::text, Format::text});
    EXPECT_TRUE(writer.append(std::vector<Value>{std::int64_t{12}, Value()}));
    EXPECT_FALSE(writer.append(std::vector<Value>{"x", "y"}));
    EXPECT_TRUE(writer.append(std::vector<Value>{Value(), "yz"}));
    const EncodedRows rows = writer.take();
    EXPECT_EQ(rows.count(), 2U);
    EXPECT_EQ(rows.bytes(), "D\0\0\0\x10\0\2\0\0\0\2"s + "12" + "\xff\xff\xff\xff" +
                                "D\0\0\0\x10\0\2\xff\xff\xff\xff\0\0\0\2yz"s);
    EXPECT_EQ(writer.take().count(), 0U);
}

TEST(Parameters, InText) {
    EXPECT_EQ(from_text(KnownType::int8, "-9223372036854775808"),
              Value(std::numeric_limits<std::int64_t>::min()));
    EXPECT_EQ(from_text(KnownType::int4, " +12 "), Value(std::int64_t{12}));
    EXPECT_EQ(from_text(KnownType::numeric, "18446744073709551615"), Value(UINT64_MAX));
    EXPECT_EQ(from_text(KnownType::numeric, "1.50"), Value(1.5));
    EXPECT_EQ(from_text(KnownType::float8, "1e3"), Value(1000.0));
    EXPECT_EQ(from_text(KnownType::float8, "-Infinity"), Value(-kInfinity));
    EXPECT_EQ(from_text(KnownType::text, " a "), Value(" a "));
    EXPECT_EQ(from_text(KnownType::json, "{}"), Value("{}"));
    EXPECT_EQ(std::get<Value>(parameter_of(0, Format::text, "12")), Value("12"));
    EXPECT_EQ(std::get<Value>(parameter_of(2950, Format::text, "a-uuid")), Value("a-uuid"));
    for (const char* yes : {"t", "TRUE", "y", "yes", "on", "1", "tr"}) {
        EXPECT_EQ(from_text(KnownType::boolean, yes), Value(true)) << yes;
    }
    for (const char* no : {"f", "False", "n", "no", "off", "of", "0"}) {
        EXPECT_EQ(from_text(KnownType::boolean, no), Value(false)) << no;
    }
}

TEST(Parameters, TimesInText) {
    const auto time = [](std::string_view given) {
        return std::get<std::string>(from_text(KnownType::timestamptz, given));
    };
    EXPECT_EQ(time("2026-11-15 09:46:16.5+00"), "2026-11-15T09:46:16.500000Z");
    EXPECT_EQ(time("2026-11-15T09:46:16Z"), "2026-11-15T09:46:16.000000Z");
    EXPECT_EQ(time("2026-11-15 09:46"), "2026-11-15T09:46:00.000000Z");
    EXPECT_EQ(time("2026-11-15"), "2026-11-15T00:00:00.000000Z");
    EXPECT_EQ(time("2026-11-15 09:46:16+02"), "2026-11-15T07:46:16.000000Z");
    EXPECT_EQ(time("2026-11-15 23:46:16 -05:30"), "2026-11-16T05:16:16.000000Z");
    EXPECT_EQ(time("2026-11-15 23:46:16+0530"), "2026-11-15T18:16:16.000000Z");
    EXPECT_EQ(time("2026-12-31 23:59:59.9999996"), "2027-01-01T00:00:00.000000Z");
}

TEST(Parameters, TextThatIsNotOfTheTypeIsRefused) {
    EXPECT_EQ(from_text(KnownType::int4, "x"), Value("22P02 \"x\" is not of type integer"));
    for (const char* bad : {"", "1.5", "2147483648", "0x1", "+-1", "1 2", "--1"}) {
        EXPECT_TRUE(std::get<std::string>(from_text(KnownType::int4, bad)).starts_with("22P02"))
            << bad;
    }
    for (const char* bad : {"", "o", "maybe", "truee", "2"}) {
        EXPECT_TRUE(std::get<std::string>(from_text(KnownType::boolean, bad)).starts_with("22P02"))
            << bad;
    }
    for (const char* bad : {"", "x", "1e", "nan(1)", "-", "1e999", "0x1p3", "--1"}) {
        EXPECT_TRUE(std::get<std::string>(from_text(KnownType::float8, bad)).starts_with("22P02"))
            << bad;
    }
    for (const char* bad :
         {"", "infinity", "2026-13-01", "2026-02-29", "0000-01-01", "2026-11-15 24:00:00",
          "2026-11-15 09:60:00", "2026-11-15 09:46:60", "2026-11-15 09:46:16.", "2026-11-15x",
          "2026-11-15 09:46:16 Europe/Berlin", "0001-01-01 00:00:00+01",
          "2026-11-15 09:46:16+16"}) {
        EXPECT_TRUE(
            std::get<std::string>(from_text(KnownType::timestamptz, bad)).starts_with("22P02"))
            << bad;
    }
    EXPECT_EQ(from_text(KnownType::text, "\xff"),
              Value("22021 a parameter of type text is not UTF-8"));
    EXPECT_EQ(std::get<std::string>(from_text(KnownType::int4, std::string(5000, 'x'))).size(),
              std::string("22P02 \"\" is not of type integer").size() + 103);
}

TEST(Parameters, InBinary) {
    EXPECT_EQ(from_binary(KnownType::boolean, "\1"), Value(true));
    EXPECT_EQ(from_binary(KnownType::int2, "\xff\xfe"), Value(std::int64_t{-2}));
    EXPECT_EQ(from_binary(KnownType::int4, "\xff\xff\xff\xfe"), Value(std::int64_t{-2}));
    EXPECT_EQ(from_binary(KnownType::oid, "\xff\xff\xff\xfe"), Value(std::int64_t{0xfffffffe}));
    EXPECT_EQ(from_binary(KnownType::float4, "\x3f\x80\0\0"s), Value(1.0));
    EXPECT_EQ(from_binary(KnownType::varchar, "ab"), Value("ab"));
    EXPECT_EQ(from_binary(KnownType::jsonb, "\1{}"), Value("{}"));
    EXPECT_EQ(from_binary(KnownType::timestamptz, "\0\0\0\0\0\0\0\1"s),
              Value("2000-01-01T00:00:00.000001Z"));
    // 12.5, -10000, 0.0001 and -1e-8
    EXPECT_EQ(from_binary(KnownType::numeric, "\0\2\0\0\0\0\0\1\0\x0c\x13\x88"s), Value(12.5));
    EXPECT_EQ(from_binary(KnownType::numeric, "\0\1\0\1\x40\0\0\0\0\1"s),
              Value(std::int64_t{-10'000}));
    EXPECT_EQ(from_binary(KnownType::numeric, "\0\1\xff\xff\0\0\0\4\0\1"s), Value(0.0001));
    EXPECT_EQ(from_binary(KnownType::numeric, "\0\1\xff\xfe\x40\0\0\x08\0\1"s), Value(-1e-8));
    EXPECT_TRUE(
        std::isnan(std::get<double>(from_binary(KnownType::numeric, "\0\0\0\0\xc0\0\0\0"s))));
}

// As servers of PostgreSQL send them.
TEST(Cells, TypesThatComeAsTextHaveABinaryForm) {
    EXPECT_EQ(text(ColumnType::decimal, "-12.30"), "-12.30");
    EXPECT_EQ(binary(ColumnType::decimal, "-12.30"), "\0\2\0\0\x40\0\0\2\0\x0c\x0b\xb8"s);
    EXPECT_EQ(binary(ColumnType::decimal, "0.00"), "\0\0\0\0\0\0\0\2"s);
    EXPECT_EQ(binary(ColumnType::decimal, "0.00005"), "\0\1\xff\xfe\0\0\0\5\x13\x88"s);
    EXPECT_EQ(binary(ColumnType::decimal, "100000000"), "\0\1\0\2\0\0\0\0\0\1"s);
    EXPECT_EQ(binary(ColumnType::date, "2000-01-02"), "\0\0\0\1"s);
    EXPECT_EQ(binary(ColumnType::date, "1999-12-31"), "\xff\xff\xff\xff"s);
    EXPECT_EQ(binary(ColumnType::date, "0001-01-01 BC"), "\xff\xf4\xda\x8b"s);
    EXPECT_EQ(binary(ColumnType::date, "infinity"), "\x7f\xff\xff\xff"s);
    EXPECT_EQ(binary(ColumnType::timestamp, "2000-01-01 00:00:01.5"), "\0\0\0\0\0\x16\xe3\x60"s);
    EXPECT_EQ(binary(ColumnType::timestamptz, "1999-12-31 23:59:59.999999+00"),
              "\xff\xff\xff\xff\xff\xff\xff\xff"s);
    EXPECT_EQ(binary(ColumnType::time_of_day, "00:00:00.000001"), "\0\0\0\0\0\0\0\1"s);
    EXPECT_EQ(binary(ColumnType::interval, "1 year 2 mons -3 days +00:00:00.000002"),
              "\0\0\0\0\0\0\0\2\xff\xff\xff\xfd\0\0\0\x0e"s);
    EXPECT_EQ(binary(ColumnType::uuid, "6f0d3a52-0b9a-4f1e-9a52-1c1a4a3b2c1d"),
              "\x6f\x0d\x3a\x52\x0b\x9a\x4f\x1e\x9a\x52\x1c\x1a\x4a\x3b\x2c\x1d"s);
    EXPECT_EQ(binary(ColumnType::bytes, "\\x00ff"), "\0\xff"s);
    for (const ColumnType type : {ColumnType::decimal, ColumnType::date, ColumnType::timestamp,
                                  ColumnType::interval, ColumnType::uuid, ColumnType::bytes}) {
        EXPECT_NE(binary(type, "1 x").find("cannot be sent as"), std::string::npos);
    }
}

TEST(Cells, ArraysHaveOneDimension) {
    const auto array = [](ColumnType type, Format format, const Value& value) {
        std::string out;
        const Column column{.name = {}, .type = type, .modifier = -1, .is_array = true};
        const auto written = append_cell(out, column, format, value);
        return written ? out : "refused";
    };
    EXPECT_EQ(array(ColumnType::int32, Format::text, "{1,NULL}"), "{1,NULL}");
    EXPECT_EQ(array(ColumnType::int16, Format::binary, "{1,NULL}"),
              "\0\0\0\1\0\0\0\1\0\0\0\x15\0\0\0\2\0\0\0\1"
              "\0\0\0\2\0\1\xff\xff\xff\xff"s);
    EXPECT_EQ(array(ColumnType::text, Format::binary, "{\"a,\\\"b\",\"NULL\"}"),
              "\0\0\0\1\0\0\0\0\0\0\0\x19\0\0\0\2\0\0\0\1"
              "\0\0\0\4a,\"b\0\0\0\4NULL"s);
    EXPECT_EQ(array(ColumnType::text, Format::binary, "{}"), "\0\0\0\0\0\0\0\0\0\0\0\x19"s);
    EXPECT_EQ(array(ColumnType::int32, Format::binary, "{{1},{2}}"), "refused");
    EXPECT_EQ(array(ColumnType::int32, Format::binary, "{x}"), "refused");
}

TEST(Parameters, TypesOfTablesAreReadFromTheirBinaryForm) {
    EXPECT_EQ(from_binary(KnownType::date, "\0\0\0\1"s), Value("2000-01-02"));
    EXPECT_EQ(from_binary(KnownType::bytea, "\0\xff"s), Value("\\x00ff"));
    EXPECT_EQ(from_binary(KnownType::time, "\0\0\0\0\0\0\0\1"s), Value("00:00:00.000001"));
    EXPECT_EQ(from_binary(KnownType::interval, "\0\0\0\0\0\0\0\2\xff\xff\xff\xfd\0\0\0\x0e"s),
              Value("14 months -3 days 00:00:00.000002"));
    EXPECT_EQ(from_text(KnownType::numeric, "12345678901234.07"), Value("12345678901234.07"));
    EXPECT_EQ(from_text(KnownType::numeric, "0.5"), Value(0.5));
}

TEST(Parameters, BytesThatAreNotOfTheTypeAreRefused) {
    EXPECT_EQ(from_binary(KnownType::int4, "abc"),
              Value("22P03 3 bytes are not the binary form of integer"));
    EXPECT_EQ(std::get<Report>(parameter_of(600, Format::binary, "x")).message,
              "the binary form of type 600 is not known; send it as text");
    const auto refused = [](KnownType type, std::string_view bytes) {
        const Value value = from_binary(type, bytes);
        const auto* why = std::get_if<std::string>(&value);
        return why != nullptr && why->starts_with("22P03");
    };
    EXPECT_TRUE(refused(KnownType::boolean, ""));
    EXPECT_TRUE(refused(KnownType::float8, "\x3f\x80\0\0"s));
    EXPECT_TRUE(refused(KnownType::float4, "\x3f\xf0\0\0\0\0\0\0"s));
    EXPECT_TRUE(refused(KnownType::text, "\xff"));
    EXPECT_TRUE(refused(KnownType::text, "a\0b"s));
    EXPECT_TRUE(refused(KnownType::jsonb, "{}"));
    EXPECT_TRUE(refused(KnownType::timestamptz, "\x7f\xff\xff\xff\xff\xff\xff\xff"s));  // infinity
    EXPECT_TRUE(refused(KnownType::timestamptz, "\x80\0\0\0\0\0\0\0"s));
    EXPECT_TRUE(refused(KnownType::numeric, "\0\1\0\0\0\0\0\0"s));          // no digit
    EXPECT_TRUE(refused(KnownType::numeric, "\0\1\0\0\0\0\0\0\x27\x10"s));  // of 10000
    EXPECT_TRUE(refused(KnownType::numeric, "\0\1\0\0\0\1\0\0\0\1"s));      // sign
    EXPECT_TRUE(refused(KnownType::numeric, "\0\1\x7f\xff\0\0\0\0\0\1"s));  // too large
    EXPECT_TRUE(refused(KnownType::numeric, ""));
}

RC_GTEST_PROP(Values, NumbersComeBackInBothForms,
              (std::int64_t whole, std::uint64_t natural, std::uint64_t bits)) {
    const double number = std::bit_cast<double>(bits);
    for (const Format format : {Format::text, Format::binary}) {
        RC_ASSERT(parameter(KnownType::int8, format, cell(ColumnType::integer, format, whole)) ==
                  Value(whole));
        const Value back = parameter(KnownType::numeric, format,
                                     cell(ColumnType::unsigned_integer, format, natural));
        RC_ASSERT(std::visit(
            [&](const auto& v) {
                if constexpr (std::is_integral_v<std::decay_t<decltype(v)>>) {
                    return static_cast<std::uint64_t>(v) == natural;
                }
                return false;
            },
            back));
        const Value same =
            parameter(KnownType::float8, format, cell(ColumnType::float64, format, number));
        const bool equal =
            std::isnan(number) ? std::isnan(std::get<double>(same)) : same == Value(number);
        RC_ASSERT(equal);
    }
}

RC_GTEST_PROP(Values, TimesComeBackInBothForms, ()) {
    const auto time =
        *rc::gen::inRange<std::int64_t>(-62'135'596'800'000'000, 253'402'300'800'000'000);
    const Value value = to_string(WallTime(Duration(time)));
    for (const Format format : {Format::text, Format::binary}) {
        RC_ASSERT(parameter(KnownType::timestamptz, format,
                            cell(ColumnType::time, format, value)) == value);
    }
}

}  // namespace
}  // namespace baton::pgwire
