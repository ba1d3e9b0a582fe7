#include "adapters/system/wake_up.h"

#include <algorithm>
#include <array>
#include <cerrno>

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "adapters/system/system_clock.h"
#include "base/check.h"

namespace baton::system {

WakeUp::WakeUp() : event_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
    CHECK(event_ >= 0);
}

WakeUp::~WakeUp() {
    ::close(event_);
}

void WakeUp::ring() {
    rung_.store(true, std::memory_order_release);
    const std::uint64_t one = 1;
    // Full (EAGAIN) is rung, too.
    const auto written = ::write(event_, &one, sizeof one);
    CHECK(written == sizeof one || errno == EAGAIN);
}

Woke WakeUp::wait(int descriptor, short events, Duration patience) const {
    const SystemClock clock;
    const Instant deadline = clock.now() + std::max(patience, Duration(0));
    std::array<pollfd, 2> polled = {pollfd{.fd = event_, .events = POLLIN, .revents = 0},
                                    pollfd{.fd = descriptor, .events = events, .revents = 0}};
    while (true) {
        const Duration left = std::max(deadline - clock.now(), Duration(0));
        const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(left);
        const timespec time{
            .tv_sec = seconds.count(),
            .tv_nsec =
                std::chrono::duration_cast<std::chrono::nanoseconds>(left - seconds).count()};
        const int count = ::ppoll(polled.data(), polled.size(), &time, nullptr);
        if (count < 0) {
            CHECK(errno == EINTR);
            continue;
        }
        // What is there is taken even though it was rung.
        if (polled[1].revents != 0) return Woke::ready;
        if (polled[0].revents != 0) return Woke::rung;
        if (clock.now() >= deadline) return Woke::timed_out;
    }
}

}  // namespace baton::system
