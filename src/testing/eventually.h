// Waits of tests for the work of other threads, each with an end. A test that waits in vain fails
// with its own message, before its time limit.
//
// eventually() is for a value that the test can read and nothing that it could wait on; await() is
// for a condition variable.
#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>

#include "base/check.h"

namespace baton::testing {

inline constexpr std::chrono::seconds kPatience(60);

template <class Holds>
[[nodiscard]] bool eventually(const Holds& holds) {
    const auto deadline = std::chrono::steady_clock::now() + kPatience;
    while (!holds()) {
        if (std::chrono::steady_clock::now() >= deadline) return false;
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    return true;
}

// For doubles, which no assertion reaches: the process ends if it is in vain.
template <class Holds>
void await(std::condition_variable& changed, std::unique_lock<std::mutex>& lock,
           const Holds& holds) {
    const bool came_true = changed.wait_for(lock, kPatience, holds);
    CHECK(came_true);
}

}  // namespace baton::testing
