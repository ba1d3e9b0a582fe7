// Interrupt ends the wait of another thread early. It holds until it is cleared, so that raising it
// just before the wait begins is not lost. Any thread.
#pragma once

#include <functional>
#include <mutex>
#include <utility>

namespace baton::coordinator {

class Interrupt {
public:
    void raise() {
        const std::lock_guard lock(mutex_);
        raised_ = true;
        if (wake_) wake_();
    }
    void clear() {
        const std::lock_guard lock(mutex_);
        raised_ = false;
    }
    [[nodiscard]] bool raised() const {
        const std::lock_guard lock(mutex_);
        return raised_;
    }

    // While it lives, raise() calls `wake`, which must not block. One at a time.
    class Listening {
    public:
        Listening(Interrupt& interrupt, std::function<void()> wake) : interrupt_(interrupt) {
            const std::lock_guard lock(interrupt_.mutex_);
            interrupt_.wake_ = std::move(wake);
        }
        ~Listening() {
            const std::lock_guard lock(interrupt_.mutex_);
            interrupt_.wake_ = nullptr;
        }
        Listening(const Listening&) = delete;
        Listening& operator=(const Listening&) = delete;

    private:
        Interrupt& interrupt_;
    };

private:
    mutable std::mutex mutex_;
    bool raised_ = false;
    std::function<void()> wake_;
};

}  // namespace baton::coordinator
