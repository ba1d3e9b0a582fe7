// Seldom passes on one line in ten seconds, with the number of lines that it kept back before it,
// so that a stranger cannot fill a log.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <mutex>
#include <string>
#include <utility>

namespace baton::system {

class Seldom {
public:
    explicit Seldom(std::function<void(const std::string&)> log) : log_(std::move(log)) {}

    // From any thread.
    void say(const std::string& line) {
        constexpr auto kQuiet = std::chrono::seconds(10);
        const auto now = std::chrono::steady_clock::now();
        std::uint64_t unsaid = 0;
        {
            const std::lock_guard lock(mutex_);
            if (now < quiet_until_) {
                unsaid_ += 1;
                return;
            }
            quiet_until_ = now + kQuiet;
            unsaid = std::exchange(unsaid_, 0);
        }
        if (!log_) return;
        log_(unsaid == 0 ? line : line + ", and " + std::to_string(unsaid) + " more before it");
    }

private:
    const std::function<void(const std::string&)> log_;
    std::mutex mutex_;
    std::chrono::steady_clock::time_point quiet_until_{};
    std::uint64_t unsaid_ = 0;
};

}  // namespace baton::system
