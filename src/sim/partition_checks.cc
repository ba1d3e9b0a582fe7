#include "sim/partition_checks.h"

#include <algorithm>
#include <set>
#include <utility>

#include "base/check.h"
#include "catalog/reader.h"

namespace baton::sim {

PartitionChecks::PartitionChecks(World& world, SqlDatabase& disk, const Workers& workers)
    : world_(world), sql_(*disk.connect(Access::read)), workers_(workers) {
    read();
}

void PartitionChecks::read() {
    reads_ += 1;
    CHECK(sql_->begin(Access::read));
    const catalog::Reader reader(*sql_);
    lists_.clear();
    for (const TaskList& list : *reader.all<TaskList>()) lists_.emplace(list.name, list.partitions);
    const auto before = std::exchange(partitions_, {});
    for (Partition& partition : *reader.partitions()) {
        const auto known = before.find(partition.key);
        const std::string* from = known == before.end() ? nullptr : owner_of(known->second);
        const std::string* to = owner_of(partition.ownership);
        if (from != nullptr && to != nullptr && *from != *to) handovers_ += 1;
        partitions_.emplace(partition.key, std::move(partition.ownership));
    }
    catalog_workers_ = *reader.workers();
    sql_->rollback();
}

// ---- after every event --------------------------------------------------------------------------

void PartitionChecks::committed(const coordinator::CommittedBatch& batch) {
    const bool concerns =
        std::any_of(batch.changes.begin(), batch.changes.end(), [](const catalog::Change& change) {
            return change.entity == kinds::Entity::task_list ||
                   change.entity == kinds::Entity::partition;
        });
    if (!concerns) return;
    read();
    check_complete();
}

void PartitionChecks::check_complete() {
    for (const auto& [list, count] : lists_) {
        for (std::uint32_t number = 0; number < count; ++number) {
            const PartitionKey key{.list = list, .number = number};
            if (!partitions_.contains(key)) world_.violated(to_string(key) + " is not there");
        }
    }
}

bool PartitionChecks::is_on_record(const PartitionKey& partition, const std::string& holder) const {
    const auto found = partitions_.find(partition);
    if (found == partitions_.end()) return false;
    const std::string* owner = owner_of(found->second);
    return owner != nullptr && *owner == holder;
}

// Time alone makes nobody hold more.
void PartitionChecks::look() {
    std::uint64_t changes = reads_;
    for (const auto& worker : workers_) changes += worker->partition_changes();
    if (changes == looked_at_) return;
    looked_at_ = changes;
    std::map<PartitionKey, std::string> holders;
    bool recorded = true;
    for (const auto& worker : workers_) {
        for (const PartitionKey& key : worker->partitions()) {
            const auto [other, alone] = holders.emplace(key, worker->name());
            if (!alone) {
                world_.violated(to_string(key) + " is held by " + other->second + " and by " +
                                worker->name());
            }
            recorded = recorded && is_on_record(key, worker->name());
        }
    }
    if (recorded) return;
    read();  // a commit whose outcome is unknown may have happened
    for (const auto& [key, holder] : holders) {
        if (is_on_record(key, holder)) continue;
        world_.violated(holder + " holds " + to_string(key) + ", which the catalog does not say");
    }
}

// ---- after healing ------------------------------------------------------------------------------

// One whose capacity is not limited counts as much as the largest that is.
PartitionChecks::Counts PartitionChecks::weights() const {
    std::uint64_t largest = 0;
    for (const Worker& worker : catalog_workers_) {
        largest = std::max(largest, worker.capacity.value_or(0));
    }
    Counts weights;
    for (const Worker& worker : catalog_workers_) {
        if (worker.state != WorkerState::active || worker.draining || worker.leaving) continue;
        weights[worker.name] = worker.capacity.value_or(std::max<std::uint64_t>(largest, 1));
    }
    return weights;
}

void PartitionChecks::look_at_rows(const Counts& weights, std::vector<std::string>& left) const {
    for (const auto& [key, ownership] : partitions_) {
        const auto list = lists_.find(key.list);
        if (list == lists_.end() || key.number >= list->second) {
            left.push_back(to_string(key) + " is there, though its list is not");
            continue;
        }
        const auto* owned = std::get_if<ownership::Owned>(&ownership);
        const bool fine = weights.empty() ? std::holds_alternative<ownership::Unowned>(ownership)
                                          : owned != nullptr && weights.contains(owned->owner);
        if (fine) continue;
        const std::string* owner = owner_of(ownership);
        left.push_back(to_string(key) + " is " + std::string(to_string(state_of(ownership))) +
                       (owner == nullptr ? "" : " by " + *owner));
    }
}

void PartitionChecks::look_at_shares(const Counts& weights, std::vector<std::string>& left) const {
    Counts counts;
    for (const auto& [key, ownership] : partitions_) {
        if (const std::string* owner = owner_of(ownership)) counts[*owner] += 1;
    }
    std::uint64_t all = 0;
    for (const auto& [name, weight] : weights) all += weight;
    for (const auto& [name, weight] : weights) {
        const std::uint64_t has = counts[name] * all;
        const std::uint64_t share = partitions_.size() * weight;
        if (std::max(has, share) - std::min(has, share) < all) continue;
        left.push_back(name + " has " + std::to_string(counts[name]) + " of " +
                       std::to_string(partitions_.size()) + " partitions, for a weight of " +
                       std::to_string(weight) + " of " + std::to_string(all));
    }
}

void PartitionChecks::look_at_holders(std::vector<std::string>& left) const {
    std::map<std::string, std::set<PartitionKey>> owned;
    for (const auto& [key, ownership] : partitions_) {
        if (const std::string* owner = owner_of(ownership)) owned[*owner].insert(key);
    }
    for (const auto& worker : workers_) {
        if (worker->partitions() == owned[worker->name()]) continue;
        left.push_back(worker->name() + " does not hold the partitions that it owns");
    }
}

std::vector<std::string> PartitionChecks::unsettled() {
    read();
    std::vector<std::string> left;
    const Counts weights = this->weights();
    look_at_rows(weights, left);
    look_at_shares(weights, left);
    look_at_holders(left);
    return left;
}

}  // namespace baton::sim
