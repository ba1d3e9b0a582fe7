// WakeUp lets one thread wait for a file descriptor and another one end that wait.
#pragma once

#include <atomic>
#include <cstdint>

#include "base/time.h"

namespace baton::system {

enum class Woke : std::uint8_t { ready, rung, timed_out };

class WakeUp {
public:
    WakeUp();
    WakeUp(const WakeUp&) = delete;
    WakeUp& operator=(const WakeUp&) = delete;
    ~WakeUp();

    // From any thread; a waiting thread is woken, and later waits return at once.
    void ring();
    [[nodiscard]] bool rung() const { return rung_.load(std::memory_order_acquire); }

    // Until the descriptor is ready for `events` (of poll; an error or hang-up counts as well), it
    // was rung, or the time is over. -1 is no descriptor.
    [[nodiscard]] Woke wait(int descriptor, short events, Duration patience) const;

private:
    int event_;
    std::atomic<bool> rung_ = false;
};

}  // namespace baton::system
