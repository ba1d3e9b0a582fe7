// LeaderBoard shows which coordinator leads, as far as this process knows: the one place where
// requests look it up. It wakes threads that wait for a change. Any thread.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>

#include "base/time.h"
#include "coordinator/commit/interrupt.h"
#include "model/leader.h"

namespace baton::coordinator {

class LeaderBoard {
public:
    struct Sighting {
        bool here = false;             // this process leads, or is about to
        std::optional<Leader> leader;  // another process; none: no leader is known
        std::uint64_t news = 0;        // counts the changes
    };

    void set_here(bool here);
    // Setting the same leader again is no news.
    void set_leader(const std::optional<Leader>& leader);
    [[nodiscard]] Sighting now() const;
    // Returns when there is other news than these, or after so long, or when it is interrupted.
    void wait(std::uint64_t news, Duration at_most, Interrupt* interrupt) const;

    // The leader may be gone: asks the keeper of the board to look.
    void doubt() const;
    // Calls `look` on each doubt. Null: doubts call nothing, and no call is under way on return.
    void on_doubt(std::function<void()> look);

private:
    mutable std::mutex mutex_;
    mutable std::condition_variable changed_;
    Sighting known_;
    mutable std::mutex doubt_mutex_;
    std::function<void()> look_;
};

}  // namespace baton::coordinator
