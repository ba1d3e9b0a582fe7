#include "doors/pg/server/copy_reader.h"

#include <gtest/gtest.h>

namespace baton::pgserver {
namespace {

using namespace std::string_literals;  // NOLINT: zeros within texts

SqlColumns columns() {
    return {{.name = "A", .type = {.kind = SqlType::Kind::integer}},
            {.name = "B", .type = {.kind = SqlType::Kind::varchar}}};
}

std::string shown(const std::vector<CopyReader::Row>& rows) {
    std::string text;
    for (const CopyReader::Row& row : rows) {
        for (const sql::Literal& literal : row) {
            if (const auto* value = std::get_if<std::string>(&literal)) {
                text += "[" + *value + "]";
            } else if (const auto* number = std::get_if<sql::Integer>(&literal)) {
                text += std::to_string(number->magnitude);
            } else {
                text += "NULL";
            }
        }
        text += ";";
    }
    return text;
}

// In portions of so many bytes.
std::string read(const CopyFormat& format, std::string_view bytes, std::size_t portion) {
    CopyReader reader(format, columns());
    for (std::size_t i = 0; i < bytes.size(); i += portion) {
        if (auto fed = reader.feed(bytes.substr(i, portion)); !fed) return fed.error().message;
    }
    if (auto ended = reader.finish(); !ended) return ended.error().message;
    return shown(reader.take());
}

// It does not matter where the bytes are cut.
std::string read(const CopyFormat& format, std::string_view bytes) {
    const std::string whole = read(format, bytes, bytes.size() + 1);
    for (std::size_t portion = 1; portion < 8; ++portion) {
        EXPECT_EQ(read(format, bytes, portion), whole) << portion;
    }
    return whole;
}

const CopyFormat kCsv = {.csv = true, .delimiter = ',', .null = ""};

TEST(CopyReader, ReadsLinesOfText) {
    EXPECT_EQ(read({}, "1\tx\n2\t\\N\n"), "[1][x];[2]NULL;");
    EXPECT_EQ(read({}, "1\ta\\tb\\\\c\\n\\x41\\101\\z"), "[1][a\tb\\c\nAAz];");
    EXPECT_EQ(read({}, "1\t\\\t\r\n\\.\nnothing of this"), "[1][\t];");
    EXPECT_EQ(read({.header = true}, "A\tB\n1\tx\n"), "[1][x];");
    EXPECT_EQ(read({}, ""), "");
}

TEST(CopyReader, ReadsCsv) {
    EXPECT_EQ(read(kCsv, "1,\"a\"\"b,\nc\"\n2,\n3,\"\"\n"), "[1][a\"b,\nc];[2]NULL;[3][];");
    CopyFormat other = kCsv;
    other.quote = '\'';
    other.escape = '\\';
    EXPECT_EQ(read(other, "1,'it\\'s'\n"), "[1][it's];");
}

TEST(CopyReader, NamesTheLineOfAnError) {
    EXPECT_EQ(read({}, "1\tx\nz\ty\n"),
              "line 2 of COPY: cannot convert 'z' to INTEGER, the type of column \"A\"");
    EXPECT_EQ(read({}, "1\n"), "line 1 of COPY: missing data for column \"B\"");
    EXPECT_EQ(read({}, "1\t2\t3\n"), "line 1 of COPY: extra data after the last expected column");
    EXPECT_EQ(read(kCsv, "1,\"a\nb\"\nx,c\n"),
              "line 3 of COPY: cannot convert 'x' to INTEGER, the type of column \"A\"");
    EXPECT_EQ(read(kCsv, "1,\"a"), "line 1 of COPY: a quote has no end");
    EXPECT_EQ(read({}, "1\t\xff\n"),
              "line 1 of COPY: a text is not UTF-8, or has the character NUL");
}

TEST(CopyReader, ReadsTheBinaryForm) {
    const std::string header = "PGCOPY\n\xff\r\n\0\0\0\0\0\0\0\0\0"s;
    const std::string row = "\0\2\0\0\0\4\0\0\0\7\0\0\0\1x"s;
    const std::string null = "\0\2\0\0\0\4\0\0\0\10\xff\xff\xff\xff"s;
    EXPECT_EQ(read({.binary = true}, header + row + null + "\xff\xff"), "7[x];8NULL;");
    EXPECT_EQ(read({.binary = true}, header + row),
              "row 2 of COPY: the data ends before its trailer");
    EXPECT_EQ(read({.binary = true}, "1\tx and this is no binary"),
              "row 1 of COPY: this is not the binary form of COPY");
    EXPECT_EQ(read({.binary = true}, header + "\0\1\0\0\0\4"s),
              "row 1 of COPY: it has 1 values for 2 columns");
}

TEST(CopyReader, HoldsNoMoreThanItsMemory) {
    CopyReader reader({}, columns());
    const std::string line = "1\t" + std::string(1U << 20U, 'x') + "\n";
    Result<Done> fed = Done{};
    for (std::size_t i = 0; i <= kCopiedMemoryMax >> 20U && fed; ++i) fed = reader.feed(line);
    ASSERT_FALSE(fed);
    EXPECT_EQ(fed.error().code, ErrorCode::too_large);
}

}  // namespace
}  // namespace baton::pgserver
