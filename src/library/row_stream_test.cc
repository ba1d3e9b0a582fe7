// The rows of a SELECT, with the worker in the same process.
#include <fstream>

#include <gtest/gtest.h>

#include "library/baton.h"
#include "testing/temporary_directory.h"

namespace baton::embedded {
namespace {

using namespace std::chrono_literals;

class RowStreamTest : public ::testing::Test {
protected:
    void SetUp() override { open(); }
    void open() {
        auto opened = baton::Coordinator::open({.data = directory_ / "data"});
        ASSERT_TRUE(opened) << to_string(opened.error());
        baton_ = *std::move(opened);
    }
    // Makes so many numbers, as fast as they are taken.
    static std::string numbers(const std::string& columns, const std::string& last) {
        return "SELECT " + columns + " FROM Generator('SEQUENCE UINT64 0 " + last +
               " 1' AS SOURCE.GENERATOR_SCHEMA, 'emit_rate 100000000' AS "
               "SOURCE.GENERATOR_RATE_CONFIG, SCHEMA(a UINT64 NOT NULL) AS SOURCE.SCHEMA)";
    }
    Result<std::vector<Row>> all_of(const std::string& sql) {
        TRY_ASSIGN(stream, baton_->stream(sql));
        std::vector<Row> all;
        for (;;) {
            TRY_ASSIGN(next, stream.next(30s));
            all.insert(all.end(), next.rows.begin(), next.rows.end());
            if (next.ended) return all;
        }
    }
    std::vector<Row> asked(const std::string& question) {
        return baton_->execute(question).done.back().rows;
    }
    void until_there_is_no_query() {
        auto watch = baton_->watch("WATCH SHOW QUERIES");
        while (!asked("SHOW QUERIES").empty()) ASSERT_TRUE(watch->next(30s));
    }

    testing::TemporaryDirectory directory_;
    std::unique_ptr<Coordinator> baton_;
};

TEST_F(RowStreamTest, GivesEveryRowAndEndsWithTheSource) {
    const std::string in = directory_ / "in.csv";
    std::ofstream(in) << "1,0.5,true,one\n2,,false,\n";
    ASSERT_FALSE(baton_
                     ->execute("CREATE LOGICAL SOURCE s (a INT32 NOT NULL, f FLOAT32, b BOOLEAN, t "
                               "VARSIZED); CREATE PHYSICAL SOURCE FOR s TYPE File SET ('" +
                               in + "' AS SOURCE.FILE_PATH, 'CSV' AS INPUT_FORMATTER.TYPE)")
                     .error);
    const auto rows = all_of("SELECT * FROM s");
    ASSERT_TRUE(rows) << to_string(rows.error());
    const Row first = {"1", "0.5", "true", "one"};
    const Row second = {"2", std::nullopt, "false", std::nullopt};
    EXPECT_EQ(*rows, (std::vector<Row>{first, second}));
    until_there_is_no_query();
}

TEST_F(RowStreamTest, ALimitIsExact) {
    const auto rows = all_of(numbers("a", "100000000") + " LIMIT 10001");
    ASSERT_TRUE(rows) << to_string(rows.error());
    EXPECT_EQ(rows->size(), 10'001U);
    EXPECT_EQ(rows->back(), Row{"10000"});
    until_there_is_no_query();
}

TEST_F(RowStreamTest, AStreamThatIsLeftTakesItsQueryWithIt) {
    {
        auto stream = baton_->stream(numbers("a", "1000000000"));
        ASSERT_TRUE(stream) << to_string(stream.error());
        ASSERT_FALSE(stream->next(30s)->rows.empty());
        EXPECT_EQ(asked("SHOW QUERIES").size(), 1U);
    }
    until_there_is_no_query();
}

TEST_F(RowStreamTest, AQueryThatFailsSaysWhy) {
    const auto rows = all_of(numbers("UINT64(1) / (a - UINT64(5)) AS x", "100000000"));
    ASSERT_FALSE(rows);
    EXPECT_EQ(rows.error().code, ErrorCode::arithmetic) << to_string(rows.error());
    until_there_is_no_query();
    const auto unreadable = all_of(
        "SELECT a FROM File('/nowhere' AS SOURCE.FILE_PATH, SCHEMA(a INT8) AS SOURCE.SCHEMA)");
    ASSERT_FALSE(unreadable);
    EXPECT_EQ(unreadable.error().code, ErrorCode::cannot_open) << to_string(unreadable.error());
}

TEST_F(RowStreamTest, OnlyRowsOfStreamsAreStreamedAndTheyAreNotExecuted) {
    EXPECT_EQ(baton_->stream("SHOW QUERIES").error().code, ErrorCode::not_supported);
    EXPECT_EQ(baton_->stream("SELECT name FROM baton.queries").error().code,
              ErrorCode::not_supported);
    const auto refused = baton_->execute(numbers("a", "10")).error;
    ASSERT_TRUE(refused);
    EXPECT_EQ(refused->code, ErrorCode::not_supported);
    EXPECT_EQ(refused->hint, "use Coordinator::stream, or add INTO sink");
    until_there_is_no_query();
}

}  // namespace
}  // namespace baton::embedded
