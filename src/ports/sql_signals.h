// SqlSignals tells that others have changed something in a database that can say so, at once. It
// tells that, not what: who hears of it looks. A database that cannot has none, and is looked at
// every so often.
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
    // interrupted. Connects if it has to; then it says that anything may have happened, since
    // nobody was listening. Fails with catalog_unavailable; the next call connects again.
    [[nodiscard]] virtual Result<SqlSignal> wait(Duration at_most) = 0;
    // Ends a wait that is under way, or the next one. Any thread.
    virtual void interrupt() = 0;
};

// What is said on: one channel, two words. A database that is not PostgreSQL has none.
inline constexpr const char* kSignalChannel = "baton";
inline constexpr const char* kCommitSignal = "commit";
inline constexpr const char* kLeaseSignal = "lease";

}  // namespace baton
