#include "core/allocation/allocation.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "base/overload.h"

namespace baton::allocation {

namespace {

// A worker that can be given partitions.
struct Place {
    std::string name;
    std::uint64_t weight = 1;
    std::uint64_t quota = 0;
    std::uint64_t count = 0;                       // of partitions that are to be here
    std::map<std::string, std::uint64_t> of_list;  // the same, by list
    std::set<PartitionKey> keeps;
};

class Allocating {
public:
    explicit Allocating(const View& view) : view_(view) {
        for (const PartitionList& list : view.lists) lists_.emplace(list.name, list.partitions);
        for (const Candidate& worker : view.workers) {
            workers_.emplace(worker.name, &worker);
            if (worker.active && takes_part(worker)) {
                places_.emplace(worker.name, Place{.name = worker.name, .weight = worker.weight});
            }
        }
    }

    Assignment run() {
        for (const auto& [partition, ownership] : view_.present) sort(partition, ownership);
        for (const PartitionList& list : view_.lists) add_new(list);
        set_quotas();
        for (auto& [name, place] : places_) shed(place);
        keep_directions();
        for (const auto& [partition, ownership] : loose_) settle(partition, ownership);
        return std::move(result_);
    }

private:
    [[nodiscard]] static bool takes_part(const Candidate& worker) {
        return !worker.draining && worker.weight > 0;
    }
    [[nodiscard]] bool is_wanted(const PartitionKey& partition) const {
        const auto list = lists_.find(partition.list);
        return list != lists_.end() && partition.number < list->second;
    }
    [[nodiscard]] const Candidate* worker(const std::string& name) const {
        const auto found = workers_.find(name);
        return found == workers_.end() ? nullptr : found->second;
    }

    // ---- what stays, and what needs a place
    // ------------------------------------------------------

    void sort(const PartitionKey& partition, const Ownership& ownership) {
        std::visit(Overload{
                       [&](const Unowned&) { loosen(partition, Unowned{}, ""); },
                       [&](const Owned& owned) { sort_owned(partition, owned); },
                       [&](const Releasing& releasing) {
                           const bool free = worker(releasing.owner) == nullptr ||
                                             view_.confirmed.contains(partition);
                           loosen(partition, free ? Ownership(Unowned{}) : Ownership(releasing),
                                  releasing.next_owner);
                       },
                   },
                   ownership);
    }
    void sort_owned(const PartitionKey& partition, const Owned& owned) {
        const Candidate* owner = worker(owned.owner);
        if (owner == nullptr) {
            loosen(partition, Unowned{}, "");
        } else if (!is_wanted(partition) || !takes_part(*owner)) {
            loosen(partition, release(owned), "");
        } else if (!owner->active) {
            result_.emplace(partition, owned);
        } else {
            places_.at(owned.owner).keeps.insert(partition);
        }
    }
    [[nodiscard]] static Releasing release(const Owned& owned) {
        return {.owner = owned.owner, .epoch = owned.epoch, .next_owner = ""};
    }
    // It needs a place; `towards` is the one it was on its way to.
    void loosen(const PartitionKey& partition, Ownership ownership, const std::string& towards) {
        if (!towards.empty()) towards_.emplace(partition, towards);
        loose_.emplace(partition, std::move(ownership));
    }
    void add_new(const PartitionList& list) {
        for (std::uint32_t number = 0; number < list.partitions; ++number) {
            const PartitionKey partition{.list = list.name, .number = number};
            if (!view_.present.contains(partition)) loosen(partition, Unowned{}, "");
        }
    }

    // ---- how many each is to have
    // ----------------------------------------------------------------

