// Holdings are the partitions that a worker looks after.
//
// Input:   the assignments of the coordinator that is listened to; how recently it is known to have
//          heard us; the news that the user of a partition has released it.
// Output:  the partitions to take, and those to release.
//
// Rules:
//   - An assignment lists all partitions that the worker is to have. Any other partition is
//     released.
//   - A partition is held, and reported as held, until its user has released it. If it is assigned
//     again meanwhile, or under another epoch, it is released first.
//   - Partitions that were assigned on an older session may be kept, but are not taken again: the
//     welcome reports the partitions that are held, and a released one may have another owner now.
//   - Partitions are held for a time, the lease that comes with the assignment. It is counted from
//     the moment at which we gave an answer that the coordinator says it has got. A coordinator
//     that has not had an answer for longer than that may give the partitions to other workers,
//     without having asked. So when the lease is over everything is released, whatever messages are
//     still on their way to us. With the next proof that we are heard, the assigned partitions are
//     taken again.
//   - The user of a partition may take a while to release it: the release begins that much before
//     the lease ends.
// Pure: the caller passes the time. One session at a time: the caller knows which one is listened
// to.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <variant>
#include <vector>

#include "base/time.h"
#include "model/control.h"
#include "model/partition.h"

namespace baton::worker {

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

    // The user of a partition takes at most `letting_go` to release it.
    explicit Holdings(Duration release_time = {}) : release_time_(release_time) {}

    // A session begins: its coordinator was welcomed at that time.
    [[nodiscard]] Effects welcomed(Instant at);
    // A beat was answered at that time. It says which of our answers was heard last.
    [[nodiscard]] Effects beat(Instant at, const control::Beat& beat);
    // An assignment older than the last one of this session changes nothing.
    [[nodiscard]] Effects assign(Instant at, const control::Assign& assign);
    [[nodiscard]] Effects released(Instant at, const std::vector<PartitionKey>& partitions);
    [[nodiscard]] Effects tick(Instant at);
    [[nodiscard]] std::optional<Instant> wake_at() const;

    // Nothing is held, and the coordinator has heard so: messages arrive in order, so the answer to
    // a later beat arrives after the report.
    [[nodiscard]] bool may_leave() const { return held_.empty() && !untold_; }
    // Including the partitions that are being released.
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
    // The last beat that was answered before a partition was released; none: the release was heard.
    std::optional<std::uint64_t> untold_;
    std::uint64_t number_ = 0;  // of the last assignment of this session
};

}  // namespace baton::worker
