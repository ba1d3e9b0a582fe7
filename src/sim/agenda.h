// Agenda is simulated time: what is to happen, and when. Events at the same moment happen in the
// order in which they were put down, so that a run is the same every time.
#pragma once

#include <cstdint>
#include <functional>
#include <queue>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/time.h"

namespace baton::sim {

class Agenda {
public:
    using Action = std::function<void()>;

    [[nodiscard]] Instant now() const { return now_; }
    [[nodiscard]] std::uint64_t happened() const { return happened_; }

    void after(Duration delay, Action action) {
        CHECK(delay >= Duration::zero());
        entries_.push({now_ + delay, next_++, std::move(action)});
    }

    // The next event happens if it is due by then. False if none was: it is `end` now.
    bool step(Instant end) {
        if (entries_.empty() || entries_.top().due > end) {
            now_ = end;
            return false;
        }
        Entry entry = entries_.top();
        entries_.pop();
        now_ = entry.due;
        happened_ += 1;
        entry.action();
        return true;
    }

private:
    struct Entry {
        Instant due;
        std::uint64_t place = 0;
        Action action;

        friend bool operator<(const Entry& a, const Entry& b) {
            return std::pair(b.due, b.place) < std::pair(a.due, a.place);
        }
    };

    Instant now_{};
    std::uint64_t next_ = 0;
    std::uint64_t happened_ = 0;
    std::priority_queue<Entry> entries_;
};

}  // namespace baton::sim
