#include "worker/host/local_transport.h"

#include <vector>

#include <gtest/gtest.h>

#include "testing/workers/in_process_workers.h"

namespace baton::worker {
namespace {

class LocalTransportTest : public ::testing::Test {
protected:
    void listen(Transport& transport) {
        transport.listen([this](transport::Event event) { told_.push_back(std::move(event)); });
    }
    std::vector<transport::Event> told_;
};

TEST_F(LocalTransportTest, AnAddressLeadsToTheOtherTransport) {
    testing::InProcessWorkers remote;
    remote.start("EDGE");
    LocalTransport local(&remote);
    listen(local.transport());
    local.transport().dial("EDGE", Address{.host = "edge", .port = 1}, 1,
                           {.epoch = Epoch(1), .worker = "EDGE"});
    ASSERT_EQ(told_.size(), 1U);
    EXPECT_TRUE(std::holds_alternative<transport::Dialled>(told_[0]));
    local.transport().send("EDGE", 1, control::Beat{.number = 4});
    ASSERT_EQ(told_.size(), 2U);
    EXPECT_TRUE(std::holds_alternative<transport::MessageArrived>(told_[1]));
    local.transport().hang_up("EDGE", 1);
    local.transport().send("EDGE", 1, control::Beat{.number = 5});
    EXPECT_EQ(told_.size(), 2U);
}

TEST_F(LocalTransportTest, WithoutAnotherTransportAnAddressLeadsNowhere) {
    LocalTransport local;
    listen(local.transport());
    local.transport().dial("EDGE", Address{.host = "edge", .port = 1}, 1, {});
    ASSERT_EQ(told_.size(), 1U);
    EXPECT_TRUE(std::holds_alternative<transport::DialFailed>(told_[0]));
}

TEST_F(LocalTransportTest, WhatIsSaidArrivesAtTheOtherEnd) {
    LocalTransport local;
    listen(local.transport());
    std::vector<sessions::Event> heard;
    local.sessions().listen([&](sessions::Event event) { heard.push_back(std::move(event)); });
    local.transport().dial("W", std::nullopt, 7, {.epoch = Epoch(2), .worker = "W"});
    ASSERT_EQ(heard.size(), 1U);
    const auto session = std::get<sessions::Greeted>(heard[0]).session;
    local.sessions().welcome(session, control::Welcome{.incarnation = Incarnation(3)});
    local.sessions().send(session, control::Pulse{.beat = 1});
    ASSERT_EQ(told_.size(), 2U);
    EXPECT_EQ(std::get<transport::Dialled>(told_[0]).attempt, 7U);
    local.transport().hang_up("W", 7);
    ASSERT_EQ(heard.size(), 2U);
    EXPECT_EQ(std::get<sessions::HungUp>(heard[1]).session, session);
    local.sessions().send(session, control::Pulse{.beat = 2});
    EXPECT_EQ(told_.size(), 2U);
}

}  // namespace
}  // namespace baton::worker
