#include "adapters/tcp/tcp_sources.h"

#include <algorithm>
#include <cerrno>
#include <system_error>
#include <utility>
#include <vector>

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "adapters/system/system_clock.h"
#include "adapters/system/wake_up.h"
#include "base/check.h"
#include "base/text.h"

namespace baton::tcp {

namespace {

constexpr Duration kPauseFirst = std::chrono::milliseconds(100);
constexpr Duration kPauseMost = std::chrono::seconds(5);

std::string name_of(const TcpServer& server) {
    return server.host + ":" + std::to_string(server.port);
}

Error unreachable(const TcpServer& server, const std::string& why) {
    return {.code = ErrorCode::cannot_connect,
            .message = "cannot connect to " + in_quotes(name_of(server)) + ": " + why,
            .hint = "see whether the server is up and can be reached from the worker"};
}

std::string why(int number) {
    return std::generic_category().message(number);
}

class TcpSource final : public ByteSource {
public:
    TcpSource(TcpServer server, std::vector<targets::SocketAddress> addresses)
        : server_(std::move(server)), addresses_(std::move(addresses)) {}
    TcpSource(const TcpSource&) = delete;
    TcpSource& operator=(const TcpSource&) = delete;
    ~TcpSource() override { close(); }

    // Tries the addresses one after the other.
    Result<Done> open() {
        const Instant deadline = clock_.now() + server_.connect_timeout;
        std::string reason = "it has no address";
        for (std::size_t i = 0; i < addresses_.size(); ++i) {
            begin_attempt();
            const Duration left = deadline - clock_.now();
            if (state_ == State::connecting) finish_attempt(left);
            if (state_ == State::connected) return Done{};
            reason = reason_;
            close();
        }
        return unreachable(server_, reason);
    }

    Result<BytesRead> read(std::span<char> into, Duration patience) override {
        const Instant deadline = clock_.now() + patience;
        while (true) {
            const Duration left = std::max(deadline - clock_.now(), Duration(0));
            if (state_ == State::connected) {
                const BytesRead got = receive(into, left);
                if (state_ == State::connected) return got;
            } else if (state_ == State::connecting) {
                finish_attempt(std::min(left, attempt_ends_ - clock_.now()));
            } else if (clock_.now() >= pause_ends_) {
                begin_attempt();
            } else {
                (void)wake_up_.wait(-1, 0, std::min(left, pause_ends_ - clock_.now()));
            }
            if (state_ == State::ended) return BytesRead{.what = BytesRead::What::end};
            const bool is_over = wake_up_.rung() || clock_.now() >= deadline;
            if (is_over && state_ != State::connected) return BytesRead{};
        }
    }

    void interrupt() override { wake_up_.ring(); }

private:
    enum class State : std::uint8_t { down, connecting, connected, ended };

    void close() {
        if (socket_ >= 0) ::close(socket_);
        socket_ = -1;
    }

    void fail_attempt(int number) {
        reason_ = why(number);
        close();
        state_ = State::down;
        pause_ends_ = clock_.now() + pause_;
        pause_ = std::min(2 * pause_, kPauseMost);
    }

    void begin_attempt() {
        const targets::SocketAddress& address = addresses_[next_address_++ % addresses_.size()];
        attempt_ends_ = clock_.now() + server_.connect_timeout;
        socket_ = ::socket(address.bytes.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
        if (socket_ < 0) {
            fail_attempt(errno);
            return;
        }
        state_ = State::connecting;
        const auto* const where = reinterpret_cast<const sockaddr*>(&address.bytes);
        if (::connect(socket_, where, address.size) == 0) {
            succeed();
        } else if (errno != EINPROGRESS) {
            fail_attempt(errno);
        }
    }

    void finish_attempt(Duration patience) {
        const system::Woke woke = wake_up_.wait(socket_, POLLOUT, patience);
        if (woke == system::Woke::ready) {
            int error = 0;
            socklen_t size = sizeof error;
            CHECK(::getsockopt(socket_, SOL_SOCKET, SO_ERROR, &error, &size) == 0);
            if (error == 0) {
                succeed();
            } else {
                fail_attempt(error);
            }
        } else if (clock_.now() >= attempt_ends_) {
            fail_attempt(ETIMEDOUT);
        } else {
            reason_ = woke == system::Woke::rung ? "it was interrupted" : why(ETIMEDOUT);
        }
    }

    void succeed() {
        state_ = State::connected;
        pause_ = kPauseFirst;
        is_again_ = std::exchange(was_there_, true);
        // A server that is gone without a word is noticed after about two minutes.
        const int on = 1;
        const int idle = 60;
        const int interval = 15;
        ::setsockopt(socket_, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof on);
        ::setsockopt(socket_, IPPROTO_TCP, TCP_KEEPIDLE, &idle, sizeof idle);
        ::setsockopt(socket_, IPPROTO_TCP, TCP_KEEPINTVL, &interval, sizeof interval);
    }

    // Takes what is there, in parts of the size that was asked for; waits only for the first one.
    BytesRead receive(std::span<char> into, Duration patience) {
        BytesRead got;
        bool waited = false;
        if (failure_ != 0) {
            fail_attempt(std::exchange(failure_, 0));
            return got;
        }
        while (got.count < into.size()) {
            const std::size_t most = std::min(server_.read_bytes, into.size() - got.count);
            const auto count = ::recv(socket_, into.data() + got.count, most, 0);
            if (count > 0) {
                got.count += static_cast<std::size_t>(count);
                continue;
            }
            if (count < 0 && errno == EINTR) continue;
            const int error = count < 0 && errno != EAGAIN ? errno : 0;
            if (got.count > 0) {
                failure_ = error;  // it is told only once; that there is no more, again and again
                break;
            }
            if (count == 0) {
                state_ = State::ended;
                return got;
            }
            if (error != 0) {
                fail_attempt(error);
                return got;
            }
            if (waited || wake_up_.wait(socket_, POLLIN, patience) != system::Woke::ready)
                return got;
            waited = true;
        }
        got.what = BytesRead::What::bytes;
        got.reconnected = std::exchange(is_again_, false);
        return got;
    }

    const TcpServer server_;
    const std::vector<targets::SocketAddress> addresses_;
    system::SystemClock clock_;
    system::WakeUp wake_up_;
    State state_ = State::down;
    int socket_ = -1;
    std::size_t next_address_ = 0;
    std::string reason_;      // why the last attempt failed
    int failure_ = 0;         // of the connection, seen after bytes that had to be given first
    bool was_there_ = false;  // was connected before
    bool is_again_ = false;   // is connected anew, and nothing was given since
    Duration pause_ = kPauseFirst;
    Instant pause_ends_;
    Instant attempt_ends_;
};

}  // namespace

Result<std::unique_ptr<ByteSource>> TcpSources::connect(const TcpServer& server) {
    TRY_ASSIGN(addresses, targets_.look_up(server.host, server.port,
                                           server.ipv6 ? targets::AddressFamily::ipv6
                                                       : targets::AddressFamily::ipv4));
    auto source = std::make_unique<TcpSource>(server, std::move(addresses));
    TRY(source->open());
    return std::unique_ptr<ByteSource>(std::move(source));
}

}  // namespace baton::tcp
