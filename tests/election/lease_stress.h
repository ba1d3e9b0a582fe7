// Several nodes fight for one lock on a real database, and stall at the worst moments: before a
// renewal, between a look at the lease and the write it is for, and inside the transaction. What
// they believed and what was written is compared afterwards.
//
// The same checker runs on locking and fencing that are known to be wrong, and must find them so.
#pragma once

#include <cstdint>

#include "base/time.h"
#include "ports/sql.h"

namespace baton::testing {

enum class Locking : std::uint8_t {
    lease,   // catalog/lease.h
    upsert,  // as first proposed: the old end is compared with the new one
};

enum class Fencing : std::uint8_t {
    held,              // hold_fence() in the transaction
    looked_at_before,  // the epoch is read, and then the transaction begins
    looked_at_within,  // it is read in the transaction, and its row is not locked: on servers
    none,
};

struct LeaseStress {
    Locking locking = Locking::lease;
    Fencing fencing = Fencing::held;
    int nodes = 6;
    Duration ttl = std::chrono::milliseconds(60);
    Duration margin = std::chrono::milliseconds(15);
    Duration lasts = std::chrono::seconds(3);
    std::uint64_t seed = 1;
};

struct LeaseFindings {
    std::uint64_t terms = 0;
    std::uint64_t overlaps = 0;  // of two nodes that believed to lead at the same time
    std::uint64_t writes = 0;
    std::uint64_t stale = 0;   // writes of an epoch after one of a higher epoch
    std::uint64_t fenced = 0;  // writes that were refused
};

// In an empty database.
[[nodiscard]] LeaseFindings fight(SqlDatabase& database, const LeaseStress& stress);

}  // namespace baton::testing
