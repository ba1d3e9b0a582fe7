// Halt tells the threads that work for a caller that it has given up. Shared by both sides; once
// raised it stays so.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <utility>

namespace baton::threads {

class Halt {
public:
    void raise() {
        const std::lock_guard lock(mutex_);
        if (std::exchange(raised_, true)) return;
        if (act_) act_();
    }
    [[nodiscard]] bool raised() const {
        const std::lock_guard lock(mutex_);
        return raised_;
    }

    // While it lives, raise() calls `act`, which must not block; at once if it is raised already.
    // One at a time.
    class Acting {
    public:
        Acting(Halt& halt, std::function<void()> act) : halt_(halt) {
            const std::lock_guard lock(halt_.mutex_);
            halt_.act_ = std::move(act);
            if (halt_.raised_) halt_.act_();
        }
        ~Acting() {
            const std::lock_guard lock(halt_.mutex_);
            halt_.act_ = nullptr;
        }
        Acting(const Acting&) = delete;
        Acting& operator=(const Acting&) = delete;

    private:
        Halt& halt_;
    };

private:
    mutable std::mutex mutex_;
    bool raised_ = false;
    std::function<void()> act_;
};

using SharedHalt = std::shared_ptr<Halt>;

}  // namespace baton::threads
