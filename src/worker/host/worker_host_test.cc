#include "worker/host/worker_host.h"

#include <condition_variable>
#include <filesystem>
#include <mutex>

#include <gtest/gtest.h>

#include "adapters/system/epoch_file.h"
#include "adapters/system/system_clock.h"
#include "testing/temporary_directory.h"
#include "testing/workers/double_engine.h"
#include "worker/host/local_transport.h"

namespace baton::worker {
namespace {

using namespace std::chrono_literals;

constexpr FragmentKey kKey{.query = QueryId(3), .run = 1, .fragment = FragmentId(7)};

// The double of the tests as an engine: reports come before the call returns.
class ReportingEngine final : public Engine {
public:
    void listen(Listener listener) override {
        const std::lock_guard lock(mutex_);
        listener_ = std::move(listener);
    }
    void prepare(const FragmentKey& key, const std::string& plan) override {
        obey(engine_calls::Prepare{.key = key, .plan = plan});
    }
    void start(const FragmentKey& key) override { obey(engine_calls::Start{key}); }
    void drain(const FragmentKey& key) override { obey(engine_calls::Drain{key}); }
    void abort(const FragmentKey& key) override { obey(engine_calls::Abort{key}); }
    [[nodiscard]] std::vector<control::FragmentCounts> counts() const override {
        return {{.key = kKey, .counts = {.rows_in = 12}}};
    }

private:
    void obey(const engine_calls::EngineCommand& order) {
        const std::lock_guard lock(mutex_);
        for (const fragments::Event& event : double_.obey(order)) listener_(event);
    }
    std::mutex mutex_;
    Listener listener_;
    testing::DoubleEngine double_;
};

// A coordinator that dials the embedded worker and waits for what it is told.
class WorkerHostTest : public ::testing::Test {
protected:
    WorkerHostTest() {
        local_.transport().listen([this](transport::Event event) {
            const std::lock_guard lock(mutex_);
            told_.push_back(std::move(event));
            changed_.notify_all();
        });
    }
    ~WorkerHostTest() override { local_.transport().listen(nullptr); }

    void start(std::uint64_t incarnation = 1) {
        host_.reset();
        auto started = WorkerHost::start({.incarnation = Incarnation(incarnation)},
                                         {.engine = engine_,
                                          .doors = {&local_.sessions()},
                                          .clock = clock_,
                                          .epochs = epochs_,
                                          .partitions = partitions_});
        ASSERT_TRUE(started);
        host_ = *std::move(started);
    }
    void dial(transport::Attempt attempt, Epoch epoch = Epoch(5)) {
        local_.transport().dial("LOCAL", std::nullopt, attempt,
                                {.epoch = epoch, .worker = "LOCAL"});
    }
    void say(const control::Down& message, transport::Attempt attempt = 1) {
        local_.transport().send("LOCAL", attempt, message);
    }
    void order(const control::WorkerCommand& order) {
        say(control::Command{.request = ++request_, .epoch = Epoch(5), .what = order});
    }
    // The first event of this kind that fits; earlier ones are forgotten.
    template <class Kind>
    Kind await(const std::function<bool(const Kind&)>& fits = [](const Kind&) { return true; }) {
        std::unique_lock lock(mutex_);
        std::optional<Kind> found;
        changed_.wait_for(lock, 20s, [&] {
            while (!found && !told_.empty()) {
                const auto* event = std::get_if<Kind>(&told_.front());
                if (event != nullptr && fits(*event)) found = *event;
                told_.erase(told_.begin());
            }
            return found.has_value();
        });
        EXPECT_TRUE(found) << "it did not come";
        return found.value_or(Kind{});
    }
    void await_state(FragmentState state) {
        (void)await<transport::MessageArrived>([&](const transport::MessageArrived& heard) {
            const auto* pulse = std::get_if<control::Pulse>(&heard.message);
            return pulse != nullptr && !pulse->changed.empty() &&
                   pulse->changed.back().state == state;
        });
    }

