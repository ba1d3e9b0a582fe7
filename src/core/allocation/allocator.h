// Allocator keeps the partitions of all task lists allocated to workers: it decides what is to be
// written about them, and what workers are to be told.
//
// Input:   task lists, partitions and workers as the catalog has them; streams to workers, what is
//          heard on them and when; the passage of time.
// Output:  changes of ownership, to be written in one transaction; assignments to workers.
//
// Rules:
//   - Who is to have what is decided by allocate() (allocation.h). What workers are told is what
//     is written, never what is meant to be.
//   - The embedded worker has none: it is another process whenever another coordinator leads, and
//     nobody would know when the last one has let go.
//   - A release is confirmed by its owner: it says that it does not have the partition, on the
//     present stream, after it has heard the last that it was told there.
//   - A worker that is not heard has what it had until its lease is over: that long after its last
//     answer, or after our start if it never answered us, and some more for clocks that differ.
//     Then it is gone, provided that the catalog says UNREACHABLE.
//   - Nothing is allocated until every worker that is said to be ACTIVE is connected, or some time
//     has gone by since the start: else the first to connect would get everything.
// Pure: it is told the time. The same calls give the same plans.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/id.h"
#include "base/time.h"
#include "core/allocation/allocation.h"
#include "model/control.h"
#include "model/entities.h"
#include "model/partition.h"

namespace baton {

struct AllocatorOptions {
    // For how long after its last answer a worker may have what it was given. The same for all
    // coordinators of a cluster.
    Duration lease = std::chrono::seconds(30);
    Duration settle = std::chrono::seconds(5);  // see the last rule
    // What a worker has not confirmed to have heard, or to have done: what it said may be lost.
    Duration repeat_after = std::chrono::seconds(1);
    std::size_t moves_max = 256;  // of one plan
};

class Allocator {
public:
    // `epoch` is that of the term: new owners are named under it.
    Allocator(const AllocatorOptions& options, Epoch epoch, Instant start);

    // As the catalog has them, all at once.
    void record(const std::vector<TaskList>& lists, const std::vector<Partition>& partitions);
    void record(const std::string& name, const std::optional<Worker>& worker);

    // Of the present stream of a worker.
    void connected(Instant now, const std::string& worker, const control::Welcome& welcome);
    void answered(Instant now, const std::string& worker, std::uint64_t beat);
    void heard(const std::string& worker, const control::Holding& holding);
    void disconnected(const std::string& worker);
    // The last beat that was answered on it; 0: none.
    [[nodiscard]] std::uint64_t last_answered(const std::string& worker) const;

    struct Plan {
        std::vector<PartitionMove> moves;  // to be written; not all of them if they are many
        std::map<std::string, control::Assign> sends;
        std::optional<Instant> wake_at;
    };
    // What is due. What it says to send counts as sent.
    [[nodiscard]] Plan plan(Instant now);

private:
    struct Stream {
        std::uint64_t answered = 0;
        std::set<PartitionKey> held;  // as it last said
        std::uint64_t confirmed = 0;  // the assignment it had heard then
        std::uint64_t number = 0;     // of the last that was sent
        std::vector<control::Grant> sent;
        Instant sent_at;

        // It was heard to have what was sent, and nothing else.
        [[nodiscard]] bool is_settled() const;
    };
    struct Known {
        std::optional<Worker> recorded;
        std::optional<Stream> stream;
        Instant heard;  // when its last answer came, or our start
    };

    [[nodiscard]] Known& known(const std::string& worker);
    [[nodiscard]] bool settled(Instant now) const;
    [[nodiscard]] Instant gone_at(const Known& worker) const;
    [[nodiscard]] std::vector<allocation::Worker> workers(Instant now) const;
    [[nodiscard]] bool is_confirmed(const PartitionKey& partition,
                                    const ownership::Releasing& releasing) const;
    void add_moves(Instant now, Plan& plan) const;
    void add_sends(Instant now, Plan& plan);
    void wake_for_the_silent(Instant now, Plan& plan) const;

    const AllocatorOptions options_;
    const Epoch epoch_;
    const Instant start_;
    std::vector<allocation::TaskList> lists_;
    allocation::Assignment present_;
    std::map<std::string, Known> workers_;
};

}  // namespace baton
