#include "coordinator/control/guarded_transport.h"

#include <vector>

#include <gtest/gtest.h>

namespace baton::coordinator {
namespace {

// Notes what it is asked to do.
class RefusingTransport final : public Transport {
public:
    void listen(Listener listener) override { listener_ = std::move(listener); }
    void dial(const std::string& worker, const std::optional<Address>& /*address*/,
              transport::Attempt /*attempt*/, const control::Hello& /*hello*/) override {
        asked.push_back("dial " + worker);
    }
    void send(const std::string& worker, transport::Attempt /*attempt*/,
              const control::Down& /*message*/) override {
        asked.push_back("send " + worker);
    }
    void hang_up(const std::string& worker, transport::Attempt /*attempt*/) override {
        asked.push_back("hang up " + worker);
    }
    void refuse(Epoch highest) {
        listener_(
            transport::DialFailed{.worker = "W", .attempt = 1, .why = "no", .highest = highest});
    }

    std::vector<std::string> asked;

private:
    Listener listener_;
};

using Texts = std::vector<std::string>;

class GuardedTransportTest : public ::testing::Test {
protected:
    RefusingTransport real_;
    bool leads_ = true;
    std::vector<Epoch> heard_;
    GuardedTransport guarded_{real_,
                              {.may_act = [this] { return leads_; },
                               .heard_of = [this](Epoch epoch) { heard_.push_back(epoch); }},
                              Epoch(5)};
};

TEST_F(GuardedTransportTest, ATermThatIsOverDialsNobodyAndSendsNothing) {
    guarded_.dial("W", std::nullopt, 1, control::Hello{.epoch = Epoch(5), .worker = "W"});
    guarded_.send("W", 1, control::Beat{});
    leads_ = false;
    guarded_.dial("W", std::nullopt, 2, control::Hello{.epoch = Epoch(5), .worker = "W"});
    guarded_.send("W", 1, control::Beat{});
    guarded_.hang_up("W", 1);
    EXPECT_EQ(real_.asked, (Texts{"dial W", "send W", "hang up W"}));
}

TEST_F(GuardedTransportTest, AnEpochAboveThatOfTheTermIsHeardOf) {
    int told = 0;
    guarded_.listen([&](const transport::Event&) { told += 1; });
    real_.refuse(Epoch(0));  // for another reason
    real_.refuse(Epoch(5));
    EXPECT_EQ(heard_, std::vector<Epoch>{});
    real_.refuse(Epoch(7));
    EXPECT_EQ(heard_, std::vector<Epoch>{Epoch(7)});
    EXPECT_EQ(told, 3);
}

TEST_F(GuardedTransportTest, WithoutAGuardEverythingPasses) {
    GuardedTransport open(real_, {}, Epoch(5));
    open.listen([](const transport::Event&) {});
    real_.refuse(Epoch(7));
    open.send("W", 1, control::Beat{});
    EXPECT_EQ(real_.asked, Texts{"send W"});
}

}  // namespace
}  // namespace baton::coordinator
