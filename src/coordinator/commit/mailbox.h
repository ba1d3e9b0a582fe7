// Mailbox hands values from many threads to one, and never holds more than its capacity.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

namespace baton {

template <class T>
class Mailbox {
public:
    explicit Mailbox(std::size_t capacity) : capacity_(capacity) {}

    // False if it is full or closed; then `value` is untouched.
    [[nodiscard]] bool post(T& value) {
        {
            const std::lock_guard lock(mutex_);
            if (closed_ || values_.size() >= capacity_) return false;
            values_.push_back(std::move(value));
        }
        filled_.notify_one();
        return true;
    }

    // Waits for values and takes at most `most` of them, in the order they came. Empty only if the
    // box is closed and nothing is left, was woken, or `patience` is over.
    [[nodiscard]] std::vector<T> take(std::size_t most,
                                      std::optional<std::chrono::milliseconds> patience = {}) {
        std::unique_lock lock(mutex_);
        const auto any = [&] { return closed_ || woken_ || !values_.empty(); };
        if (patience) {
            filled_.wait_for(lock, *patience, any);
        } else {
            filled_.wait(lock, any);
        }
        woken_ = false;
        std::vector<T> taken;
        while (!values_.empty() && taken.size() < most) {
            taken.push_back(std::move(values_.front()));
            values_.pop_front();
        }
        return taken;
    }

    // Makes a take() return, now or next time, even if there is nothing.
    void wake() {
        {
            const std::lock_guard lock(mutex_);
            woken_ = true;
        }
        filled_.notify_one();
    }

    // Values inside can still be taken; nothing more can be posted.
    void close() {
        {
            const std::lock_guard lock(mutex_);
            closed_ = true;
        }
        filled_.notify_all();
    }

    [[nodiscard]] bool closed() const {
        const std::lock_guard lock(mutex_);
        return closed_;
    }

private:
    const std::size_t capacity_;
    mutable std::mutex mutex_;
    std::condition_variable filled_;
    std::deque<T> values_;
    bool closed_ = false;
    bool woken_ = false;
};

}  // namespace baton
