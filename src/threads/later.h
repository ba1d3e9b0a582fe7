// Later is a value that one thread gives and another one takes, without waiting for it.
//
// It is shared by both sides: the taker may lose interest, and the giver does not notice.
#pragma once

#include <functional>
#include <mutex>
#include <optional>
#include <utility>

#include "base/check.h"

namespace baton::threads {

// A Later without its type, for a caller that only waits.
class Awaited {
public:
    Awaited() = default;
    virtual ~Awaited() = default;
    Awaited(const Awaited&) = delete;
    Awaited& operator=(const Awaited&) = delete;

    // Called, by any thread, once the value is given; at once if it is. It must not block. Replaces
    // the one before; after null no call is under way.
    void wake_with(std::function<void()> wake) {
        const std::lock_guard lock(mutex_);
        wake_ = std::move(wake);
        if (given_ && wake_) wake_();
    }
    [[nodiscard]] bool given() const {
        const std::lock_guard lock(mutex_);
        return given_;
    }

protected:
    mutable std::mutex mutex_;
    std::function<void()> wake_;
    bool given_ = false;
};

template <class T>
class Later final : public Awaited {
public:
    // Once.
    void give(T value) {
        const std::lock_guard lock(mutex_);
        CHECK(!given_);
        value_.emplace(std::move(value));
        given_ = true;
        if (wake_) wake_();
    }
    // Once, after it is given.
    [[nodiscard]] T take() {
        const std::lock_guard lock(mutex_);
        CHECK(value_.has_value());
        T value = *std::move(value_);
        value_.reset();
        return value;
    }

private:
    std::optional<T> value_;
};

}  // namespace baton::threads
