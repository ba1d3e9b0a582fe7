// Holdings are the partitions that a worker looks after.
//
// Input:   what the coordinator that is listened to assigns; how recently it is known to have heard
//          us; that a partition was released.
// Output:  what to take, and what to release.
//
// Rules:
//   - An assignment is the whole of what the worker is to have. What is not in it is released.
//   - A partition is held until its user has released it, and said to be held until then. One that
//     is assigned anew meanwhile, or under another epoch, is released first.
//   - What was assigned on an older session may be kept, and is not taken again: what is held is
//     told with the welcome, what was released may be another's.
//   - What is held is held for a time, the lease that comes with the assignment: counted from when
//     we gave an answer that the coordinator says it has got. A coordinator that has not had an
//     answer for longer than that may give the partitions to others, without having asked; so when
//     the time is over everything is released, whatever words are still on their way to us. With
//     the next proof that we are heard, what is assigned is taken again.
//   - The user of partitions may take a while to release them: it begins so long before the lease
//     ends.
// Pure: it is told the time. One session at a time: who calls knows which one is listened to.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <variant>
#include <vector>

#include "base/time.h"
#include "model/control.h"
#include "model/partition.h"

namespace baton {

namespace holdings {

struct Take {
    control::Grant grant;
    friend bool operator==(const Take&, const Take&) = default;
};
struct Release {  // answered by Released
    PartitionKey partition;
    friend bool operator==(const Release&, const Release&) = default;
};
using Effect = std::variant<Take, Release>;

// These partitions are no longer used here.
struct Released {
    std::vector<PartitionKey> partitions;
};

}  // namespace holdings

class Holdings {
public:
    using Effects = std::vector<holdings::Effect>;

    // It takes the user of a partition that long, at most, to release it.
    explicit Holdings(Duration release_time = {}) : release_time_(release_time) {}

    // A session begins: its coordinator was welcomed at that time.
    [[nodiscard]] Effects welcomed(Instant at);
    // A beat was answered at that time, which says what was last heard of us.
    [[nodiscard]] Effects beat(Instant at, const control::Beat& beat);
    // An older one than was heard on this session changes nothing.
    [[nodiscard]] Effects assign(Instant at, const control::Assign& assign);
    [[nodiscard]] Effects released(Instant at, const std::vector<PartitionKey>& partitions);
    [[nodiscard]] Effects tick(Instant at);
    [[nodiscard]] std::optional<Instant> wake_at() const;

    // Nothing is held, and whoever listens has heard so: messages arrive in order, so the answer to
    // a later beat arrives after it.
    [[nodiscard]] bool may_leave() const { return held_.empty() && !untold_; }
    // With those that are being released.
    [[nodiscard]] std::vector<control::Grant> held() const;
    [[nodiscard]] control::Holding told() const { return {.number = number_, .held = held()}; }

private:
    struct Held {
        Epoch epoch;
        bool going = false;
    };

    [[nodiscard]] Effects settle(Instant at);
    [[nodiscard]] std::optional<Instant> valid_until() const;

    Duration release_time_;
    std::map<PartitionKey, Epoch> assigned_;
    std::map<PartitionKey, Held> held_;
    Duration lease_{};
    std::optional<Instant> heard_;              // our last answer that has arrived
    std::map<std::uint64_t, Instant> answers_;  // on this session, by beat; 0: the welcome
    // The last beat that was answered before something was released; none: that was heard.
    std::optional<std::uint64_t> untold_;
    std::uint64_t number_ = 0;  // of the last assignment of this session
};

}  // namespace baton
