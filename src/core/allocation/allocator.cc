#include "core/allocation/allocator.h"

#include <algorithm>
#include <utility>

namespace baton::allocation {

namespace {

constexpr std::uint64_t kWeightMax = 1'000'000;

void consider(std::optional<Instant>& earliest, Instant at) {
    earliest = std::min(earliest.value_or(at), at);
}

// A worker whose capacity is not limited counts as much as the largest that is.
std::uint32_t weight_of(const Worker& worker, std::uint64_t largest) {
    return static_cast<std::uint32_t>(std::min(worker.capacity.value_or(largest), kWeightMax));
}

}  // namespace

Allocator::Allocator(const AllocatorOptions& options, Epoch epoch, Instant start)
    : options_(options), epoch_(epoch), start_(start) {}

// ---- what is known ------------------------------------------------------------------------------

void Allocator::record(const std::vector<TaskList>& lists,
                       const std::vector<Partition>& partitions) {
    lists_.clear();
    for (const TaskList& list : lists) {
        lists_.push_back({.name = list.name, .partitions = list.partitions});
    }
    present_.clear();
    for (const Partition& partition : partitions) {
        present_.emplace(partition.key, partition.ownership);
    }
}

Allocator::WorkerRecord& Allocator::known(const std::string& worker) {
    return workers_.try_emplace(worker, WorkerRecord{.recorded = {}, .stream = {}, .heard = start_})
        .first->second;
}

void Allocator::record(const std::string& name, const std::optional<Worker>& worker) {
    if (worker) {
        known(name).recorded = worker;
    } else {
        workers_.erase(name);
    }
}

void Allocator::connected(Instant now, const std::string& worker, const control::Welcome& welcome) {
    WorkerRecord& known = this->known(worker);
    known.heard = now;
    Stream stream;
    for (const control::Grant& grant : welcome.held) stream.held.insert(grant.partition);
    known.stream = std::move(stream);
}

void Allocator::answered(Instant now, const std::string& worker, std::uint64_t beat) {
    WorkerRecord& known = this->known(worker);
    if (!known.stream) return;
    known.heard = now;
    known.stream->answered = std::max(known.stream->answered, beat);
}

void Allocator::heard(const std::string& worker, const control::Holding& holding) {
    WorkerRecord& known = this->known(worker);
    if (!known.stream || holding.number < known.stream->confirmed) return;
    known.stream->confirmed = holding.number;
    known.stream->held.clear();
    for (const control::Grant& grant : holding.held) known.stream->held.insert(grant.partition);
}

void Allocator::disconnected(const std::string& worker) {
    if (const auto found = workers_.find(worker); found != workers_.end()) {
        found->second.stream.reset();
    }
}

std::uint64_t Allocator::last_answered(const std::string& worker) const {
    const auto found = workers_.find(worker);
    return found != workers_.end() && found->second.stream ? found->second.stream->answered : 0;
}

// ---- what follows -------------------------------------------------------------------------------

Allocator::Plan Allocator::plan(Instant now) {
    Plan plan;
    if (lists_.empty() && present_.empty()) return plan;
    if (settled(now)) {
        add_moves(now, plan);
    } else {
        consider(plan.wake_at, start_ + options_.settle);
    }
    add_sends(now, plan);
    wake_for_the_silent(now, plan);
    return plan;
}

bool Allocator::settled(Instant now) const {
    if (now >= start_ + options_.settle) return true;
    return std::all_of(workers_.begin(), workers_.end(), [](const auto& entry) {
        const WorkerRecord& worker = entry.second;
        return !worker.recorded || worker.stream || worker.recorded->state != WorkerState::active;
    });
}

Instant Allocator::gone_at(const WorkerRecord& worker) const {
    return worker.heard + options_.lease + options_.lease / 20 + std::chrono::milliseconds(500);
}

std::vector<Candidate> Allocator::workers(Instant now) const {
    std::uint64_t largest = 0;
    for (const auto& [name, worker] : workers_) {
        if (worker.recorded) largest = std::max(largest, worker.recorded->capacity.value_or(0));
    }
    if (largest == 0) largest = 1;
    std::vector<Candidate> list;
    for (const auto& [name, worker] : workers_) {
        if (!worker.recorded) continue;
        const bool active = worker.recorded->state == WorkerState::active;
        if (!worker.stream && !active && now >= gone_at(worker)) continue;
        list.push_back({.name = name,
                        .weight = weight_of(*worker.recorded, largest),
                        .active = active && worker.stream,
                        .draining = worker.recorded->draining || worker.recorded->leaving ||
                                    worker.recorded->kind == WorkerKind::embedded});
    }
    return list;
}

bool Allocator::is_confirmed(const PartitionKey& partition,
                             const ownership::Releasing& releasing) const {
    const auto found = workers_.find(releasing.owner);
    if (found == workers_.end() || !found->second.stream) return false;
    const Stream& stream = *found->second.stream;
    const bool assigned =
        std::any_of(stream.sent.begin(), stream.sent.end(),
                    [&](const control::Grant& grant) { return grant.partition == partition; });
    return stream.confirmed == stream.number && !assigned && !stream.held.contains(partition);
}

void Allocator::add_moves(Instant now, Plan& plan) const {
    View view{.lists = lists_,
              .workers = workers(now),
              .present = present_,
              .confirmed = {},
              .epoch = epoch_};
    for (const auto& [partition, ownership] : present_) {
        const auto* releasing = std::get_if<ownership::Releasing>(&ownership);
        if (releasing != nullptr && is_confirmed(partition, *releasing)) {
            view.confirmed.insert(partition);
        }
    }
    const Assignment wanted = allocate(view);
    const auto add = [&](const PartitionKey& key, std::optional<Ownership> before,
                         std::optional<Ownership> after) {
        if (plan.moves.size() >= options_.moves_max) return;
        plan.moves.push_back(
            {.partition = key, .before = std::move(before), .after = std::move(after)});
    };
    for (const auto& [partition, ownership] : present_) {
        if (!wanted.contains(partition)) add(partition, ownership, std::nullopt);
    }
    for (const auto& [partition, ownership] : wanted) {
        const auto found = present_.find(partition);
        if (found == present_.end()) {
            add(partition, std::nullopt, ownership);
        } else if (found->second != ownership) {
            add(partition, found->second, ownership);
        }
    }
}

bool Allocator::Stream::is_steady() const {
    return confirmed == number && held.size() == sent.size() &&
           std::all_of(sent.begin(), sent.end(),
                       [&](const control::Grant& grant) { return held.contains(grant.partition); });
}

void Allocator::add_sends(Instant now, Plan& plan) {
    std::map<std::string, std::vector<control::Grant>> owned;
    for (const auto& [partition, ownership] : present_) {
        const auto* grant = std::get_if<ownership::Owned>(&ownership);
        if (grant == nullptr) continue;
        owned[grant->owner].push_back({.partition = partition, .epoch = grant->epoch});
    }
    for (auto& [name, worker] : workers_) {
        if (!worker.stream) continue;
        Stream& stream = *worker.stream;
        std::vector<control::Grant>& wanted = owned[name];
        const bool idle = stream.number == 0 && wanted.empty() && stream.held.empty();
        if (idle) continue;
        const bool differs = stream.number == 0 || stream.sent != wanted;
        if (!differs && stream.is_steady()) continue;
        if (!differs && now < stream.sent_at + options_.repeat_after) {
            consider(plan.wake_at, stream.sent_at + options_.repeat_after);
            continue;
        }
        if (differs) {
            stream.number += 1;
            stream.sent = std::move(wanted);
        }
        stream.sent_at = now;
        consider(plan.wake_at, now + options_.repeat_after);
        // The last quarter of the time is for letting go.
        plan.sends[name] = {.epoch = epoch_,
                            .number = stream.number,
                            .lease = options_.lease * 3 / 4,
                            .owned = stream.sent};
    }
}

void Allocator::wake_for_the_silent(Instant now, Plan& plan) const {
    for (const auto& [name, worker] : workers_) {
        if (!worker.recorded || worker.stream || gone_at(worker) <= now) continue;
        consider(plan.wake_at, gone_at(worker));
    }
}

}  // namespace baton::allocation
