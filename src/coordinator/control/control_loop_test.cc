// A coordinator with a decision thread of its own and workers in this process.
#include "coordinator/control/control_loop.h"

#include <gtest/gtest.h>

#include "testing/coordinator/coordinator_test_base.h"
#include "testing/workers/in_process_workers.h"

namespace baton::coordinator {
namespace {

using testing::CoordinatorTest;
using testing::DoubleEngine;
using testing::InProcessWorkers;

class ControlLoopTest : public CoordinatorTest {
protected:
    void SetUp() override {
        for (const std::string worker : {"HUB", "EDGE"}) workers_.start(worker);
        CoordinatorOptions options;
        options.transport = &workers_;
        open(options);
        make_small_cluster();
    }
    void TearDown() override {
        session_.reset();
        coordinator_.reset();
    }
    static constexpr std::string_view kQuery =
        "CREATE QUERY q AS SELECT id FROM readings INTO alerts";

    InProcessWorkers workers_;
};

TEST_F(ControlLoopTest, AQueryIsCreatedRunsAndIsStopped) {
    run(kQuery);
    run("WAIT FOR QUERY q STATE RUNNING TIMEOUT 60 SEC");
    EXPECT_EQ(workers_.running("EDGE").size(), 1U);
    EXPECT_EQ(workers_.running("HUB").size(), 1U);
    run("STOP QUERY q");
    run("WAIT FOR QUERY q STATE STOPPED TIMEOUT 60 SEC");
    EXPECT_TRUE(workers_.running("EDGE").empty());
    EXPECT_TRUE(workers_.running("HUB").empty());
}

TEST_F(ControlLoopTest, ADropEndsAWaitAndFreesTheName) {
    run(kQuery);
    run("WAIT FOR QUERY q STATE RUNNING TIMEOUT 60 SEC");
    run("DROP QUERY q");
    // The wait ends when the row is gone, or finds it gone already.
    const Error error = error_of("WAIT FOR QUERY q STATE STOPPED TIMEOUT 60 SEC");
    EXPECT_TRUE(error.code == ErrorCode::wait_timed_out || error.code == ErrorCode::unknown_query)
        << to_string(error);
}

TEST_F(ControlLoopTest, AWaitForWhatCannotComeEndsAndSaysWhy) {
    workers_.with_engine("EDGE", [](DoubleEngine& engine) -> DoubleEngine::Reports {
        engine.fail_prepares(DoubleEngine::Trouble{control::Fault::terminal, "no such function"});
        return {};
    });
    run(kQuery);
    const Error error = error_of("WAIT FOR QUERY q STATE RUNNING TIMEOUT 60 SEC");
    EXPECT_EQ(error.code, ErrorCode::wait_timed_out);
    EXPECT_NE(error.message.find("can no longer be RUNNING"), std::string::npos) << error.message;
    EXPECT_NE(error.message.find("no such function"), std::string::npos) << error.message;
    run("WAIT FOR QUERY q STATE FAILED TIMEOUT 60 SEC");
}

TEST_F(ControlLoopTest, AWorkerThatIsRestartedMakesANextRun) {
    run(kQuery);
    run("WAIT FOR QUERY q STATE RUNNING TIMEOUT 60 SEC");
    auto watch =
        coordinator_->watch(*views::ViewQuery::from(sql::Show{.what = sql::ShowWhat::queries}));
    ASSERT_TRUE(watch);
    workers_.start("EDGE");
    const Instant deadline = clock_.now() + std::chrono::seconds(60);
    while (rows("SELECT RUN, STATE FROM baton.QUERIES") != "2|RUNNING\n") {
        ASSERT_LT(clock_.now(), deadline);
        ASSERT_TRUE((*watch)->next(deadline - clock_.now()));
    }
    EXPECT_EQ(workers_.running("EDGE").size(), 1U);
    EXPECT_EQ(workers_.running("EDGE").begin()->run, 2U);
}

TEST_F(ControlLoopTest, ManyQueriesComeToRun) {
    constexpr int kCount = 200;
    for (int i = 0; i < kCount; ++i) {
        run("CREATE QUERY q" + std::to_string(i) + " AS SELECT id FROM readings INTO alerts");
    }
    for (int i = 0; i < kCount; ++i) {
        run("WAIT FOR QUERY q" + std::to_string(i) + " STATE RUNNING TIMEOUT 60 SEC");
    }
    EXPECT_EQ(workers_.running("EDGE").size(), kCount);
}

// Notes which streams are open, and what was dialled twice.
class NotingTransport final : public Transport {
public:
    explicit NotingTransport(Transport& real) : real_(real) {}
    void listen(Listener listener) override { real_.listen(std::move(listener)); }
    void dial(const std::string& worker, const std::optional<Address>& address,
              transport::Attempt attempt, const control::Hello& hello) override {
        if (!dialled_.emplace(worker, attempt).second) twice_ += 1;
        open_.emplace(worker, attempt);
        dials_ += 1;
        real_.dial(worker, address, attempt, hello);
    }
    void send(const std::string& worker, transport::Attempt attempt,
              const control::Down& message) override {
        real_.send(worker, attempt, message);
    }
    void hang_up(const std::string& worker, transport::Attempt attempt) override {
        open_.erase({worker, attempt});
        real_.hang_up(worker, attempt);
    }
    // When no term is under way.
    [[nodiscard]] std::size_t open() const { return open_.size(); }
    [[nodiscard]] int twice() const { return twice_; }
    [[nodiscard]] int dials() const { return dials_; }  // at any time

private:
    Transport& real_;
    std::set<std::pair<std::string, transport::Attempt>> dialled_;
    std::set<std::pair<std::string, transport::Attempt>> open_;
    int twice_ = 0;
    std::atomic<int> dials_ = 0;
};

class TermsTest : public CoordinatorTest {
protected:
    void SetUp() override {
        for (const std::string worker : {"HUB", "EDGE"}) workers_.start(worker);
        CoordinatorOptions options;
        options.transport = &noting_;
        open(options);
        make_small_cluster();
    }
    void TearDown() override {
        session_.reset();
        coordinator_.reset();
    }
    InProcessWorkers workers_;
    NotingTransport noting_{workers_};
};

TEST_F(TermsTest, ATermThatEndsHangsUpAndTheNextOneDialsUnderNumbersOfItsOwn) {
    run("CREATE QUERY q AS SELECT id FROM readings INTO alerts");
    run("WAIT FOR QUERY q STATE RUNNING TIMEOUT 60 SEC");
    coordinator_->follow();
    EXPECT_EQ(noting_.open(), 0U);
    for (const Epoch epoch : {Epoch(1), Epoch(2)}) {
        const int before = noting_.dials();
        ASSERT_TRUE(coordinator_->lead(epoch));
        const Instant deadline = clock_.now() + std::chrono::seconds(60);
        while (noting_.dials() < before + 2) {
            ASSERT_LT(clock_.now(), deadline);
            std::this_thread::yield();
        }
        coordinator_->follow();
        EXPECT_EQ(noting_.open(), 0U);
    }
    EXPECT_EQ(noting_.twice(), 0);
}

TEST(ControlMailbox, DropsOnlyWhatNobodyAskedForWhenItIsFull) {
    ControlMailbox mailbox(1);
    const auto pulse = [](std::uint64_t beat) {
        return transport::MessageArrived{
            .worker = "W", .attempt = 1, .message = control::Pulse{beat}};
    };
    mailbox.post(pulse(0));
    mailbox.post(pulse(0));  // dropped
    mailbox.post(pulse(7));
    mailbox.changed({{.entity = kinds::Entity::query, .key = "1"}});
    mailbox.changed({{.entity = kinds::Entity::query, .key = "1"}});
    const auto taken = mailbox.take(Duration::zero());
    ASSERT_EQ(taken.size(), 3U);
    const auto& heard = std::get<transport::MessageArrived>(taken[1]);
    EXPECT_EQ(std::get<control::Pulse>(heard.message).beat, 7U);
    EXPECT_EQ(std::get<control_event::Changed>(taken[2]).keys.size(), 1U);
}

TEST(ControlMailbox, IgnoresWhatComesAfterItWasClosed) {
    ControlMailbox mailbox(1);
    mailbox.close();
    mailbox.post(control_event::Tick{});
    EXPECT_TRUE(mailbox.take(std::nullopt).empty());
}

}  // namespace
}  // namespace baton::coordinator
