// The counters of sources and sinks, in a form that any thread may read.
#pragma once

#include <atomic>
#include <cstdint>

namespace baton::engine {

// Written by one thread.
class Counter {
public:
    void add(std::uint64_t count) {
        value_.store(value_.load(std::memory_order_relaxed) + count, std::memory_order_relaxed);
    }
    void set(std::uint64_t value) { value_.store(value, std::memory_order_relaxed); }
    [[nodiscard]] std::uint64_t value() const { return value_.load(std::memory_order_relaxed); }

private:
    std::atomic<std::uint64_t> value_ = 0;
};

}  // namespace baton::engine
