#include "sim/leader_checks.h"

#include <algorithm>

#include "base/check.h"

namespace baton::sim {

namespace {

using namespace std::chrono_literals;

constexpr std::string_view kHowFar = "SELECT revision, next_statement FROM meta";

Epoch epoch_of(const SqlValue& value) {
    return Epoch(static_cast<std::uint64_t>(std::get<std::int64_t>(value)));
}

}  // namespace

LeaderChecks::LeaderChecks(World& world, SqlDatabase& disk, Duration ttl,
                           const Coordinators& coordinators)
    : world_(world),
      disk_(disk),
      sql_(*disk.connect(Access::read)),
      ttl_(ttl),
      coordinators_(coordinators),
      row_(read()),
      written_(*sql_->query(kHowFar)) {}

LeaderChecks::Row LeaderChecks::read() {
    const auto rows = *sql_->query(
        "SELECT l.owner, l.epoch, l.expires_at, f.epoch FROM lease l, fence f "
        "WHERE l.lock_key = 'leader' AND f.lock_key = 'leader'");
    CHECK(rows.size() == 1);
    const SqlRow& row = rows.front();
    return {.owner = std::get<std::string>(row[0]),
            .epoch = epoch_of(row[1]),
            .ends = Duration(std::get<std::int64_t>(row[2])),
            .fence = epoch_of(row[3])};
}

// ---- the lease ----------------------------------------------------------------------------------

void LeaderChecks::store_called() {
    const Row row = read();
    if (row.fence != row.epoch) {
        world_.violated("the lease is of epoch " + to_string(row.epoch) + ", its fence of " +
                        to_string(row.fence));
    }
    if (row.ends > now() + ttl_) world_.violated(row.owner + " holds the lease for too long");
    if (row.epoch != row_.epoch || row.owner != row_.owner) {
        check_taken(row);
    } else {
        check_kept(row);
    }
    row_ = row;
}

void LeaderChecks::check_taken(const Row& row) {
    if (row_.ends > now()) {
        world_.violated(row.owner + " takes the lease that " + row_.owner + " holds");
    }
    if (row.epoch <= row_.epoch) {
        world_.violated(row.owner + " takes the lease under epoch " + to_string(row.epoch) +
                        ", which is not above " + to_string(row_.epoch));
    }
}

void LeaderChecks::check_kept(const Row& row) {
    if (row.ends > row_.ends && row_.ends <= now()) {
        world_.violated(row.owner + " renews a lease that has ended");
    }
    const bool released = row.ends < row_.ends;
    if (!released) return;
    for (const auto& coordinator : coordinators_) {
        if (coordinator->in_term() != row.epoch || coordinator->owner() != row.owner) continue;
        world_.violated(coordinator->name() + " releases the lease of epoch " +
                        to_string(row.epoch) + " before its term has ended");
    }
}

void LeaderChecks::restore(std::uint64_t dice) {
    const auto epoch = static_cast<std::int64_t>(dice % (row_.epoch.value() + 1));
    const auto sql = *disk_.connect(Access::write);
    CHECK(sql->execute("UPDATE lease SET owner = '', epoch = ?, expires_at = 0", {epoch}));
    CHECK(sql->execute("UPDATE fence SET epoch = ?", {epoch}));
    row_ = read();
    begun_.clear();
    over_.clear();
}

// ---- who leads ----------------------------------------------------------------------------------

void LeaderChecks::look() {
    const SimCoordinator* first = nullptr;
    for (const auto& coordinator : coordinators_) {
        const auto epoch = coordinator->acting();
        if (!epoch) continue;
        if (first != nullptr) {
            world_.violated(first->name() + " and " + coordinator->name() +
                            " may act at the same time");
        }
        first = coordinator.get();
        const bool holds =
            row_.owner == coordinator->owner() && row_.epoch == epoch && row_.ends > now();
        if (holds) continue;
        world_.violated(coordinator->name() + " may act under epoch " + to_string(*epoch) +
                        ", but the store would let another in");
    }
}

const SimCoordinator* LeaderChecks::leader() const {
    for (const auto& coordinator : coordinators_) {
        const auto epoch = coordinator->acting();
        if (epoch && coordinator->in_term() == epoch) return coordinator.get();
    }
    return nullptr;
}

void LeaderChecks::began(const SimCoordinator& coordinator, Epoch epoch) {
    const auto [term, is_new] = begun_.emplace(epoch, coordinator.owner());
    if (is_new) terms_ += 1;
    if (term->second != coordinator.owner() || over_.contains(epoch)) {
        world_.violated("epoch " + to_string(epoch) + " begins a second time");
    }
}

void LeaderChecks::superseded(const SimCoordinator& coordinator) {
    constexpr std::size_t kMost = 14;
    auto& times = superseded_[coordinator.owner()];
    std::erase_if(times, [&](Duration then) { return then + 1min < now(); });
    times.push_back(now());
    if (times.size() <= kMost) return;
    world_.violated(coordinator.name() + " has stepped down " + std::to_string(times.size()) +
                    " times in a minute");
}

// ---- what they do -------------------------------------------------------------------------------

void LeaderChecks::wrote(const SimCoordinator& coordinator, Epoch epoch) {
    auto written = *sql_->query(kHowFar);
    if (written == written_) {
        if (coordinator.looked_before() && row_.epoch != epoch) fenced_ += 1;
        return;
    }
    written_ = std::move(written);
    if (row_.epoch != epoch || row_.owner != coordinator.owner()) {
        world_.violated(coordinator.name() + " has written as epoch " + to_string(epoch) +
                        ", but the lease is of epoch " + to_string(row_.epoch));
    }
    if (coordinator.looked_before() || coordinator.acting() == epoch) return;
    world_.violated(coordinator.name() + " has written under epoch " + to_string(epoch) +
                    ", though it may not act");
}

void LeaderChecks::spoke(const SimCoordinator& coordinator, Epoch epoch) {
    if (coordinator.looked_before() || coordinator.acting() == epoch) return;
    world_.violated(coordinator.name() + " speaks to a worker under epoch " + to_string(epoch) +
                    ", though it may not act");
}

void LeaderChecks::obeyed(const std::string& worker, Epoch epoch) {
    Epoch& highest = obeyed_[worker];
    if (epoch < highest) {
        world_.violated(worker + " obeys epoch " + to_string(epoch) + ", though it has obeyed " +
                        to_string(highest));
    }
    highest = std::max(highest, epoch);
}

}  // namespace baton::sim
