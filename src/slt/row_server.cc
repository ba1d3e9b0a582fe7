#include "slt/row_server.h"

#include <array>
#include <cstring>

#include <netinet/in.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/check.h"

namespace baton::slt {

RowServer::RowServer(std::string bytes) : bytes_(std::move(bytes)) {
    listening_ = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    stop_ = eventfd(0, EFD_CLOEXEC);
    CHECK(listening_ >= 0 && stop_ >= 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    auto* plain = reinterpret_cast<sockaddr*>(&address);
    socklen_t size = sizeof(address);
    CHECK(bind(listening_, plain, size) == 0);
    CHECK(listen(listening_, 16) == 0);
    CHECK(getsockname(listening_, plain, &size) == 0);
    port_ = ntohs(address.sin_port);
    thread_ = std::thread([this] { run(); });
}

RowServer::~RowServer() {
    const std::uint64_t one = 1;
    CHECK(write(stop_, &one, sizeof(one)) == sizeof(one));
    thread_.join();
    close(listening_);
    close(stop_);
}

void RowServer::run() const {
    for (;;) {
        std::array<pollfd, 2> waits = {{{.fd = listening_, .events = POLLIN, .revents = 0},
                                        {.fd = stop_, .events = POLLIN, .revents = 0}}};
        if (poll(waits.data(), waits.size(), -1) < 0) continue;
        if (waits[1].revents != 0) return;
        const int connection = accept4(listening_, nullptr, nullptr, SOCK_CLOEXEC);
        if (connection < 0) continue;
        serve(connection);
        close(connection);
    }
}

void RowServer::serve(int connection) const {
    for (std::size_t sent = 0; sent < bytes_.size();) {
        std::array<pollfd, 2> waits = {{{.fd = connection, .events = POLLOUT, .revents = 0},
                                        {.fd = stop_, .events = POLLIN, .revents = 0}}};
        if (poll(waits.data(), waits.size(), -1) < 0) continue;
        if (waits[1].revents != 0) return;
        const ssize_t count = send(connection, bytes_.data() + sent, bytes_.size() - sent,
                                   MSG_NOSIGNAL | MSG_DONTWAIT);
        if (count <= 0) return;
        sent += static_cast<std::size_t>(count);
    }
    shutdown(connection, SHUT_WR);
}

}  // namespace baton::slt
