#include "doors/http/watch_hub.h"

#include <condition_variable>
#include <mutex>

#include <gtest/gtest.h>

#include "coordinator/sessions/session.h"
#include "sql/parser.h"
#include "testing/coordinator/coordinator_test_base.h"
#include "testing/eventually.h"

namespace baton::http {
namespace {

using namespace std::chrono_literals;

// Takes what a stream gives, waiting for it.
class Reader {
public:
    explicit Reader(std::shared_ptr<EventStream> stream) : stream_(std::move(stream)) {
        stream_->when_ready([this] {
            const std::lock_guard lock(mutex_);
            ready_ = true;
            news_.notify_all();
        });
    }
    ~Reader() { stream_->when_ready(nullptr); }
    Reader(const Reader&) = delete;
    Reader& operator=(const Reader&) = delete;

    // Everything up to the piece that has the text; or what came before time was over.
    std::string read_until(const std::string& wanted) {
        std::string seen;
        while (seen.find(wanted) == std::string::npos) {
            {
                const std::lock_guard lock(mutex_);
                ready_ = false;
            }
            const auto pieces = stream_->take(10'000);
            for (const Piece& piece : pieces) {
                seen += *piece;
                last_ = piece;
            }
            std::unique_lock lock(mutex_);
            if (pieces.empty() && !news_.wait_for(lock, 5s, [&] { return ready_; })) break;
        }
        return seen;
    }
    [[nodiscard]] const Piece& last() const { return last_; }

private:
    std::shared_ptr<EventStream> stream_;
    std::mutex mutex_;
    std::condition_variable news_;
    bool ready_ = false;
    Piece last_;
};

class WatchHubTest : public testing::CoordinatorTest {
protected:
    void SetUp() override {
        open();
        run("CREATE WORKER 'a:1' SET ('W' AS NAME)");
        hub_.emplace(*coordinator_,
                     WatchHubOptions{.kept_bytes_max = 2'000, .pace_of_follower = 0us});
    }
    void TearDown() override { hub_.reset(); }

    std::shared_ptr<EventStream> follow(const std::string& text) {
        const auto statement = sql::parse_one(text);
        EXPECT_TRUE(statement) << text;
        coordinator::Execution execution = session_->execute(text);
        EXPECT_FALSE(execution.error) << text;
        auto& watch =
            std::get<std::unique_ptr<coordinator::Watch>>(execution.results.front().value);
        auto stream = hub_->follow(*statement, std::move(watch));
        EXPECT_TRUE(stream);
        return *std::move(stream);
    }
    void drain_and_resume(int times) {
        for (int i = 0; i < times; ++i) run("DRAIN WORKER w; RESUME WORKER w");
    }

    std::optional<WatchHub> hub_;
};

const char* const kStates = "WATCH SELECT name, draining FROM baton.workers";

TEST_F(WatchHubTest, FirstAllRowsThenEveryChange) {
    Reader reader(follow(kStates));
    EXPECT_EQ(reader.read_until("\n\n"),
              "event: snapshot\nid: 1\n"
              "data: {\"revision\":1,\"rows\":[{\"name\":\"W\",\"draining\":false}]}\n\n");
    run("DRAIN WORKER w");
    EXPECT_EQ(
        reader.read_until("\n\n"),
        "event: update\nid: 2\n"
        "data: {\"revision\":2,\"key\":\"W\",\"row\":{\"name\":\"W\",\"draining\":true}}\n\n");
}

TEST_F(WatchHubTest, AChangeIsEncodedOnceForAllWhoWatchTheSame) {
    Reader one(follow(kStates));
    Reader other(follow("watch select NAME,draining from BATON.workers since revision 1"));
    one.read_until("id: 1\n");
    run("DRAIN WORKER w");
    one.read_until("id: 2\n");
    other.read_until("id: 2\n");
    EXPECT_EQ(hub_->channels(), 1U);
    run("RESUME WORKER w");
    one.read_until("id: 3\n");
    other.read_until("id: 3\n");
    EXPECT_EQ(one.last(), other.last());
}

TEST_F(WatchHubTest, WhoFallsBehindMissesNothing) {
    Reader quick(follow(kStates));
    Reader slow(follow(kStates));
    quick.read_until("id: 1\n");
    slow.read_until("id: 1\n");
    drain_and_resume(100);  // far more than is kept
    quick.read_until("id: 201\n");
    const std::string seen = slow.read_until("id: 201\n");
    std::uint64_t last = 1;
    for (std::size_t at = 0; (at = seen.find("\nid: ", at)) != std::string::npos; at += 5) {
        EXPECT_EQ(std::stoull(seen.substr(at + 5)), last + 1);
        last += 1;
    }
    EXPECT_EQ(last, 201U);
    run("DRAIN WORKER w");
    quick.read_until("id: 202\n");
    slow.read_until("id: 202\n");
    EXPECT_EQ(quick.last(), slow.last());  // together again
}

TEST_F(WatchHubTest, WhoResumesFromLongAgoGetsAllSince) {
    Reader early(follow(kStates));
    drain_and_resume(50);
    early.read_until("id: 101\n");
    Reader late(follow(std::string(kStates) + " SINCE REVISION 40"));
    const std::string seen = late.read_until("id: 101\n");
    EXPECT_EQ(seen.find("snapshot"), std::string::npos);
    EXPECT_TRUE(seen.starts_with("event: update\nid: 41\n")) << seen.substr(0, 100);
}

TEST_F(WatchHubTest, WhatIsNoLongerKeptIsReplacedByANewSnapshotAndTheReason) {
    Reader reader(follow(std::string(kStates) + " SINCE REVISION 99"));
    const std::string seen = reader.read_until("\n\n");
    EXPECT_NE(seen.find("event: snapshot\nid: 1\n"), std::string::npos) << seen;
    EXPECT_NE(seen.find("\"reason\":\"revision 99 has not happened here"), std::string::npos);
}

// Who goes away in between would else come back after the revision, and miss the rest of it.
TEST_F(WatchHubTest, OnlyTheLastEventOfARevisionHasItsNumber) {
    Reader reader(follow(kStates));
    reader.read_until("id: 1\n");
    run("BEGIN; CREATE WORKER 'b:1' SET ('B' AS NAME); CREATE WORKER 'c:1' SET ('C' AS NAME);"
        "COMMIT");
    const std::string seen = reader.read_until("id: 2\n");
    EXPECT_TRUE(seen.starts_with("event: create\ndata: {\"revision\":2,\"key\":\"B\"")) << seen;
    EXPECT_NE(seen.find("event: create\nid: 2\ndata: {\"revision\":2,\"key\":\"C\""),
              std::string::npos);
}

TEST_F(WatchHubTest, AChannelEndsWithItsLastFollower) {
    {
        Reader reader(follow(kStates));
        reader.read_until("id: 1\n");
        EXPECT_EQ(hub_->channels(), 1U);
    }
    EXPECT_TRUE(testing::eventually([&] { return hub_->channels() == 0; }));
    run("DRAIN WORKER w");
}

TEST_F(WatchHubTest, AFollowerMayEndAtAnyTime) {
    for (int i = 0; i < 50; ++i) {
        const auto stream = follow(kStates);
        run(i % 2 == 0 ? "DRAIN WORKER w" : "RESUME WORKER w");
    }
}

}  // namespace
}  // namespace baton::http
