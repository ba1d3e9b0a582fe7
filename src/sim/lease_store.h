// LeaseStore is the lock service of a simulated world: that of the product, on the catalog that all
// coordinators share, by the world's clock. Calls of it are late, lost or refused, or their outcome
// stays unknown.
#pragma once

#include <functional>
#include <memory>
#include <optional>

#include "base/time.h"
#include "coordinator/term/lease_calls.h"
#include "ports/sql.h"
#include "sim/world.h"
#include "sim/world_time_sql.h"
#include "testing/faulty_sql.h"

namespace baton::sim {

class LeaseStore {
public:
    // `disk` outlives the store. `called` is called after each call that reached the store.
    LeaseStore(World& world, SqlDatabase& disk, std::function<void()> called);

    // The call reaches the store, though its caller may be gone by now. None: no answer.
    [[nodiscard]] std::optional<election::Event> take(const coordinator::LeaseClaim& claim,
                                                      const coordinator::LeaseCall& call);
    // How long a call or its answer is on its way; none: for ever.
    [[nodiscard]] std::optional<Duration> travel(Duration ttl);

    void set_away(bool away) { away_ = away; }
    [[nodiscard]] bool is_away() const { return away_; }
    void set_full(bool full) { full_ = full; }

private:
    [[nodiscard]] std::optional<testing::SqlFault> fault_at(const testing::SqlMoment& moment);

    World& world_;
    bool in_transaction_ = false;
    bool away_ = false;
    bool full_ = false;
    testing::FaultySqlDatabase disk_;  // asks for faults from its first connection on: after these
    WorldTimeSql sql_;
    const std::function<void()> called_;
};

}  // namespace baton::sim
