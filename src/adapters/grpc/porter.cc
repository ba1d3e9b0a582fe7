#include "adapters/grpc/porter.h"

#include <cerrno>
#include <chrono>
#include <utility>

#include <poll.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include "adapters/system/peer_user.h"
#include "base/check.h"

namespace baton::rpc {

namespace {

constexpr auto kPatience = std::chrono::hours(1);
constexpr auto kNoDescriptorsPause = std::chrono::milliseconds(100);

// Other than a connection that ended before it was accepted.
bool is_lack(int error) {
    return error == EMFILE || error == ENFILE || error == ENOBUFS || error == ENOMEM;
}

}  // namespace

Porter::Porter(std::vector<system::ListeningSockets> listening, Admitted admitted,
               std::function<void(int)> take, std::function<void(const std::string&)> log)
    : listening_(std::move(listening)),
      admitted_(admitted),
      take_(std::move(take)),
      refusals_(std::move(log)),
      poll_(::epoll_create1(EPOLL_CLOEXEC)) {
    CHECK(poll_.is_open());
    for (const system::ListeningSockets& one : listening_) {
        for (const system::OpenFile& socket : one.sockets) {
            epoll_event event{};
            event.events = EPOLLIN;
            event.data.fd = *socket;
            CHECK(::epoll_ctl(*poll_, EPOLL_CTL_ADD, *socket, &event) == 0);
        }
    }
    thread_ = std::thread([this] { run(); });
}

Porter::~Porter() {
    leave_.ring();
    thread_.join();
}

void Porter::run() {
    while (!leave_.rung()) {
        if (leave_.wait(*poll_, POLLIN, kPatience) != system::Woke::ready) continue;
        epoll_event event{};
        if (::epoll_wait(*poll_, &event, 1, 0) == 1) accept_all(event.data.fd);
    }
}

void Porter::accept_all(int listener) {
    while (!leave_.rung()) {
        system::OpenFile connection(
            ::accept4(listener, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
        if (!connection.is_open()) {
            // Some may be free soon; until then the connection waits where it is.
            if (is_lack(errno)) (void)leave_.wait(-1, 0, kNoDescriptorsPause);
            if (errno == EINTR || errno == ECONNABORTED) continue;
            return;
        }
        if (admitted_ == Admitted::own_user &&
            system::user_of_peer(*connection) == system::PeerUser::another) {
            refusals_.say("a connection of another user of this machine is refused");
            continue;
        }
        take_(connection.release());
    }
}

}  // namespace baton::rpc
