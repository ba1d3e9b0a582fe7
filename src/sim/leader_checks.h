// LeaderChecks test, after every event, the rules for coordinators that contend for the lease. They
// look at the rows of the lease and the fence, at the coordinators that may act, at every write and
// at the commands that workers obey: from outside, and with the world's clock, which is the
// store's.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/id.h"
#include "base/time.h"
#include "ports/sql.h"
#include "sim/coordinator.h"
#include "sim/world.h"

namespace baton::sim {

class LeaderChecks {
public:
    using Coordinators = std::vector<std::unique_ptr<SimCoordinator>>;

    // All outlive it. `disk` is read without faults.
    LeaderChecks(World& world, SqlDatabase& disk, Duration ttl, const Coordinators& coordinators);

    // The numbers are those of docs/INVARIANTS.md.
    // D8, after every event: at most one coordinator may act, and it holds the lease by the store's
    // clock.
    void look();
    // D9, after each call of the lease store: a lease is taken only when it has ended, under an
    // epoch above all before it, with its fence; renewed only before; and released only when the
    // work of its term has ended.
    void store_called();
    // D9: one term per epoch. It may begin more than once, if that does not succeed.
    void began(const SimCoordinator& coordinator, Epoch epoch);
    void ended(Epoch epoch) { over_.insert(epoch); }
    // I23, D11: a coordinator that has written to the catalog held the fence then, and could act.
    void wrote(const SimCoordinator& coordinator, Epoch epoch);
    // D11: a coordinator that speaks to workers may act.
    void spoke(const SimCoordinator& coordinator, Epoch epoch);
    // A coordinator that is superseded again and again waits some time before it leads again.
    void superseded(const SimCoordinator& coordinator);
    // D5: a worker that has obeyed an epoch obeys no lower one.
    void obeyed(const std::string& worker, Epoch epoch);

    // Puts the lease and its fence back to an earlier term, chosen by `dice`. Epochs are used
    // again; no coordinator has a term now.
    void restore(std::uint64_t dice);

    // The coordinator that may act and has begun its term; null: none.
    [[nodiscard]] const SimCoordinator* leader() const;
    [[nodiscard]] std::uint64_t terms() const { return terms_; }
    // The number of actions that were refused because their process was paused after it had looked.
    [[nodiscard]] std::uint64_t fenced() const { return fenced_; }

private:
    struct Row {
        std::string owner;
        Epoch epoch;
        Duration ends{};  // since the beginning of the world
        Epoch fence;
    };
    [[nodiscard]] Row read();
    [[nodiscard]] Duration now() const { return world_.agenda.now().time_since_epoch(); }
    void check_taken(const Row& row);
    void check_kept(const Row& row);

    World& world_;
    SqlDatabase& disk_;
    std::unique_ptr<Sql> sql_;
    const Duration ttl_;
    const Coordinators& coordinators_;
    Row row_;
    std::vector<SqlRow> written_;         // how far the catalog was
    std::map<Epoch, std::string> begun_;  // by owners
    std::set<Epoch> over_;
    std::uint64_t terms_ = 0;
    std::map<std::string, Epoch> obeyed_;
    std::map<std::string, std::vector<Duration>> superseded_;  // when, by owner
    std::uint64_t fenced_ = 0;
};

}  // namespace baton::sim
