// What holds along every history of workers that come, go, drain and fall silent, lists that come,
// go and change their size, and confirmations that take their time.
#include <algorithm>

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include "core/allocation/allocation.h"

namespace baton::allocation {
namespace {

// Evenly from low to before high, also in the first and small cases.
template <class T>
T drawn(T low, T high) {
    return *rc::gen::resize(rc::kNominalSize, rc::gen::inRange<T>(low, high));
}

bool chance(int percent) {
    return drawn(0, 100) < percent;
}

// What a worker holds, whatever anybody wrote: from when it is named until it lets go or is gone.
using Holding = std::map<PartitionKey, std::set<std::string>>;

class History {
public:
    History() {
        for (int i = drawn(0, 5); i > 0; --i) join();
        for (int i = drawn(0, 4); i > 0; --i) create_list();
    }

    void change() {
        switch (drawn(0, 8)) {
            case 0:
                return join();
            case 1:
                return leave();
            case 2:
                return with_worker([](Candidate& w) { w.draining = !w.draining; });
            case 3:
                return with_worker([](Candidate& w) { w.active = !w.active; });
            case 4:
                return with_worker([](Candidate& w) { w.weight = drawn(0U, 5U); });
            case 5:
                return create_list();
            case 6:
                return with_list();
            default:
                return confirm_some();
        }
    }

    // Commits what allocate() says, as the leader would, and lets the workers follow.
    void commit() {
        before = view;
        view.present = allocate(view);
        view.confirmed.clear();
        for (const auto& [partition, ownership] : view.present) {
            if (const auto* owned = std::get_if<Owned>(&ownership)) {
                holding[partition].insert(owned->owner);
            } else if (const auto* releasing = std::get_if<Releasing>(&ownership)) {
                asked_[partition] = releasing->owner;
            }
        }
    }

    // Whoever was asked to let go does so, now or later, whatever was written meanwhile.
    void confirm_some(int percent = 50) {
        for (auto at = asked_.begin(); at != asked_.end();) {
            const auto& [partition, owner] = *at;
            if (!chance(percent)) {
                ++at;
                continue;
            }
            holding[partition].erase(owner);
            const auto on_record = view.present.find(partition);
            if (on_record != view.present.end() &&
                std::holds_alternative<Releasing>(on_record->second)) {
                view.confirmed.insert(partition);
            }
            at = asked_.erase(at);
        }
    }

