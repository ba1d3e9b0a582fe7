#include "engine/results/result_hub.h"

#include <atomic>
#include <future>
#include <thread>

#include <gtest/gtest.h>

#include "engine/results/local_result_streams.h"
#include "engine/results/results_sink.h"

namespace baton::engine {
namespace {

using namespace std::chrono_literals;
using What = TakenResult::What;

arrow::ArrowBytes bytes(std::size_t size) {
    return std::make_shared<const std::string>(size, 'x');
}

class ResultHubTest : public ::testing::Test {
protected:
    std::unique_ptr<ResultInlet> inlet() { return *hub_.open("t"); }
    std::unique_ptr<ResultOutlet> outlet() {
        return *hub_.read("t", [this] { wakes_ += 1; });
    }

    ResultHub hub_{{.bytes_max = 100, .patience = 1h}};
    std::atomic<int> wakes_ = 0;
};

TEST_F(ResultHubTest, WhatWasPutIsTakenInItsOrderThenTheEnd) {
    const auto sink = inlet();
    const auto reader = outlet();
    EXPECT_EQ(reader->take().what, What::nothing);
    ASSERT_TRUE(sink->put(bytes(1)));
    ASSERT_TRUE(sink->put(bytes(2)));
    EXPECT_EQ(wakes_, 2);
    auto finished = std::async(std::launch::async, [&] { return sink->finish(); });
    EXPECT_EQ(reader->take().batch->size(), 1U);
    EXPECT_EQ(reader->take().batch->size(), 2U);
    What last = What::nothing;
    while (last == What::nothing) last = reader->take().what;
    EXPECT_EQ(last, What::end);
    EXPECT_TRUE(finished.get());
    EXPECT_EQ(reader->take().what, What::nothing);
}

TEST_F(ResultHubTest, AReaderThatHasTheEndMayLeaveAtOnce) {
    const auto sink = inlet();
    std::unique_ptr<ResultOutlet> reader;
    reader = *hub_.read("t", [&] {
        if (reader && reader->take().what == What::end) reader.reset();
    });
    EXPECT_TRUE(sink->finish());
    EXPECT_EQ(reader, nullptr);
}

TEST_F(ResultHubTest, TheReaderMayComeFirst) {
    const auto reader = outlet();
    EXPECT_EQ(reader->take().what, What::nothing);
    const auto sink = inlet();
    ASSERT_TRUE(sink->put(bytes(3)));
    EXPECT_EQ(reader->take().batch->size(), 3U);
}

TEST_F(ResultHubTest, ASinkThatIsFarAheadWaitsForItsReader) {
    const auto sink = inlet();
    const auto reader = outlet();
    ASSERT_TRUE(sink->put(bytes(60)));
    ASSERT_TRUE(sink->put(bytes(60)));  // the last one may cross the line
    std::atomic<bool> done = false;
    std::thread third([&] {
        EXPECT_TRUE(sink->put(bytes(60)));
        done = true;
    });
    EXPECT_FALSE(done);
    EXPECT_EQ(reader->take().what, What::batch);
    third.join();
    EXPECT_TRUE(done);
}

TEST_F(ResultHubTest, AReaderThatGoesAwayEndsTheSink) {
    const auto sink = inlet();
    auto reader = outlet();
    ASSERT_TRUE(sink->put(bytes(200)));
    auto waits = std::async(std::launch::async, [&] { return sink->put(bytes(1)); });
    reader.reset();
    const auto put = waits.get();
    ASSERT_FALSE(put);
    EXPECT_EQ(put.error().code, ErrorCode::cancelled);
    EXPECT_EQ(put.error().message, "the client that asked for the rows is gone");
    EXPECT_FALSE(sink->finish());
}

TEST_F(ResultHubTest, ASinkDoesNotWaitForeverForSomebodyToCome) {
    ResultHub hub({.bytes_max = 100, .patience = 1ms});
    const auto sink = *hub.open("t");
    const auto finished = sink->finish();
    ASSERT_FALSE(finished);
    EXPECT_EQ(finished.error().message, "no client came to read the rows of the query");
    EXPECT_FALSE(sink->put(bytes(1)));
}

TEST_F(ResultHubTest, AnInterruptEndsAWaitForRoomAndForTheEnd) {
    const auto sink = inlet();
    const auto reader = outlet();
    ASSERT_TRUE(sink->put(bytes(200)));
    auto waits = std::async(std::launch::async, [&] { return sink->put(bytes(1)); });
    sink->interrupt();
    EXPECT_EQ(waits.get().error().code, ErrorCode::cancelled);
    EXPECT_EQ(sink->finish().error().code, ErrorCode::cancelled);
}

TEST_F(ResultHubTest, ASinkThatEndsWithoutAWordWasBrokenOff) {
    auto sink = inlet();
    const auto reader = outlet();
    ASSERT_TRUE(sink->put(bytes(1)));
    sink.reset();
    EXPECT_EQ(reader->take().what, What::batch);
    EXPECT_EQ(reader->take().what, What::broken);
    EXPECT_EQ(reader->take().what, What::nothing);
}

TEST_F(ResultHubTest, ThereIsOneReaderAndOneSink) {
    const auto sink = inlet();
    auto reader = outlet();
    EXPECT_EQ(hub_.read("t", nullptr).error().code, ErrorCode::conflict);
    EXPECT_EQ(hub_.open("t").error().code, ErrorCode::conflict);
    reader.reset();
    EXPECT_EQ(hub_.read("t", nullptr).error().code, ErrorCode::conflict);
}

// ---- rows ---------------------------------------------------------------------------------------

TEST(LocalResultStreamsTest, RowsComeAsClientsAreGivenThem) {
    const Schema schema{.columns = {{.name = "U", .type = DataType::uint64, .nullable = true},
                                    {.name = "I", .type = DataType::int8, .nullable = true},
                                    {.name = "F", .type = DataType::float32, .nullable = true},
                                    {.name = "B", .type = DataType::boolean, .nullable = true},
                                    {.name = "T", .type = DataType::varsized, .nullable = true}}};
    ResultHub hub;
    LocalResultStreams streams(hub);
    const auto stream = streams.open("embedded", std::nullopt, "t", schema, nullptr);
    EXPECT_FALSE(stream->poll()->ended);
    ResultsSink sink(*hub.open("t"), schema);
    Batch batch{.rows = 2, .columns = {}};
    const auto add = [&](DataType type, Value first) {
        batch.columns.push_back(column_of(type, std::vector<Value>{std::move(first), Value()}));
    };
    add(DataType::uint64, Value(std::uint64_t{UINT64_MAX}));
    add(DataType::int8, Value(std::int64_t{-5}));
    add(DataType::float32, Value(0.5));
    add(DataType::boolean, Value(true));
    add(DataType::varsized, Value(std::string("text")));
    ASSERT_TRUE(sink.write(batch));
    const auto portion = stream->poll();
    ASSERT_TRUE(portion) << to_string(portion.error());
    const SqlRow first = {std::string("18446744073709551615"), std::int64_t{-5}, 0.5,
                          std::int64_t{1}, std::string("text")};
    EXPECT_EQ(portion->rows, (std::vector<SqlRow>{first, SqlRow(5)}));
    EXPECT_EQ(sink.counts().rows, 2U);
}

TEST(LocalResultStreamsTest, ALongBatchComesInSeveralParts) {
    const Schema schema{.columns = {{.name = "T", .type = DataType::varsized}}};
    ResultHub hub;
    LocalResultStreams streams(hub);
    const auto stream = streams.open("embedded", std::nullopt, "t", schema, nullptr);
    ResultsSink sink(*hub.open("t"), schema);
    const std::vector<Value> texts(5, Value(std::string(600'000, 'x')));
    ASSERT_TRUE(sink.write({.rows = 5, .columns = {column_of(DataType::varsized, texts)}}));
    std::size_t parts = 0;
    std::size_t rows = 0;
    for (auto portion = stream->poll(); !portion->rows.empty(); portion = stream->poll()) {
        parts += 1;
        rows += portion->rows.size();
    }
    EXPECT_EQ(rows, 5U);
    EXPECT_GT(parts, 2U);
}

TEST(LocalResultStreamsTest, AWorkerElsewhereIsNotReachedFromHere) {
    ResultHub hub;
    LocalResultStreams streams(hub);
    const auto stream = streams.open("EDGE", Address{"edge", 1}, "t", {}, nullptr);
    EXPECT_EQ(stream->poll().error().code, ErrorCode::worker_unreachable);
}

}  // namespace
}  // namespace baton::engine
