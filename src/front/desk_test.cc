#include "front/desk.h"

#include <atomic>
#include <future>
#include <latch>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "testing/coordinator/coordinator_test_base.h"

namespace baton::front {
namespace {

using namespace std::chrono_literals;

class DeskTest : public testing::CoordinatorTest {
protected:
    void SetUp() override {
        open();
        desk_.emplace(*coordinator_, DeskOptions{.threads = 2, .waiting_max = 3});
    }
    void TearDown() override { desk_.reset(); }

    std::shared_ptr<Visitor> come_in(Role role = Role::admin) {
        return desk_->visitor({.name = "ann", .role = role});
    }
    static Execution asked(Visitor& visitor, Request request) {
        std::promise<Execution> answer;
        visitor.ask(std::move(request), [&](Execution e) { answer.set_value(std::move(e)); });
        return answer.get_future().get();
    }

    std::optional<Desk> desk_;
};

TEST_F(DeskTest, AVisitorIsAnsweredAndLogged) {
    const auto visitor = come_in();
    const Execution made =
        asked(*visitor, {.text = "CREATE WORKER 'a:1' SET ($1 AS NAME)", .parameters = {"W"}});
    ASSERT_FALSE(made.error) << to_string(*made.error);
    EXPECT_EQ(rows("SELECT name FROM baton.workers"), "W\n");
    EXPECT_EQ(rows("SELECT principal FROM baton.statements WHERE outcome = 'OK'"), "ann\n");
}

TEST_F(DeskTest, WhatARoleDoesNotAllowIsRefusedWholeAndLogged) {
    const auto visitor = come_in(Role::writer);
    const Execution made =
        asked(*visitor, {.text = "CREATE LOGICAL SOURCE s (a INT8); CREATE WORKER 'a:1'"});
    ASSERT_TRUE(made.error);
    EXPECT_EQ(made.error->code, ErrorCode::not_permitted);
    EXPECT_EQ(rows("SHOW LOGICAL SOURCES"), "");
    run("CREATE LOGICAL SOURCE t (a INT8)");  // what was refused is logged before what follows
    EXPECT_EQ(rows("SELECT error FROM baton.statements WHERE principal = 'ann'"), "5003\n");
}

TEST_F(DeskTest, OnlyAFewWorkAtOnce) {
    desk_.emplace(*coordinator_, DeskOptions{.threads = 8, .working_max = 1, .stall = 1h});
    std::atomic<int> working = 0;
    std::vector<std::future<int>> seen;
    for (int i = 0; i < 20; ++i) {
        const auto told = std::make_shared<std::promise<int>>();
        seen.push_back(told->get_future());
        come_in()->run([&working, told](bool) {
            const int together = ++working;
            std::this_thread::yield();
            --working;
            told->set_value(together);
        });
    }
    for (auto& together : seen) EXPECT_EQ(together.get(), 1);
}

TEST_F(DeskTest, WhoWaitsMakesRoomForAnother) {
    desk_.emplace(*coordinator_, DeskOptions{.threads = 4, .working_max = 1, .stall = 1h});
    constexpr std::ptrdiff_t kTogether = 4;
    std::latch all(kTogether);
    std::latch gone(kTogether);
    for (std::ptrdiff_t i = 0; i < kTogether; ++i) {
        come_in()->run([&](bool) {
            {
                const Waiting waiting;
                all.arrive_and_wait();  // only if all of them are let in
            }
            gone.count_down();
        });
    }
    gone.wait();
}

TEST_F(DeskTest, WhatIsStuckWithoutSayingSoHoldsNobodyUpForLong) {
    desk_.emplace(*coordinator_, DeskOptions{.threads = 4, .working_max = 1, .stall = 1ms});
    constexpr std::ptrdiff_t kTogether = 4;
    std::latch all(kTogether);
    std::latch gone(kTogether);
    for (std::ptrdiff_t i = 0; i < kTogether; ++i) {
        come_in()->run([&](bool) {
            all.arrive_and_wait();
            gone.count_down();
        });
    }
    gone.wait();
}

TEST_F(DeskTest, WhatAVisitorAsksIsRunInOrder) {
    const auto visitor = come_in();
    std::promise<Execution> last;
    visitor->ask({.text = "BEGIN"}, [](const Execution&) {});
    visitor->ask({.text = "CREATE LOGICAL SOURCE s (a INT8)"}, [&](const Execution&) {
        EXPECT_EQ(visitor->transaction(), Visitor::Transaction::open);
    });
    visitor->ask({.text = "COMMIT"}, [&](Execution e) { last.set_value(std::move(e)); });
    EXPECT_FALSE(last.get_future().get().error);
    EXPECT_EQ(rows("SELECT name FROM baton.logical_sources"), "S\n");
}

TEST_F(DeskTest, AWaitIsCancelledAndWhatFollowsIsNot) {
    make_small_cluster();
    const auto visitor = come_in();
    std::promise<Execution> waited;
    visitor->ask(
        {.text = "CREATE QUERY q AS SELECT id FROM readings INTO alerts; WAIT FOR QUERY q"},
        [&](Execution e) { waited.set_value(std::move(e)); });
    auto answer = waited.get_future();
    while (answer.wait_for(1ms) != std::future_status::ready) visitor->cancel();
    const Execution execution = answer.get();
    ASSERT_TRUE(execution.error);
    EXPECT_EQ(execution.error->code, ErrorCode::cancelled);
    EXPECT_EQ(execution.results.size(), 1U);
    visitor->cancel();
    EXPECT_FALSE(asked(*visitor, {.text = "SHOW QUERIES"}).error);
}

TEST_F(DeskTest, TooMuchIsRefusedAndNothingHasHappened) {
    make_small_cluster();
    run("CREATE QUERY q AS SELECT id FROM readings INTO alerts");
    std::vector<std::shared_ptr<Visitor>> waiting;
    for (int i = 0; i < 5; ++i) {  // two are run, three wait
        waiting.push_back(come_in());
        waiting.back()->ask({.text = "WAIT FOR QUERY q"}, [](const Execution&) {});
        while (i < 2 && desk_->load().running < waiting.size()) std::this_thread::yield();
    }
    const auto late = come_in();
    const Execution refused = asked(*late, {.text = "CREATE LOGICAL SOURCE s (a INT8)"});
    ASSERT_TRUE(refused.error);
    EXPECT_EQ(refused.error->code, ErrorCode::slow_down);
    EXPECT_EQ(rows("SELECT name FROM baton.logical_sources WHERE name = 'S'"), "");
    run("DROP QUERY q");
}

TEST_F(DeskTest, ATextIsDescribedWithoutBeingRun) {
    const auto visitor = come_in();
    std::promise<Result<Described>> told;
    visitor->describe("SELECT name, used FROM baton.workers WHERE name = $1; DROP QUERY q",
                      [&](Result<Described> d) { told.set_value(std::move(d)); });
    const Result<Described> described = told.get_future().get();
    ASSERT_TRUE(described) << to_string(described.error());
    EXPECT_EQ(described->parameters, 1U);
    ASSERT_EQ(described->statements.size(), 2U);
    ASSERT_TRUE(described->statements[0].columns);
    EXPECT_EQ(described->statements[0].columns->at(1).type, ViewType::integer);
    EXPECT_FALSE(described->statements[1].columns);
}

}  // namespace
}  // namespace baton::front
