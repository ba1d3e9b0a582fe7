// ElectionWorld runs several Elections against a model of the lease store, in simulated time, and
// looks after every event whether what election promises holds.
//
// Faults: calls and answers are late (with a heavy tail) or lost; calls fail; a commit has an
// unknown outcome; the store is away; processes are killed and started again, and paused for longer
// than a lease; their clocks differ, and run up to 4 % fast or slow; with `restores`, the store
// comes back from an old backup. Then everything heals.
//
// Checks:
//   - no two may act at the same time, and one that may act holds the lease by the store's clock;
//   - a leader may act, by its own clock, until it has to step down; and it has to when no renewal
//     has succeeded for as long as the timers say;
//   - an epoch begins one term at most, is above all before it, and by no more than one, but for
//     those whose outcome was unknown and those that a restored store has forgotten;
//   - the store takes no fenced write of a deposed leader, and nothing is released before its work
//     has drained;
//   - when all is well a leader stays; within TTL + 0.5 s after one has died another leads, and
//     within 2.5 s after one has left; workers obey a leader also after a restore.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace baton::testing {

struct ElectionRun {
    std::optional<std::string> problem;  // what does not hold; the run ends there
    std::uint64_t terms = 0;
    std::uint64_t writes = 0;      // accepted
    std::uint64_t fenced = 0;      // writes refused by the fence
    std::uint64_t pauses = 0;      // longer than a lease
    std::int64_t failover_us = 0;  // from the death of the leader to the next; 0 if not tried
    std::int64_t handover_us = 0;  // from the request to leave
};

// The same seed gives the same run.
[[nodiscard]] ElectionRun run_election(std::uint64_t seed, bool restores = false);

}  // namespace baton::testing
