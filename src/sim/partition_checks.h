// PartitionChecks test the rules for the partitions of task lists: those that must hold after every
// event, and those that must come true once the world has healed. They compare, from outside, the
// partitions that workers work on, each by its own clock, with the catalog.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "coordinator/commit/committer.h"
#include "model/entities.h"
#include "model/partition.h"
#include "ports/sql.h"
#include "sim/worker.h"
#include "sim/world.h"

namespace baton::sim {

class PartitionChecks {
public:
    using Workers = std::vector<std::unique_ptr<SimWorker>>;

    // All outlive it. `disk` is read without faults.
    PartitionChecks(World& world, SqlDatabase& disk, const Workers& workers);

    // The numbers are those of docs/INVARIANTS.md.
    // D10, D13, after every event: no two workers hold the same partition, and a worker that holds
    // one is its owner by the catalog.
    void look();
    // D13, at every commit: each partition of each list is there.
    void committed(const coordinator::CommittedBatch& batch);
    // D14: the expectations that have not come true yet, in sentences.
    [[nodiscard]] std::vector<std::string> unsettled();

    void assigned() { assignments_ += 1; }
    [[nodiscard]] std::uint64_t assignments() const { return assignments_; }  // sent so far
    // As the catalog has them.
    [[nodiscard]] const std::map<PartitionKey, Ownership>& partitions() const {
        return partitions_;
    }
    // From one worker to another.
    [[nodiscard]] std::uint64_t handovers() const { return handovers_; }

private:
    using Counts = std::map<std::string, std::uint64_t>;

    void read();
    [[nodiscard]] bool is_on_record(const PartitionKey& partition, const std::string& holder) const;
    void check_complete();
    // The weights of the workers that are to have any partitions, by name.
    [[nodiscard]] Counts weights() const;
    void look_at_rows(const Counts& weights, std::vector<std::string>& left) const;
    void look_at_shares(const Counts& weights, std::vector<std::string>& left) const;
    void look_at_holders(std::vector<std::string>& left) const;

    World& world_;
    std::unique_ptr<Sql> sql_;
    const Workers& workers_;
    std::map<std::string, std::uint32_t> lists_;  // how many partitions each has
    std::map<PartitionKey, Ownership> partitions_;
    std::vector<Worker> catalog_workers_;
    std::uint64_t reads_ = 0;
    std::uint64_t looked_at_ = 0;  // of the changes there were so far
    std::uint64_t assignments_ = 0;
    std::uint64_t handovers_ = 0;
};

}  // namespace baton::sim
