#include "coordinator/commit/settler.h"

#include <atomic>
#include <future>
#include <latch>
#include <string>

#include <gtest/gtest.h>

namespace baton::coordinator {
namespace {

// What happened, in order, from any thread.
class Events {
public:
    void add(const std::string& event) {
        const std::lock_guard lock(mutex_);
        text_ += (text_.empty() ? "" : ", ") + event;
    }
    [[nodiscard]] std::string text() const {
        const std::lock_guard lock(mutex_);
        return text_;
    }

private:
    mutable std::mutex mutex_;
    std::string text_;
};

class SettlerTest : public ::testing::Test {
protected:
    struct Disk final : SqlSync {
        explicit Disk(SettlerTest& test) : test_(test) {}
        Result<Done> sync() override {
            if (test_.hold_.exchange(false)) {
                test_.held_.count_down();
                test_.release_.wait();
            }
            test_.events_.add("sync");
            if (!test_.fails_) return Done{};
            return Error{.code = ErrorCode::catalog_unavailable, .message = "the disk is gone"};
        }
        SettlerTest& test_;
    };

    // A batch of so many requests that leaves the catalog at this revision.
    CommittedBatch batch(std::uint64_t revision, std::size_t answers) {
        CommittedBatch made;
        made.revision = Revision(revision);
        made.changes.push_back({.revision = Revision(revision)});
        for (std::size_t i = 0; i < answers; ++i) {
            const bool last = i + 1 == answers;
            made.answers.push_back(
                {.answered =
                     [this, last, revision](const Outcome& outcome) {
                         const auto* refused = std::get_if<Refused>(&outcome);
                         const auto name = refused == nullptr
                                               ? "answer"
                                               : std::string(entry_of(refused->error.code).name);
                         if (last) events_.add(name + " " + std::to_string(revision));
                     },
                 .outcome = Accepted{}});
        }
        return made;
    }

    Events events_;
    std::atomic<bool> hold_ = false;  // the next sync
    std::atomic<bool> fails_ = false;
    std::latch held_{1};
    std::latch release_{1};
    Durable durable_{Revision(1)};
    Settler settler_{std::make_unique<Disk>(*this), durable_,
                     [this](const std::vector<catalog::Change>& changes) {
                         // Who is told may look at once.
                         EXPECT_TRUE(durable_.wait_for(changes.back().revision));
                         events_.add("publish " + std::to_string(changes.back().revision.value()));
                     }};
};

TEST_F(SettlerTest, ASmallBatchIsSettledAtOnce) {
    settler_.hand(batch(2, 1));
    EXPECT_EQ(events_.text(), "sync, publish 2, answer 2");
}

TEST_F(SettlerTest, NothingIsToldOrShownBeforeItIsDurable) {
    hold_ = true;
    settler_.hand(batch(2, 8));
    held_.wait();
    auto reader = std::async(std::launch::async, [&] {
        const auto durable = durable_.wait_for(Revision(2));
        events_.add("read");
        return durable.has_value();
    });
    EXPECT_TRUE(durable_.wait_for(Revision(1)));
    EXPECT_EQ(events_.text(), "");
    release_.count_down();
    EXPECT_TRUE(reader.get());
    settler_.stop();
    EXPECT_EQ(events_.text().substr(0, 4), "sync");
    EXPECT_LT(events_.text().find("publish 2"), events_.text().find("answer 2"));
}

TEST_F(SettlerTest, BatchesThatCameMeanwhileShareOneSyncInTheirOrder) {
    hold_ = true;
    settler_.hand(batch(2, 8));
    held_.wait();
    settler_.hand(batch(3, 1));
    release_.count_down();
    settler_.hand(batch(4, 8));
    settler_.stop();
    const std::string all = events_.text();
    EXPECT_EQ(all.find("sync, publish 2, answer 2, sync, publish 3, answer 3"), 0U) << all;
    EXPECT_NE(all.find("publish 4, answer 4"), std::string::npos) << all;
}

TEST_F(SettlerTest, AFailedSyncIsTheLastAndNothingAfterItIsAccepted) {
    fails_ = true;
    settler_.hand(batch(2, 1));
    fails_ = false;
    settler_.hand(batch(3, 8));
    CommittedBatch refused = batch(3, 1);
    refused.answers.front().outcome = Refused{.error = {.code = ErrorCode::syntax}};
    settler_.hand(std::move(refused));
    settler_.stop();
    EXPECT_EQ(events_.text(), "sync, unknown_outcome 2, unknown_outcome 3, syntax 3");
    EXPECT_TRUE(settler_.broken());
    EXPECT_FALSE(durable_.wait_for(Revision(2)));
    EXPECT_TRUE(durable_.wait_for(Revision(1)));
}

TEST(Durable, ADiskThatNeverAnswersIsNotWaitedForForEver) {
    Durable durable(Revision(1));
    const auto waited = durable.wait_for(Revision(2), std::chrono::milliseconds(1));
    ASSERT_FALSE(waited);
    EXPECT_EQ(waited.error().code, ErrorCode::catalog_unavailable);
    durable.reached(Revision(2));
    EXPECT_TRUE(durable.wait_for(Revision(2)));
}

}  // namespace
}  // namespace baton::coordinator