    LocalTransport local_;
    ReportingEngine engine_;
    system::SystemClock clock_;
    EpochStore* epochs_ = nullptr;
    PartitionUser* partitions_ = nullptr;
    std::unique_ptr<WorkerHost> host_;
    std::mutex mutex_;
    std::condition_variable changed_;
    std::vector<transport::Event> told_;
    std::uint64_t request_ = 0;
};

TEST_F(WorkerHostTest, AFragmentIsRegisteredStartedAndStopped) {
    start();
    dial(1);
    EXPECT_EQ(await<transport::Dialled>().welcome.incarnation, Incarnation(1));
    order(control::RegisterFragment{.key = kKey, .plan = "plan"});
    await_state(FragmentState::registered);
    order(control::StartFragment{kKey});
    await_state(FragmentState::running);
    order(control::StopFragment{.key = kKey, .mode = StopMode::graceful});
    await_state(FragmentState::stopped);
}

TEST_F(WorkerHostTest, ABeatIsAnsweredWithWhatTheEngineCounted) {
    start();
    dial(1);
    (void)await<transport::Dialled>();
    say(control::Beat{.number = 8, .seen = 0});
    const auto pulse = std::get<control::Pulse>(await<transport::MessageArrived>().message);
    EXPECT_EQ(pulse.beat, 8U);
    ASSERT_EQ(pulse.counts.size(), 1U);
    EXPECT_EQ(pulse.counts[0].counts.rows_in, 12U);
}

TEST_F(WorkerHostTest, TheNewestCoordinatorIsObeyedAndOthersAreHungUpOn) {
    start();
    dial(1);
    (void)await<transport::Dialled>();
    dial(2);
    (void)await<transport::Dialled>();
    EXPECT_EQ(await<transport::Broken>().attempt, 1U);
    say(control::Beat{.number = 1}, 1);
    say(control::Beat{.number = 2}, 2);
    EXPECT_EQ(std::get<control::Pulse>(await<transport::MessageArrived>().message).beat, 2U);
}

TEST_F(WorkerHostTest, AnEpochHoldsOverRestarts) {
    const testing::TemporaryDirectory directory;
    system::EpochFile file = *system::EpochFile::open(directory.path());
    epochs_ = &file;
    start(1);
    dial(1, Epoch(8));
    (void)await<transport::Dialled>();
    EXPECT_EQ(file.load()->epoch, Epoch(8));
    start(2);
    dial(2, Epoch(7));
    const auto failed = await<transport::DialFailed>();
    EXPECT_EQ(failed.highest, Epoch(8));
    dial(3, Epoch(8));
    EXPECT_EQ(await<transport::Dialled>().welcome.incarnation, Incarnation(2));
    host_.reset();
}

TEST_F(WorkerHostTest, AnEpochThatCannotBeKeptWelcomesNobody) {
    const testing::TemporaryDirectory directory;
    system::EpochFile file = *system::EpochFile::open(directory.path());
    std::filesystem::create_directory(directory / "epoch.next");  // in its way
    epochs_ = &file;
    start();
    dial(1);
    EXPECT_NE(await<transport::DialFailed>().why.find("cannot be kept"), std::string::npos);
    host_.reset();
}

TEST_F(WorkerHostTest, AWorkerThatLeavesBreaksItsStreams) {
    start();
    dial(1);
    (void)await<transport::Dialled>();
    host_.reset();
    (void)await<transport::Broken>();
    dial(2);
    EXPECT_EQ(await<transport::DialFailed>().why, "no worker is embedded here");
}

TEST_F(WorkerHostTest, ADrainWaitsForWhatLivesAndTakesNothingNew) {
    start();
    EXPECT_TRUE(host_->drain(0ms) || host_->drain(20s));
    start();
    dial(1);
    order(control::RegisterFragment{.key = kKey, .plan = "plan"});
    await_state(FragmentState::registered);
    EXPECT_FALSE(host_->drain(1ms));
    order(control::RegisterFragment{.key = {.query = QueryId(4)}, .plan = "plan"});
    (void)await<transport::MessageArrived>([](const transport::MessageArrived& heard) {
        const auto* answer = std::get_if<control::CommandAnswer>(&heard.message);
        const auto* no =
            answer == nullptr ? nullptr : std::get_if<control::Refusal>(&answer->outcome);
        return no != nullptr && no->why == "the worker is draining";
    });
    order(control::StopFragment{.key = kKey, .mode = StopMode::forceful});
    await_state(FragmentState::stopped);
    EXPECT_FALSE(host_->drain(1ms));  // until it is known how it ended
    order(control::ForgetFragment{kKey});
    EXPECT_TRUE(host_->drain(20s));
    say(control::Beat{.number = 9});
    (void)await<transport::MessageArrived>([](const transport::MessageArrived& heard) {
        const auto* pulse = std::get_if<control::Pulse>(&heard.message);
        return pulse != nullptr && pulse->draining;
    });
}

}  // namespace
}  // namespace baton::worker
