// SqlSignals reports at once that others have committed to a database, or that a coordinator has
// taken or given up the lease, so that standbys look at it at once. It reports that, not what: the
// listener looks. A database without signals is looked at every so often, and a lost signal costs
// no more than that.
//
// Used by one thread at a time, except for interrupt().
#pragma once

#include "base/result.h"
#include "base/time.h"

namespace baton {

struct SqlSignal {
    bool commit = false;  // something was committed to the catalog
    bool lease = false;   // a lease was taken, or given up
};

class SqlSignals {
public:
    virtual ~SqlSignals() = default;

    // Returns when a signal came since the last call, with nothing when the time is over or it was
    // interrupted. Connects if it has to; then it reports that anything may have happened, since it
    // was not listening before. Fails with catalog_unavailable; the next call connects again.
    [[nodiscard]] virtual Result<SqlSignal> wait(Duration at_most) = 0;
    // Ends a wait that is under way, or the next one. Any thread.
    virtual void interrupt() = 0;
};

// The channel of the signals, with two words. A database that is not PostgreSQL has none.
inline constexpr const char* kSignalChannel = "baton";
inline constexpr const char* kCommitSignal = "commit";
inline constexpr const char* kLeaseSignal = "lease";

}  // namespace baton
