#include "adapters/grpc/grpc_result_streams.h"

#include <atomic>
#include <condition_variable>
#include <future>
#include <mutex>
#include <thread>

#include <gtest/gtest.h>

#include "adapters/grpc/grpc_server.h"
#include "adapters/grpc/result_service.h"
#include "engine/results/result_hub.h"
#include "engine/results/results_sink.h"

namespace baton::rpc {
namespace {

using namespace std::chrono_literals;

class GrpcResultStreamsTest : public ::testing::Test {
protected:
    void SetUp() override { serve(); }
    void TearDown() override {
        stream_.reset();
        server_.reset();
    }

    void serve() {
        auto server = GrpcServer::start({.listen = {{"127.0.0.1", 0}}}, {&service_.service()});
        ASSERT_TRUE(server) << to_string(server.error());
        server_ = *std::move(server);
    }
    void open(const std::string& worker = "EDGE") {
        stream_ = streams_->open(worker, Address{"127.0.0.1", server_->ports().front()}, "t",
                                 kSchema, [this] {
                                     const std::lock_guard lock(mutex_);
                                     news_ = true;
                                     woken_.notify_all();
                                 });
    }
    std::unique_ptr<engine::ResultsSink> sink() {
        return std::make_unique<engine::ResultsSink>(*hub_.open("t"), kSchema);
    }
    static engine::Batch numbers(std::uint64_t from, std::size_t count) {
        engine::ColumnVector column(DataType::uint64, count);
        for (std::size_t i = 0; i < count; ++i) {
            column.mutable_data<std::uint64_t>()[i] = from + i;
        }
        return {.rows = count, .columns = {column}};
    }
    // The next rows, the end or the error.
    Result<ResultPortion> next() {
        while (true) {
            TRY_ASSIGN(portion, stream_->poll());
            if (portion.ended || !portion.rows.empty()) return portion;
            std::unique_lock lock(mutex_);
            if (!woken_.wait_for(lock, 20s, [&] { return news_; })) {
                return Error{.code = ErrorCode::wait_timed_out, .message = "nothing came"};
            }
            news_ = false;
        }
    }

    const Schema kSchema{.columns = {{.name = "A", .type = DataType::uint64}}};
    engine::ResultHub hub_{{.bytes_max = 100'000, .patience = 1h}};
    ResultService service_{hub_, "edge"};
    std::unique_ptr<GrpcServer> server_;
    std::unique_ptr<GrpcResultStreams> streams_ = std::make_unique<GrpcResultStreams>();
    std::mutex mutex_;
    std::condition_variable woken_;
    bool news_ = false;
    std::unique_ptr<ResultStream> stream_;
};

TEST_F(GrpcResultStreamsTest, EveryRowComesOnceAndThenTheEnd) {
    open();
    auto writing = std::async(std::launch::async, [&] {
        auto rows = sink();
        for (std::uint64_t i = 0; i < 100; ++i) {
            if (!rows->write(numbers(i * 1000, 1000))) return false;
        }
        return rows->finish().has_value();
    });
    std::int64_t expected = 0;
    for (auto portion = next();; portion = next()) {
        ASSERT_TRUE(portion) << to_string(portion.error());
        if (portion->ended) break;
        for (const SqlRow& row : portion->rows) ASSERT_EQ(row, SqlRow{expected++});
    }
    EXPECT_EQ(expected, 100'000);
    EXPECT_TRUE(writing.get());
}

TEST_F(GrpcResultStreamsTest, WhoDoesNotPollHoldsTheSinkBack) {
    open();
    auto rows = sink();
    constexpr std::size_t kBatchBytes = engine::kBatchRows * sizeof(std::uint64_t);
    std::atomic<std::size_t> written = 0;
    // Far more than the hub, the window of HTTP/2 and one batch hold together.
    std::thread writing([&] {
        while (rows->write(numbers(0, engine::kBatchRows)) && written < (1U << 30U))
            written += kBatchBytes;
    });
    std::size_t before = 1;
    while (written != before || written == 0) {  // until it stands still
        before = written;
        std::unique_lock lock(mutex_);
        woken_.wait_for(lock, 300ms, [] { return false; });
    }
    EXPECT_LT(written, 32U << 20U);
    stream_.reset();  // which ends the sink
    writing.join();
}

TEST_F(GrpcResultStreamsTest, AReaderThatGoesAwayEndsTheSink) {
    open();
    auto rows = sink();
    ASSERT_TRUE(rows->write(numbers(0, 10)));
    ASSERT_TRUE(next());
    auto finished = std::async(std::launch::async, [&] {
        Result<Done> wrote = Done{};
        while (wrote) wrote = rows->write(numbers(0, 10));
        return wrote.error();
    });
    stream_.reset();
    EXPECT_EQ(finished.get().message, "the client that asked for the rows is gone");
}

TEST_F(GrpcResultStreamsTest, AQueryThatBreaksOffIsNoEnd) {
    open();
    auto rows = sink();
    ASSERT_TRUE(rows->write(numbers(0, 10)));
    ASSERT_TRUE(next());
    rows.reset();
    const auto after = next();
    ASSERT_FALSE(after);
    EXPECT_EQ(after.error().code, ErrorCode::cancelled);
}

TEST_F(GrpcResultStreamsTest, AWorkerThatIsGoneIsNoEnd) {
    open();
    const auto rows = sink();
    ASSERT_TRUE(rows->write(numbers(0, 10)));
    ASSERT_TRUE(next());
    server_.reset();
    const auto after = next();
    ASSERT_FALSE(after);
    EXPECT_EQ(after.error().code, ErrorCode::worker_unreachable);
    EXPECT_NE(after.error().message.find("worker \"EDGE\""), std::string::npos);
}

TEST_F(GrpcResultStreamsTest, AnotherWorkerGivesNothing) {
    open("HUB");
    const auto answer = next();
    ASSERT_FALSE(answer);
    EXPECT_EQ(answer.error().code, ErrorCode::not_supported);
    EXPECT_NE(answer.error().message.find("this is worker \"edge\""), std::string::npos);
}

TEST_F(GrpcResultStreamsTest, WhatIsNoBatchIsRefused) {
    open();
    const auto inlet = *hub_.open("t");
    ASSERT_TRUE(inlet->put(std::make_shared<const std::string>("nonsense")));
    EXPECT_EQ(next().error().code, ErrorCode::malformed_message);
}

}  // namespace
}  // namespace baton::rpc
