#include "core/worker/holdings.h"

#include <algorithm>
#include <utility>

namespace baton::worker {

using holdings::Release;
using holdings::Take;

namespace {

constexpr std::size_t kAnswersKept = 64;  // that nobody said have arrived

}  // namespace

Holdings::Effects Holdings::welcomed(Instant at) {
    Effects effects = settle(at);
    answers_.clear();
    answers_[0] = at;
    if (untold_) untold_ = 0;  // the welcome says what is held
    number_ = 0;
    assigned_.clear();
    return effects;
}

Holdings::Effects Holdings::beat(Instant at, const control::Beat& beat) {
    if (const auto found = answers_.find(beat.answered); found != answers_.end()) {
        heard_ = std::max(heard_.value_or(found->second), found->second);
        answers_.erase(answers_.begin(), found);
    }
    if (untold_ && beat.answered > *untold_) untold_.reset();
    answers_.try_emplace(beat.number, at);
    if (answers_.size() > kAnswersKept) answers_.erase(answers_.begin());
    return settle(at);
}

Holdings::Effects Holdings::assign(Instant at, const control::Assign& assign) {
    if (assign.number > number_) {
        number_ = assign.number;
        lease_ = assign.lease;
        assigned_.clear();
        for (const control::Grant& grant : assign.owned) {
            assigned_.emplace(grant.partition, grant.epoch);
        }
        // Who assigns has our welcome.
        if (const auto first = answers_.find(0); first != answers_.end()) {
            heard_ = std::max(heard_.value_or(first->second), first->second);
        }
    }
    return settle(at);
}

Holdings::Effects Holdings::released(Instant at, const std::vector<PartitionKey>& partitions) {
    for (const PartitionKey& partition : partitions) {
        const auto found = held_.find(partition);
        if (found == held_.end() || !found->second.going) continue;
        held_.erase(found);
        untold_ = answers_.empty() ? 0 : answers_.rbegin()->first;
    }
    return settle(at);
}

Holdings::Effects Holdings::tick(Instant at) {
    return settle(at);
}

std::optional<Instant> Holdings::valid_until() const {
    if (!heard_) return std::nullopt;
    return *heard_ + lease_ - release_time_;
}

std::optional<Instant> Holdings::wake_at() const {
    const bool any = std::any_of(held_.begin(), held_.end(),
                                 [](const auto& held) { return !held.second.going; });
    return any ? valid_until() : std::nullopt;
}

Holdings::Effects Holdings::settle(Instant at) {
    Effects effects;
    const auto until = valid_until();
    const bool valid = until && at < *until;
    for (auto& [partition, held] : held_) {
        const auto wanted = assigned_.find(partition);
        const bool named = wanted != assigned_.end() && wanted->second == held.epoch;
        const bool keeps = valid && (named || number_ == 0);  // 0: nobody has said yet
        if (keeps || std::exchange(held.going, true)) continue;
        effects.emplace_back(Release{partition});
    }
    if (!valid) return effects;
    for (const auto& [partition, epoch] : assigned_) {
        if (!held_.try_emplace(partition, Held{.epoch = epoch}).second) continue;
        effects.emplace_back(Take{{.partition = partition, .epoch = epoch}});
    }
    return effects;
}

std::vector<control::Grant> Holdings::held() const {
    std::vector<control::Grant> list;
    list.reserve(held_.size());
    for (const auto& [partition, held] : held_) {
        list.push_back({.partition = partition, .epoch = held.epoch});
    }
    return list;
}

}  // namespace baton::worker
