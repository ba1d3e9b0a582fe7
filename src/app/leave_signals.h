// SIGTERM and SIGINT, for whoever waits for them; no thread is interrupted by them. To be made
// before any thread.
#pragma once

#include <csignal>
#include <ctime>

namespace baton {

class LeaveSignals {
public:
    LeaveSignals() {
        sigemptyset(&set_);
        sigaddset(&set_, SIGTERM);
        sigaddset(&set_, SIGINT);
        pthread_sigmask(SIG_BLOCK, &set_, nullptr);
    }
    void wait() const {
        int signal = 0;
        while (sigwait(&set_, &signal) != 0) continue;
    }
    [[nodiscard]] bool again() const {
        const timespec none{};
        return sigtimedwait(&set_, nullptr, &none) > 0;
    }
    // From now on they end the process at once.
    void release() const { pthread_sigmask(SIG_UNBLOCK, &set_, nullptr); }

private:
    sigset_t set_{};
};

}  // namespace baton
