// LeaderBoard says who leads, as far as this process knows, and wakes those who wait for that. Any
// thread.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <string>

#include "base/time.h"
#include "coordinator/commit/interrupt.h"

namespace baton {

class LeaderBoard {
public:
    struct Known {
        bool here = false;    // this process leads, or is about to
        std::string address;  // of another one; empty: nobody is known to lead
        std::uint64_t news = 0;
    };

    void set_here(bool here);
    void set_address(const std::string& address);
    [[nodiscard]] Known now() const;
    // Returns when there is other news than these, or after so long, or when it is interrupted.
    Known wait(std::uint64_t news, Duration at_most, Interrupt* interrupt);

    // What is known may be over: whoever keeps the board is told to look.
    void doubt() const;
    // Who is told; null: nobody, and no call is under way then.
    void on_doubt(std::function<void()> look);

private:
    mutable std::mutex mutex_;
    std::condition_variable changed_;
    Known known_;
    mutable std::mutex doubt_mutex_;
    std::function<void()> look_;
};

}  // namespace baton
