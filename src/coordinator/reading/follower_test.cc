#include "coordinator/reading/follower.h"

#include <atomic>

#include <gtest/gtest.h>

#include "coordinator/reading/watch.h"
#include "testing/coordinator/coordinator_test_base.h"
#include "testing/eventually.h"
#include "testing/faulty_sql.h"

namespace baton::coordinator {
namespace {

using namespace std::chrono_literals;

// A coordinator that leads, and a watch in a process that follows on the same catalog.
class FollowerTest : public testing::CoordinatorTest {
protected:
    void SetUp() override {
        auto catalog = testing::open_test_catalog();
        ASSERT_TRUE(catalog) << to_string(catalog.error());
        catalog_ = *std::move(catalog);
        CoordinatorOptions options;
        options.commits.committer.history.changes_max = 10;
        auto opened = CoordinatorRuntime::open(
            std::make_unique<testing::FaultySqlDatabase>(*catalog_, nullptr), clock_, options);
        ASSERT_TRUE(opened) << to_string(opened.error());
        coordinator_ = *std::move(opened);
        session_ = std::make_unique<Session>(*coordinator_, "tester");
        run("CREATE WORKER 'a:1'");
        readers_.emplace(*catalog_, durable_, 1);
        watch_ = *Watch::open(feed_, *readers_,
                              *views::ViewQuery::from(sql::Show{.what = sql::ShowWhat::workers}),
                              std::nullopt, [this] { wakes_ += 1; });
        ASSERT_EQ(watch_->poll()->size(), 1U);
        ASSERT_EQ(watch_->revision(), Revision(1));
    }
    void TearDown() override {
        watch_.reset();
        session_.reset();
        coordinator_.reset();
    }

    void follow_up_to(Revision revision) {
        const Follower follower(*catalog_, feed_, {.interval = 1ms});
        EXPECT_TRUE(testing::eventually([&] { return feed_.last() == revision; }));
    }

    std::unique_ptr<SqlDatabase> catalog_;
    Durable durable_{Revision(), true};
    std::optional<Readers> readers_;
    Feed feed_{Revision(1), 100};
    std::atomic<int> wakes_ = 0;
    std::unique_ptr<Watch> watch_;
};

TEST_F(FollowerTest, WatchersGetWhatAnotherProcessCommits) {
    run("DRAIN WORKER 'a:1'; DROP WORKER 'a:1'");
    follow_up_to(Revision(3));
    EXPECT_GE(wakes_, 1);
    const auto events = *watch_->poll();
    ASSERT_EQ(events.size(), 2U);
    EXPECT_EQ(std::get<WatchChange>(events[0]).op, ChangeOp::update);
    EXPECT_EQ(std::get<WatchChange>(events[1]).op, ChangeOp::drop);
    EXPECT_EQ(watch_->revision(), Revision(3));
}

TEST_F(FollowerTest, WatchersBeginAnewAfterALongerBreakThanChangesAreKept) {
    for (int i = 0; i < 100; ++i) run("DRAIN WORKER 'a:1'; RESUME WORKER 'a:1'");
    follow_up_to(Revision(201));
    EXPECT_GE(wakes_, 1);
    const auto events = *watch_->poll();
    ASSERT_EQ(events.size(), 1U);
    const auto* snapshot = std::get_if<WatchSnapshot>(&events.front());
    ASSERT_NE(snapshot, nullptr);
    EXPECT_EQ(snapshot->revision, Revision(201));
    EXPECT_NE(snapshot->reason.find("no longer kept"), std::string::npos) << snapshot->reason;
}

}  // namespace
}  // namespace baton::coordinator