    // The share of each, rounded down; what is left over goes, one each, to those that have more
    // than that already, then by name. So who was chosen once is chosen again.
    void set_quotas() {
        std::uint64_t weights = 0;
        std::uint64_t partitions = 0;
        for (const auto& [name, place] : places_) {
            weights += place.weight;
            partitions += place.keeps.size();
        }
        for (const auto& [partition, ownership] : loose_)
            partitions += is_wanted(partition) ? 1 : 0;
        if (weights == 0) return;
        std::uint64_t left = partitions;
        std::vector<Place*> first;
        std::vector<Place*> then;
        for (auto& [name, place] : places_) {
            place.quota = partitions * place.weight / weights;
            left -= place.quota;
            if (partitions * place.weight % weights == 0) continue;
            (place.keeps.size() > place.quota ? first : then).push_back(&place);
        }
        first.insert(first.end(), then.begin(), then.end());
        for (std::size_t i = 0; i < left; ++i) first.at(i)->quota += 1;
    }

    // Keeps what the quota allows, and lets go of the lists of which it has the most.
    void shed(Place& place) {
        std::map<std::string, std::vector<PartitionKey>> by_list;
        for (const PartitionKey& partition : place.keeps)
            by_list[partition.list].push_back(partition);
        for (std::size_t keeps = place.keeps.size(); keeps > place.quota; --keeps) {
            auto& most =
                std::max_element(by_list.begin(), by_list.end(), [](const auto& a, const auto& b) {
                    return a.second.size() < b.second.size();
                })->second;
            const auto& owned = std::get<Owned>(view_.present.at(most.back()));
            loosen(most.back(), release(owned), "");
            most.pop_back();
        }
        for (const auto& [list, partitions] : by_list) {
            for (const PartitionKey& partition : partitions) {
                result_.emplace(partition, view_.present.at(partition));
                count(place, partition);
            }
        }
    }
    static void count(Place& place, const PartitionKey& partition) {
        place.count += 1;
        place.of_list[partition.list] += 1;
    }

    // ---- where the rest goes
    // ---------------------------------------------------------------------

    // Whoever was to have it has it still, if there is room.
    void keep_directions() {
        for (auto at = towards_.begin(); at != towards_.end();) {
            const auto place = places_.find(at->second);
            const bool room = place != places_.end() && place->second.count < place->second.quota &&
                              is_wanted(at->first);
            if (room) count(place->second, at->first);
            at = room ? std::next(at) : towards_.erase(at);
        }
    }
    // The one that has the fewest of this list, then the emptiest, for its weight; none has room
    // only if there is no place at all.
    [[nodiscard]] Place* best(const PartitionKey& partition) {
        Place* best = nullptr;
        const auto fill = [&](Place& place) {
            return std::pair{place.of_list[partition.list] * 1'000 / place.weight,
                             place.count * 1'000 / place.weight};
        };
        for (auto& [name, place] : places_) {
            if (place.count >= place.quota) continue;
            if (best == nullptr || fill(place) < fill(*best)) best = &place;
        }
        return best;
    }
    [[nodiscard]] std::string direction(const PartitionKey& partition) {
        if (!is_wanted(partition)) return "";
        const auto known = towards_.find(partition);
        if (known != towards_.end()) return known->second;
        Place* place = best(partition);
        if (place == nullptr) return "";
        count(*place, partition);
        return place->name;
    }
    void settle(const PartitionKey& partition, const Ownership& ownership) {
        const std::string next = direction(partition);
        if (const auto* releasing = std::get_if<Releasing>(&ownership)) {
            Releasing still = *releasing;
            still.next_owner = next;
            result_.emplace(partition, std::move(still));
        } else if (!next.empty()) {
            result_.emplace(partition, Owned{.owner = next, .epoch = view_.epoch});
        } else if (is_wanted(partition)) {
            result_.emplace(partition, Unowned{});
        }
    }

    const View& view_;
    std::map<std::string, std::uint32_t> lists_;
    std::map<std::string, const Candidate*> workers_;
    std::map<std::string, Place> places_;
    Assignment loose_;
    std::map<PartitionKey, std::string> towards_;
    Assignment result_;
};

}  // namespace

Assignment allocate(const View& view) {
    return Allocating(view).run();
}

}  // namespace baton::allocation
