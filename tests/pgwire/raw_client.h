// RawClient is a socket that says what it is told to, also what no client of PostgreSQL would say.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include "doors/pg/wire/scripted_test.h"

namespace baton {

namespace said = pgwire::testing;

class RawClient {
public:
    explicit RawClient(std::uint16_t port) : socket_(::socket(AF_INET, SOCK_STREAM, 0)) {
        sockaddr_in to{};
        to.sin_family = AF_INET;
        to.sin_port = htons(port);
        to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        const timeval patience{.tv_sec = 10, .tv_usec = 0};
        ::setsockopt(socket_, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
        connected_ = ::connect(socket_, reinterpret_cast<sockaddr*>(&to), sizeof to) == 0;
    }
    ~RawClient() {
        if (socket_ >= 0) ::close(socket_);
    }
    RawClient(const RawClient&) = delete;
    RawClient& operator=(const RawClient&) = delete;

    void say(std::string_view bytes) const {
        while (!bytes.empty()) {
            const auto sent = ::send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
            if (sent <= 0) return;
            bytes.remove_prefix(static_cast<std::size_t>(sent));
        }
    }
    // Until the text occurs, or the server has closed.
    std::string hear(std::string_view until = "\xff\xff never") const {
        std::string heard;
        std::array<char, 4096> some{};
        while (heard.find(until) == std::string::npos) {
            const auto count = ::recv(socket_, some.data(), some.size(), 0);
            if (count <= 0) break;
            heard.append(some.data(), static_cast<std::size_t>(count));
        }
        return heard;
    }
    // With a reset, as when a process is killed with unread input.
    void vanish() {
        const linger none{.l_onoff = 1, .l_linger = 0};
        ::setsockopt(socket_, SOL_SOCKET, SO_LINGER, &none, sizeof none);
        ::close(std::exchange(socket_, -1));
    }
    [[nodiscard]] bool connected() const { return connected_; }

private:
    int socket_;
    bool connected_ = false;
};

inline const std::string kReady = said::frame('Z', "I");

}  // namespace baton
