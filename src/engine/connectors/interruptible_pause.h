// InterruptiblePause lets a thread wait for a time, or until another one interrupts it.
#pragma once

#include <condition_variable>
#include <mutex>

#include "base/time.h"

namespace baton::engine {

class InterruptiblePause {
public:
    // False if it was interrupted, now or before.
    bool wait(Duration time) {
        std::unique_lock lock(mutex_);
        return !wakes_.wait_for(lock, time, [this] { return interrupted_; });
    }
    void interrupt() {
        {
            const std::lock_guard lock(mutex_);
            interrupted_ = true;
        }
        wakes_.notify_all();
    }

private:
    std::mutex mutex_;
    std::condition_variable wakes_;
    bool interrupted_ = false;
};

}  // namespace baton::engine
