// SIGTERM and SIGINT, and SIGHUP where it means to read the settings again, for the thread that
// waits for them; they interrupt no thread. To be made before any thread.
#pragma once

#include <csignal>
#include <cstdint>
#include <ctime>

namespace baton::app {

class LeaveSignals {
public:
    enum class Hangup : std::uint8_t { ends, reloads };
    explicit LeaveSignals(Hangup hangup = Hangup::ends) {
        sigemptyset(&set_);
        sigaddset(&set_, SIGTERM);
        sigaddset(&set_, SIGINT);
        waited_ = set_;
        if (hangup == Hangup::reloads) sigaddset(&waited_, SIGHUP);
        pthread_sigmask(SIG_BLOCK, &waited_, nullptr);
    }
    void wait() const {
        while (wait_for_any() == SIGHUP) continue;
    }
    // True: the settings are to be read again. False: it is time to leave.
    [[nodiscard]] bool wait_for_reload() const { return wait_for_any() == SIGHUP; }
    [[nodiscard]] bool again() const {
        const timespec none{};
        return sigtimedwait(&set_, nullptr, &none) > 0;
    }
    // From now on they end the process at once.
    void release() const { pthread_sigmask(SIG_UNBLOCK, &set_, nullptr); }

private:
    [[nodiscard]] int wait_for_any() const {
        int signal = 0;
        while (sigwait(&waited_, &signal) != 0) continue;
        return signal;
    }

    sigset_t set_{};
    sigset_t waited_{};  // the same, and SIGHUP perhaps, which stays blocked
};

}  // namespace baton::app
