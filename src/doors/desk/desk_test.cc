#include "doors/desk/desk.h"

#include <atomic>
#include <future>
#include <latch>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "testing/coordinator/coordinator_test_base.h"
#include "testing/eventually.h"

namespace baton::desk {
namespace {

using namespace std::chrono_literals;
using testing::eventually;

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
    static coordinator::Execution asked(Visitor& visitor, Request request) {
        std::promise<coordinator::Execution> answer;
        visitor.ask(std::move(request),
                    [&](coordinator::Execution e) { answer.set_value(std::move(e)); });
        return answer.get_future().get();
    }

    std::optional<Desk> desk_;
};

TEST_F(DeskTest, AVisitorIsAnsweredAndLogged) {
    const auto visitor = come_in();
    const coordinator::Execution made =
        asked(*visitor, {.text = "CREATE WORKER 'a:1' SET ($1 AS NAME)", .parameters = {"W"}});
    ASSERT_FALSE(made.error) << to_string(*made.error);
    EXPECT_EQ(rows("SELECT name FROM baton.workers"), "W\n");
    EXPECT_EQ(rows("SELECT principal FROM baton.statements WHERE outcome = 'OK'"), "ann\n");
}

TEST_F(DeskTest, WhatARoleDoesNotAllowIsRefusedWholeAndLogged) {
    const auto visitor = come_in(Role::writer);
    const coordinator::Execution made =
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
                const threads::Waiting waiting;
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
    std::promise<coordinator::Execution> last;
    visitor->ask({.text = "BEGIN"}, [](const coordinator::Execution&) {});
    visitor->ask({.text = "CREATE LOGICAL SOURCE s (a INT8)"}, [&](const coordinator::Execution&) {
        EXPECT_EQ(visitor->transaction(), Visitor::Transaction::open);
    });
    visitor->ask({.text = "COMMIT"},
                 [&](coordinator::Execution e) { last.set_value(std::move(e)); });
    EXPECT_FALSE(last.get_future().get().error);
    EXPECT_EQ(rows("SELECT name FROM baton.logical_sources"), "S\n");
}

TEST_F(DeskTest, AWaitIsCancelledAndWhatFollowsIsNot) {
    make_small_cluster();
    const auto visitor = come_in();
    std::promise<coordinator::Execution> waited;
    visitor->ask(
        {.text = "CREATE QUERY q AS SELECT id FROM readings INTO alerts; WAIT FOR QUERY q"},
        [&](coordinator::Execution e) { waited.set_value(std::move(e)); });
    auto answer = waited.get_future();
    ASSERT_TRUE(eventually([&] {
        visitor->cancel();
        return answer.wait_for(0s) == std::future_status::ready;
    }));
    const coordinator::Execution execution = answer.get();
    ASSERT_TRUE(execution.error);
    EXPECT_EQ(execution.error->code, ErrorCode::cancelled);
    EXPECT_EQ(execution.results.size(), 1U);
    visitor->cancel();
    EXPECT_FALSE(asked(*visitor, {.text = "SHOW QUERIES"}).error);
}

// Blocks threads of the desk until it ends.
class Blockade {
public:
    void block(Visitor& visitor) {
        visitor.run([over = over_](bool may) {
            if (may) over->wait();
        });
    }
    ~Blockade() { over_->count_down(); }

private:
    std::shared_ptr<std::latch> over_ = std::make_shared<std::latch>(1);
};

TEST_F(DeskTest, TooMuchIsRefusedAndNothingHasHappened) {
    desk_.emplace(*coordinator_, DeskOptions{.threads = 2, .waiting_max = 6});
    Blockade blockade;
    std::vector<std::shared_ptr<Visitor>> visitors;
    const auto busy = [&](const std::string& name) {
        visitors.push_back(desk_->visitor({.name = name, .role = Role::admin}));
        blockade.block(*visitors.back());
    };
    for (int i = 0; i < 2; ++i) {
        busy("ann");
        ASSERT_TRUE(eventually([&] { return desk_->load().running == visitors.size(); }));
    }
    const auto refused = [&](const std::string& name) {
        const auto late = desk_->visitor({.name = name, .role = Role::admin});
        const auto answer = std::make_shared<std::promise<coordinator::Execution>>();
        late->ask({.text = "CREATE LOGICAL SOURCE s (a INT8)"},
                  [answer](coordinator::Execution e) { answer->set_value(std::move(e)); });
        auto future = answer->get_future();
        if (future.wait_for(0s) != std::future_status::ready) return std::string("waits");
        return std::string(entry_of(future.get().error->code).name);
    };
    for (int i = 0; i < 3; ++i) busy("ann");
    EXPECT_EQ(refused("ann"), "slow_down");  // half of the places are hers, and full
    EXPECT_EQ(desk_->load().waiting, 3U);
    for (int i = 0; i < 3; ++i) busy("bob");
    EXPECT_EQ(refused("eve"), "slow_down");
    EXPECT_EQ(rows("SELECT name FROM baton.logical_sources WHERE name = 'S'"), "");
}

TEST_F(DeskTest, AThousandWaitsTakeNoThread) {
    make_small_cluster();
    run("CREATE QUERY q AS SELECT id FROM readings INTO alerts");
    constexpr std::size_t kWaits = 1'000;
    std::latch all(kWaits);
    std::atomic<int> dropped = 0;
    std::vector<std::shared_ptr<Visitor>> waiting;
    for (std::size_t i = 0; i < kWaits; ++i) {
        waiting.push_back(desk_->visitor({.name = "user" + std::to_string(i % 4)}));
        // Two threads and three places: it is asked again until there is one.
        ASSERT_TRUE(eventually([&] { return desk_->load().waiting == 0; }));
        waiting.back()->ask({.text = "WAIT FOR QUERY q"}, [&](const coordinator::Execution& e) {
            if (e.error && e.error->code == ErrorCode::wait_timed_out) dropped += 1;
            all.count_down();
        });
    }
    ASSERT_TRUE(eventually([&] { return desk_->load().standing == kWaits; }));
    ASSERT_TRUE(eventually([&] { return desk_->load().running == 0; }));
    const auto reader = come_in();
    EXPECT_FALSE(asked(*reader, {.text = "SHOW QUERIES"}).error);
    EXPECT_FALSE(asked(*reader, {.text = "DROP QUERY q"}).error);
    all.wait();
    EXPECT_EQ(dropped, kWaits);
    EXPECT_EQ(desk_->load().standing, 0U);
}

TEST_F(DeskTest, AWaitEndsWhenItsTimeIsOver) {
    make_small_cluster();
    const auto visitor = come_in();
    const coordinator::Execution waited =
        asked(*visitor, {.text = "CREATE QUERY q AS SELECT id FROM readings INTO alerts",
                         .wait = {.until = Wait::Until::steady, .timeout = 20ms}});
    ASSERT_TRUE(waited.error);
    EXPECT_EQ(waited.error->code, ErrorCode::wait_timed_out);
    EXPECT_EQ(waited.results.size(), 1U);
}

TEST_F(DeskTest, WhatStandsStillIsAnsweredWhenTheDeskCloses) {
    make_small_cluster();
    run("CREATE QUERY q AS SELECT id FROM readings INTO alerts");
    std::promise<coordinator::Execution> answer;
    come_in()->ask({.text = "WAIT FOR QUERY q"},
                   [&](coordinator::Execution e) { answer.set_value(std::move(e)); });
    ASSERT_TRUE(eventually([&] { return desk_->load().standing == 1; }));
    desk_.reset();
    EXPECT_TRUE(answer.get_future().get().error);
}

TEST_F(DeskTest, OneUserMayNotHaveAllThePlacesOfThoseWhoWait) {
    make_small_cluster();
    run("CREATE QUERY q AS SELECT id FROM readings INTO alerts");
    desk_.emplace(*coordinator_, DeskOptions{.threads = 2, .standing_max = 4});
    std::vector<std::shared_ptr<Visitor>> waiting;
    for (int i = 0; i < 2; ++i) {
        waiting.push_back(come_in());
        waiting.back()->ask({.text = "WAIT FOR QUERY q"}, [](const coordinator::Execution&) {});
    }
    ASSERT_TRUE(eventually([&] { return desk_->load().standing == 2; }));
    const coordinator::Execution refused = asked(*come_in(), {.text = "WAIT FOR QUERY q"});
    ASSERT_TRUE(refused.error);
    EXPECT_EQ(refused.error->code, ErrorCode::wait_timed_out);
    const auto other = desk_->visitor({.name = "bob", .role = Role::reader});
    other->ask({.text = "WAIT FOR QUERY q"}, [](const coordinator::Execution&) {});
    ASSERT_TRUE(eventually([&] { return desk_->load().standing == 3; }));
    run("DROP QUERY q");
}

TEST_F(DeskTest, HealthIsAnsweredWhileEveryThreadIsTaken) {
    Blockade blockade;
    std::vector<std::shared_ptr<Visitor>> visitors;
    for (int i = 0; i < 2; ++i) {
        visitors.push_back(come_in());
        blockade.block(*visitors.back());
        ASSERT_TRUE(eventually([&] { return desk_->load().running == visitors.size(); }));
    }
    const auto probe = desk_->visitor({.name = "health", .role = Role::reader}, Line::probes);
    EXPECT_FALSE(asked(*probe, {.text = "SHOW WORKERS"}).error);
    const auto page = desk_->visitor({.name = "health", .role = Role::reader}, Line::pages);
    EXPECT_FALSE(asked(*page, {.text = "SHOW WORKERS"}).error);
}

TEST_F(DeskTest, TransactionsThatHaveReadAndStandOpenKeepNobodyFromReading) {
    std::vector<std::shared_ptr<Visitor>> idle;
    for (int i = 0; i < 100; ++i) {
        idle.push_back(come_in());
        ASSERT_FALSE(asked(*idle.back(), {.text = "BEGIN; SHOW WORKERS"}).error);
    }
    EXPECT_FALSE(asked(*come_in(), {.text = "SHOW WORKERS"}).error);
    EXPECT_LE(coordinator_->transaction_views().kept(), 8U);
    // A transaction that gave way reads on, as long as nothing of that has changed.
    EXPECT_FALSE(asked(*idle.front(), {.text = "SHOW WORKERS"}).error);
    run("CREATE WORKER 'a:1'");
    EXPECT_FALSE(asked(*idle.front(), {.text = "SHOW SINKS"}).error);
    const coordinator::Execution overtaken = asked(*idle.front(), {.text = "SHOW WORKERS"});
    ASSERT_TRUE(overtaken.error);
    EXPECT_EQ(overtaken.error->code, ErrorCode::conflict);
    EXPECT_EQ(idle.front()->transaction(), Visitor::Transaction::failed);
    // One that did not sees the same as before.
    EXPECT_FALSE(asked(*idle.back(), {.text = "SHOW WORKERS"}).error);
}

TEST_F(DeskTest, ATextIsDescribedWithoutBeingRun) {
    const auto visitor = come_in();
    std::promise<Result<coordinator::Described>> told;
    visitor->describe("SELECT name, used FROM baton.workers WHERE name = $1; DROP QUERY q",
                      [&](Result<coordinator::Described> d) { told.set_value(std::move(d)); });
    const Result<coordinator::Described> described = told.get_future().get();
    ASSERT_TRUE(described) << to_string(described.error());
    EXPECT_EQ(described->parameters, 1U);
    ASSERT_EQ(described->statements.size(), 2U);
    ASSERT_TRUE(described->statements[0].columns);
    EXPECT_EQ(described->statements[0].columns->at(1).type, kinds::ViewType::integer);
    EXPECT_FALSE(described->statements[1].columns);
}

}  // namespace
}  // namespace baton::desk
