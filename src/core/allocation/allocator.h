// Allocator keeps the partitions of all task lists allocated to workers: it decides on changes of
// the catalog, and on assignments to workers.
//
// Input:   task lists, partitions and workers as the catalog has them; streams to workers, the
//          messages on them with their times; the passage of time.
// Output:  changes of ownership, to be written in one transaction; assignments to workers.
//
// Rules:
//   - allocate() (allocation.h) decides who owns which partition. Assignments follow from the
//     catalog, never from a decision that is not written yet.
//   - The embedded worker has none: it is another process whenever another coordinator leads, and
//     the release of the last one could not be confirmed.
//   - A release is confirmed by its owner: it reports that it does not have the partition, on the
//     present stream, after it has confirmed the last assignment sent there.
//   - A worker that is not heard has what it had until its lease is over: that long after its last
//     answer, or after our start if it never answered us, and some more for clocks that differ.
//     Then it is gone, provided that the catalog says UNREACHABLE.
//   - Nothing is allocated until every worker that is said to be ACTIVE is connected, or some time
//     has gone by since the start: else the first to connect would get everything.
// Pure: the time is an argument. The same calls return the same plans.
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

namespace baton::allocation {

struct AllocatorOptions {
    // For how long after its last answer a worker may have what it was given. The same for all
    // coordinators of a cluster.
    Duration lease = std::chrono::seconds(30);
    Duration settle = std::chrono::seconds(5);  // see the last rule
    // An assignment that a worker has not confirmed, or not carried out: its answer may be lost.
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
    // The actions that are due. Their assignments count as sent.
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
        [[nodiscard]] bool is_steady() const;
    };
    struct WorkerRecord {
        std::optional<Worker> recorded;
        std::optional<Stream> stream;
        Instant heard;  // when its last answer came, or our start
    };

    [[nodiscard]] WorkerRecord& known(const std::string& worker);
    [[nodiscard]] bool settled(Instant now) const;
    [[nodiscard]] Instant gone_at(const WorkerRecord& worker) const;
    [[nodiscard]] std::vector<Candidate> workers(Instant now) const;
    [[nodiscard]] bool is_confirmed(const PartitionKey& partition,
                                    const ownership::Releasing& releasing) const;
    void add_moves(Instant now, Plan& plan) const;
    void add_sends(Instant now, Plan& plan);
    void wake_for_the_silent(Instant now, Plan& plan) const;

    const AllocatorOptions options_;
    const Epoch epoch_;
    const Instant start_;
    std::vector<PartitionList> lists_;
    Assignment present_;
    std::map<std::string, WorkerRecord> workers_;
};

}  // namespace baton::allocation
