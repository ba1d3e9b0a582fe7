#include "adapters/system/listening.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include "adapters/system/peer_user.h"

namespace baton::system {
namespace {

OpenFile connected_to(std::uint16_t port) {
    OpenFile socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    EXPECT_EQ(::connect(*socket, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
    return socket;
}

TEST(ListenAt, AllAddressesOfANameShareOnePort) {
    const auto listening = listen_at({.host = "localhost", .port = 0});
    ASSERT_TRUE(listening) << to_string(listening.error());
    EXPECT_NE(listening->port, 0);
    EXPECT_FALSE(listening->sockets.empty());
    EXPECT_TRUE(connected_to(listening->port).is_open());
}

TEST(ListenAt, WhatCannotBeHadIsAnErrorWithItsReason) {
    const auto first = listen_at({.host = "127.0.0.1", .port = 0});
    ASSERT_TRUE(first);
    const auto taken = listen_at({.host = "127.0.0.1", .port = first->port});
    ASSERT_FALSE(taken);
    EXPECT_NE(taken.error().message.find("already in use"), std::string::npos);
    const auto elsewhere = listen_at({.host = "192.0.2.1", .port = 0});
    ASSERT_FALSE(elsewhere);
    EXPECT_EQ(elsewhere.error().code, ErrorCode::invalid_configuration);
    EXPECT_FALSE(listen_at({.host = "no.such.host.invalid", .port = 0}));
}

TEST(UserOfPeer, IsThatOfThisProcessForItsOwnConnections) {
    const auto listening = listen_at({.host = "127.0.0.1", .port = 0});
    ASSERT_TRUE(listening);
    const OpenFile caller = connected_to(listening->port);
    const OpenFile called(::accept4(*listening->sockets.front(), nullptr, nullptr, SOCK_CLOEXEC));
    ASSERT_TRUE(called.is_open());
    EXPECT_NE(user_of_peer(*called), PeerUser::another);
    EXPECT_EQ(user_of_peer(-1), PeerUser::unknown);
}

}  // namespace
}  // namespace baton::system