    View view{.epoch = Epoch(1)};
    View before;  // what the last commit was made from
    Holding holding;

private:
    void join() {
        view.workers.push_back(
            {.name = "w" + std::to_string(next_++), .weight = chance(70) ? 1 : drawn(0U, 5U)});
    }
    void leave() {
        if (view.workers.empty()) return;
        const auto index = drawn<std::size_t>(0, view.workers.size());
        const std::string name = view.workers[index].name;
        for (auto& [partition, holders] : holding) holders.erase(name);
        std::erase_if(asked_, [&](const auto& each) { return each.second == name; });
        view.workers.erase(view.workers.begin() + static_cast<std::ptrdiff_t>(index));
    }
    template <class Change>
    void with_worker(Change change) {
        if (view.workers.empty()) return;
        change(view.workers[drawn<std::size_t>(0, view.workers.size())]);
    }
    void create_list() {
        view.lists.push_back({.name = "l" + std::to_string(next_++), .partitions = drawn(0U, 12U)});
    }
    void with_list() {
        if (view.lists.empty()) return;
        const auto index = drawn<std::size_t>(0, view.lists.size());
        if (chance(50)) {
            view.lists[index].partitions = drawn(0U, 12U);
        } else {
            view.lists.erase(view.lists.begin() + static_cast<std::ptrdiff_t>(index));
        }
    }
    std::map<PartitionKey, std::string> asked_;  // to let go
    int next_ = 1;
};

// Checks after every commit of a history.
template <class Check>
void along(Check check) {
    History history;
    history.commit();
    check(history);
    for (int i = drawn(0, 25); i > 0; --i) {
        history.change();
        if (chance(50)) history.confirm_some();
        history.view.epoch = history.view.epoch.next();
        history.commit();
        if (chance(30)) history.confirm_some();
        check(history);
    }
}

std::string heading_to(const Ownership& ownership) {
    if (const auto* owned = std::get_if<Owned>(&ownership)) return owned->owner;
    if (const auto* releasing = std::get_if<Releasing>(&ownership)) return releasing->next_owner;
    return "";
}

const Candidate* find(const View& view, const std::string& name) {
    const auto found = std::find_if(view.workers.begin(), view.workers.end(),
                                    [&](const Candidate& w) { return w.name == name; });
    return found == view.workers.end() ? nullptr : &*found;
}

bool takes_part(const Candidate& worker) {
    return worker.active && !worker.draining && worker.weight > 0;
}

bool wanted(const View& view, const PartitionKey& partition) {
    return std::any_of(view.lists.begin(), view.lists.end(), [&](const PartitionList& list) {
        return list.name == partition.list && partition.number < list.partitions;
    });
}

std::uint64_t total_weight(const View& view) {
    std::uint64_t weights = 0;
    for (const Candidate& worker : view.workers) weights += takes_part(worker) ? worker.weight : 0;
    return weights;
}

// How many partitions are shared out among those that take part.
std::uint64_t shared_out(const History& history) {
    std::uint64_t count = 0;
    for (const auto& [partition, ownership] : history.view.present) {
        const auto* owned = std::get_if<Owned>(&ownership);
        const Candidate* owner = owned != nullptr ? find(history.view, owned->owner) : nullptr;
        const bool stays = owner != nullptr && !owner->active;
        if (wanted(history.view, partition) && !stays) count += 1;
    }
    return count;
}

RC_GTEST_PROP(AllocationProperty, NoPartitionIsEverHeldByTwo, ()) {
    along([](const History& history) {
        for (const auto& [partition, holders] : history.holding) RC_ASSERT(holders.size() <= 1);
    });
}

RC_GTEST_PROP(AllocationProperty, WhoHoldsAPartitionIsOnRecordAndWhoIsOnRecordHoldsIt, ()) {
    along([](const History& history) {
        for (const auto& [partition, holders] : history.holding) {
            for (const std::string& holder : holders) {
                const auto found = history.view.present.find(partition);
                RC_ASSERT(found != history.view.present.end());
                const auto* owned = std::get_if<Owned>(&found->second);
                const auto* releasing = std::get_if<Releasing>(&found->second);
                RC_ASSERT((owned != nullptr && owned->owner == holder) ||
                          (releasing != nullptr && releasing->owner == holder));
            }
        }
        for (const auto& [partition, ownership] : history.view.present) {
            const auto* owned = std::get_if<Owned>(&ownership);
            if (owned != nullptr) RC_ASSERT(history.holding.at(partition).contains(owned->owner));
        }
    });
}

RC_GTEST_PROP(AllocationProperty, EveryPartitionOfEveryListHasAnOwnerIfAnybodyTakesPart, ()) {
    along([](const History& history) {
        std::size_t expected = 0;
        for (const PartitionList& list : history.view.lists) expected += list.partitions;
        std::size_t found = 0;
        for (const auto& [partition, ownership] : history.view.present) {
            if (!wanted(history.view, partition)) {
                RC_ASSERT(std::holds_alternative<Releasing>(ownership));
                continue;
            }
            found += 1;
            if (total_weight(history.view) > 0) RC_ASSERT(!heading_to(ownership).empty());
        }
        RC_ASSERT(found == expected);
    });
}

RC_GTEST_PROP(AllocationProperty, AWorkerHasItsShareByWeightWithinOne, ()) {
    along([](const History& history) {
        const std::uint64_t weights = total_weight(history.view);
        const std::uint64_t partitions = shared_out(history);
        for (const Candidate& worker : history.view.workers) {
            if (!takes_part(worker)) continue;
            std::uint64_t count = 0;
            for (const auto& [partition, ownership] : history.view.present) {
                if (heading_to(ownership) == worker.name) count += 1;
            }
            // |count - partitions * weight / weights| < 1
            const std::uint64_t share = partitions * worker.weight;
            RC_ASSERT(count * weights < share + weights);
            RC_ASSERT(share < count * weights + weights);
        }
    });
}

// The most that can be kept where it is by any balanced allocation, found by trying them all.
std::uint64_t most_kept(const std::vector<std::pair<std::uint64_t, std::uint64_t>>& held_and_share,
                        std::uint64_t weights, std::uint64_t left, std::size_t index = 0) {
    if (index == held_and_share.size()) return 0;
    const auto [held, share] = held_and_share[index];
    std::uint64_t best = 0;
    for (std::uint64_t quota = share / weights; quota <= share / weights + 1; ++quota) {
        const bool balanced = quota * weights < share + weights;
        // What remains must fit: within one of the shares that remain.
        std::uint64_t rest_min = 0;
        std::uint64_t rest_max = 0;
        for (std::size_t i = index + 1; i < held_and_share.size(); ++i) {
            rest_min += held_and_share[i].second / weights;
            rest_max += (held_and_share[i].second + weights - 1) / weights;
        }
        if (!balanced || quota > left || left - quota < rest_min || left - quota > rest_max)
            continue;
        best = std::max(best, std::min(held, quota) +
                                  most_kept(held_and_share, weights, left - quota, index + 1));
    }
    return best;
}

// The partitions that this worker had and that are still wanted; and how many of them it keeps.
std::pair<std::uint64_t, std::uint64_t> held_and_kept(const History& history,
                                                      const std::string& name) {
    std::uint64_t held = 0;
    std::uint64_t kept = 0;
    for (const auto& [partition, ownership] : history.before.present) {
        const auto* owned = std::get_if<Owned>(&ownership);
        if (owned == nullptr || owned->owner != name) continue;
        if (!wanted(history.view, partition)) continue;
        held += 1;
        kept += history.view.present.at(partition) == ownership ? 1 : 0;
    }
    return {held, kept};
}

RC_GTEST_PROP(AllocationProperty, NoBalancedAllocationMovesFewerPartitions, ()) {
    along([](const History& history) {
        const std::uint64_t weights = total_weight(history.view);
        const std::uint64_t partitions = shared_out(history);
        if (weights == 0) return;
        std::vector<std::pair<std::uint64_t, std::uint64_t>> held_and_share;
        std::uint64_t kept = 0;
        for (const Candidate& worker : history.view.workers) {
            if (!takes_part(worker)) continue;
            const auto [had, keeps] = held_and_kept(history, worker.name);
            kept += keeps;
            held_and_share.emplace_back(had, partitions * worker.weight);
        }
        RC_ASSERT(kept == most_kept(held_and_share, weights, partitions));
    });
}

RC_GTEST_PROP(AllocationProperty, WhoDrainsOwnsNothingThatIsNotBeingReleased, ()) {
    along([](const History& history) {
        for (const auto& [partition, ownership] : history.view.present) {
            const auto* owned = std::get_if<Owned>(&ownership);
            if (owned == nullptr) continue;
            const Candidate* owner = find(history.view, owned->owner);
            RC_ASSERT(owner != nullptr && !owner->draining && owner->weight > 0);
        }
    });
}

RC_GTEST_PROP(AllocationProperty, WhoIsSilentIsGivenNothing, ()) {
    along([](const History& history) {
        for (const auto& [partition, ownership] : history.view.present) {
            const Candidate* next = find(history.view, heading_to(ownership));
            if (next == nullptr || next->active) continue;
            const auto had = history.before.present.find(partition);
            RC_ASSERT(had != history.before.present.end() && had->second == ownership);
        }
    });
}

RC_GTEST_PROP(AllocationProperty, WhatWasAllocatedIsAllocatedTheSame, ()) {
    along([](const History& history) {
        View again = history.view;
        again.confirmed.clear();
        again.epoch = again.epoch.next();
        RC_ASSERT(allocate(again) == history.view.present);
    });
}

RC_GTEST_PROP(AllocationProperty, ANewOwnerIsNamedUnderTheEpochOfWhoNamesIt, ()) {
    along([](const History& history) {
        for (const auto& [partition, ownership] : history.view.present) {
            const auto* owned = std::get_if<Owned>(&ownership);
            const auto had = history.before.present.find(partition);
            if (owned == nullptr) continue;
            if (had != history.before.present.end() && had->second == ownership) continue;
            RC_ASSERT(owned->epoch == history.view.epoch);
        }
    });
}

RC_GTEST_PROP(AllocationProperty, WhenAllIsConfirmedAllIsSettled, ()) {
    along([](History history) {
        for (int round = 0; round < 2; ++round) {
            history.confirm_some(100);
            history.commit();
        }
        for (const auto& [partition, ownership] : history.view.present) {
            RC_ASSERT(!std::holds_alternative<Releasing>(ownership));
        }
    });
}

}  // namespace
}  // namespace baton::allocation
