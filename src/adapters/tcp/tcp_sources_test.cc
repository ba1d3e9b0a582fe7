#include "adapters/tcp/tcp_sources.h"

#include <cstring>
#include <string>
#include <thread>

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

namespace baton::tcp {
namespace {

using What = BytesRead::What;

constexpr Duration kLong = std::chrono::seconds(20);

// A server on a free port of this machine; connections are handled by the test.
class Server {
public:
    explicit Server(int family = AF_INET) : socket_(::socket(family, SOCK_STREAM, 0)) {
        const int on = 1;
        ::setsockopt(socket_, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
        sockaddr_storage address{};
        socklen_t size = 0;
        if (family == AF_INET) {
            auto* const in = reinterpret_cast<sockaddr_in*>(&address);
            in->sin_family = AF_INET;
            in->sin_addr.s_addr = htonl(INADDR_LOOPBACK);
            size = sizeof *in;
        } else {
            auto* const in = reinterpret_cast<sockaddr_in6*>(&address);
            in->sin6_family = AF_INET6;
            in->sin6_addr = in6addr_loopback;
            size = sizeof *in;
        }
        auto* const where = reinterpret_cast<sockaddr*>(&address);
        usable_ = ::bind(socket_, where, size) == 0 && ::listen(socket_, 8) == 0;
        ::getsockname(socket_, where, &size);
        port_ = ntohs(family == AF_INET ? reinterpret_cast<sockaddr_in*>(&address)->sin_port
                                        : reinterpret_cast<sockaddr_in6*>(&address)->sin6_port);
    }
    Server(const Server&) = delete;
    Server& operator=(const Server&) = delete;
    ~Server() { close(); }

    [[nodiscard]] bool usable() const { return usable_; }
    [[nodiscard]] std::uint16_t port() const { return port_; }
    [[nodiscard]] int accept() const { return ::accept(socket_, nullptr, nullptr); }
    void close() {
        if (socket_ >= 0) ::close(socket_);
        socket_ = -1;
    }

private:
    int socket_;
    bool usable_ = false;
    std::uint16_t port_ = 0;
};

void say(int connection, const std::string& text) {
    EXPECT_EQ(::send(connection, text.data(), text.size(), MSG_NOSIGNAL),
              static_cast<ssize_t>(text.size()));
}

// As a crash or a cable does: a reset, not an orderly close.
void reset(int connection) {
    const linger now{.l_onoff = 1, .l_linger = 0};
    ::setsockopt(connection, SOL_SOCKET, SO_LINGER, &now, sizeof now);
    ::close(connection);
}

// The next thing that is not "nothing yet".
BytesRead next(ByteSource& source, std::string& into) {
    std::string part(4096, ' ');
    for (int i = 0; i < 1000; ++i) {
        const auto read = source.read(part, kLong);
        EXPECT_TRUE(read.has_value());
        if (!read) return {};
        into.assign(part, 0, read->count);
        if (read->what != What::nothing) return *read;
    }
    return {};
}

TcpSources any_server() {
    static const targets::AllowedTargets kAll =
        *targets::AllowedTargets::of({.connect_to = {"*"}, .own_ports = {}});
    return TcpSources(kAll);
}

TEST(TcpSources, TheServersOrderlyCloseIsTheEnd) {
    const Server server;
    auto source = any_server().connect({.host = "127.0.0.1", .port = server.port()});
    ASSERT_TRUE(source.has_value()) << to_string(source.error());
    const int connection = server.accept();
    say(connection, "1,a\n");
    std::string got;
    EXPECT_EQ(next(**source, got).what, What::bytes);
    EXPECT_EQ(got, "1,a\n");
    ::close(connection);
    EXPECT_EQ(next(**source, got).what, What::end);
}

TEST(TcpSources, ALostConnectionIsMadeAgain) {
    const Server server;
    auto source = any_server().connect({.host = "localhost", .port = server.port()});
    ASSERT_TRUE(source.has_value()) << to_string(source.error());
    int connection = server.accept();
    say(connection, "first");
    std::string got;
    EXPECT_FALSE(next(**source, got).reconnected);
    EXPECT_EQ(got, "first");
    reset(connection);
    std::thread comes_back([&] {
        connection = server.accept();
        say(connection, "second");
    });
    const BytesRead read = next(**source, got);
    comes_back.join();
    EXPECT_EQ(read.what, What::bytes);
    EXPECT_TRUE(read.reconnected);
    EXPECT_EQ(got, "second");
    ::close(connection);
    EXPECT_EQ(next(**source, got).what, What::end);
}

TEST(TcpSources, BytesBeforeAResetAreGivenAndTheResetIsNotAnEnd) {
    const Server server;
    auto source =
        any_server().connect({.host = "127.0.0.1", .port = server.port(), .read_bytes = 2});
    ASSERT_TRUE(source.has_value());
    int connection = server.accept();
    say(connection, "abcdef");
    std::string got;
    EXPECT_EQ(next(**source, got).what, What::bytes);
    reset(connection);
    std::thread comes_back([&] {
        connection = server.accept();
        say(connection, "again");
    });
    std::string all = got;
    while (all.find("again") == std::string::npos) {
        ASSERT_EQ(next(**source, got).what, What::bytes);
        all += got;
    }
    comes_back.join();
    EXPECT_EQ(all, "abcdefagain");
    ::close(connection);
}

TEST(TcpSources, TheFirstConnectionHasToSucceed) {
    Server server;
    const std::uint16_t port = server.port();
    server.close();
    const auto source = any_server().connect({.host = "127.0.0.1", .port = port});
    ASSERT_FALSE(source.has_value());
    EXPECT_EQ(to_string(source.error()),
              "error 4004: cannot connect to \"127.0.0.1:" + std::to_string(port) +
                  "\": Connection refused; see whether the server is up and can be reached from "
                  "the worker");
    EXPECT_EQ(any_server().connect({.host = "no.such.host.invalid", .port = 1}).error().code,
              ErrorCode::cannot_connect);
}

TEST(TcpSources, AReadThatWaitsCanBeInterrupted) {
    const Server server;
    auto source = any_server().connect({.host = "127.0.0.1", .port = server.port()});
    ASSERT_TRUE(source.has_value());
    std::string part(10, ' ');
    EXPECT_EQ((*source)->read(part, Duration(0))->what, What::nothing);
    std::thread interrupter([&] { (*source)->interrupt(); });
    EXPECT_EQ((*source)->read(part, std::chrono::hours(1))->what, What::nothing);
    interrupter.join();
    EXPECT_EQ((*source)->read(part, std::chrono::hours(1))->what, What::nothing);
}

TEST(TcpSources, ATargetThatIsNotAllowedIsNotSpokenTo) {
    const Server server;
    const targets::AllowedTargets none;
    const auto refused = TcpSources(none).connect({.host = "localhost", .port = server.port()});
    ASSERT_FALSE(refused.has_value());
    EXPECT_EQ(refused.error().code, ErrorCode::not_permitted);
}

TEST(TcpSources, SpeakTheDomainThatIsAskedFor) {
    const Server server(AF_INET6);
    if (!server.usable()) GTEST_SKIP() << "this machine has no IPv6";
    auto source = any_server().connect({.host = "::1", .port = server.port(), .ipv6 = true});
    ASSERT_TRUE(source.has_value()) << to_string(source.error());
    EXPECT_FALSE(any_server().connect({.host = "::1", .port = server.port()}).has_value());
}

}  // namespace
}  // namespace baton::tcp
