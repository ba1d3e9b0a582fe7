// Mailbox hands values from many threads to one, in the order in which they were posted. It may
// have a capacity; what does not fit is refused, and no thread waits to post.
//
// Rules:
//   - After close() nothing can be posted; values inside can still be taken.
//   - After drop() values inside are lost, too: no take() that begins later returns any.
//   - wake() makes a take() return, now or next time, even if there is nothing.
// Any thread may call everything; take() and its kin are for one thread.
#pragma once

#include <algorithm>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <limits>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "base/time.h"

namespace baton::threads {

template <class T>
class Mailbox {
public:
    static constexpr std::size_t kNoLimit = std::numeric_limits<std::size_t>::max();

    explicit Mailbox(std::size_t capacity = kNoLimit) : capacity_(capacity) {}

    // False if it is full or closed; then `value` is untouched.
    [[nodiscard]] bool post(T& value) { return post_below(kNoLimit, value); }
    // The same, where the value is of no use elsewhere.
    bool post(T&& value) { return post(value); }
    // False also if `limit` values are inside.
    [[nodiscard]] bool post_below(std::size_t limit, T& value) {
        {
            const std::lock_guard lock(mutex_);
            if (closed_ || values_.size() >= std::min(limit, capacity_)) return false;
            values_.push_back(std::move(value));
        }
        filled_.notify_one();
        return true;
    }

    // Waits for values and takes at most `most` of them. Empty only if the box is closed and
    // nothing is left, was woken, or `patience` is over.
    [[nodiscard]] std::vector<T> take(std::size_t most, std::optional<Duration> patience = {}) {
        std::unique_lock lock(mutex_);
        wait(lock, patience);
        std::vector<T> taken;
        taken.reserve(std::min(most, values_.size()));
        while (!values_.empty() && taken.size() < most) {
            taken.push_back(std::move(values_.front()));
            values_.pop_front();
        }
        return taken;
    }
    [[nodiscard]] std::vector<T> take_all(std::optional<Duration> patience = {}) {
        return take(kNoLimit, patience);
    }
    // None where take() would be empty.
    [[nodiscard]] std::optional<T> take_one(std::optional<Duration> patience = {}) {
        std::unique_lock lock(mutex_);
        wait(lock, patience);
        if (values_.empty()) return std::nullopt;
        std::optional<T> taken = std::move(values_.front());
        values_.pop_front();
        return taken;
    }

    void wake() {
        {
            const std::lock_guard lock(mutex_);
            woken_ = true;
        }
        filled_.notify_one();
    }

    void close() {
        {
            const std::lock_guard lock(mutex_);
            closed_ = true;
        }
        filled_.notify_all();
    }
    void drop() {
        {
            const std::lock_guard lock(mutex_);
            closed_ = true;
            values_.clear();
        }
        filled_.notify_all();
    }

    [[nodiscard]] bool closed() const {
        const std::lock_guard lock(mutex_);
        return closed_;
    }
    [[nodiscard]] std::size_t size() const {
        const std::lock_guard lock(mutex_);
        return values_.size();
    }

private:
    void wait(std::unique_lock<std::mutex>& lock, std::optional<Duration> patience) {
        const auto any = [&] { return closed_ || woken_ || !values_.empty(); };
        if (patience) {
            filled_.wait_for(lock, *patience, any);
        } else {
            filled_.wait(lock, any);
        }
        woken_ = false;
    }

    const std::size_t capacity_;
    mutable std::mutex mutex_;
    std::condition_variable filled_;
    std::deque<T> values_;
    bool closed_ = false;
    bool woken_ = false;
};

}  // namespace baton::threads
