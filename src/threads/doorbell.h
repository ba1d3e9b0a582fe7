// Doorbell lets a thread wait until another one rings, or until a time. A ring before the wait is
// not lost.
#pragma once

#include <condition_variable>
#include <mutex>
#include <optional>

#include "base/time.h"
#include "threads/waiting.h"

namespace baton::threads {

class Doorbell {
public:
    // Any thread.
    void ring() {
        const std::lock_guard lock(mutex_);
        rung_ = true;
        changed_.notify_one();
    }

    void wait(const std::optional<Instant>& until, Instant now) {
        const Waiting waiting;
        std::unique_lock lock(mutex_);
        const auto rung = [&] { return rung_; };
        if (until) {
            changed_.wait_for(lock, *until - now, rung);
        } else {
            changed_.wait(lock, rung);
        }
        rung_ = false;
    }
    void wait() { wait(std::nullopt, {}); }

private:
    std::mutex mutex_;
    std::condition_variable changed_;
    bool rung_ = false;
};

}  // namespace baton::threads
