// ClientQueries are those whose rows go to a client: they end with the client, and nobody waits for
// that.
#pragma once

#include <mutex>
#include <set>
#include <string>

#include "base/id.h"
#include "base/result.h"
#include "coordinator/commit/bundle.h"
#include "coordinator/commit/commit_loop.h"
#include "coordinator/reading/readers.h"
#include "ports/clock.h"

namespace baton {

// FORCEFUL, and no matter whether it is there.
[[nodiscard]] Bundle drop_of(QueryId query, const Clock& clock);

class ClientQueries {
public:
    explicit ClientQueries(const Clock& clock) : clock_(clock) {}

    // FORCEFUL. What cannot be asked for now, because too much waits for the writer, is asked for
    // together with the next. `commits` ends before this does.
    void drop(CommitLoop& commits, QueryId query);

    // All that the catalog has, waiting for the answers: at its opening nobody reads them any more.
    // What cannot be dropped now, because the disk is full, is dropped later, too.
    [[nodiscard]] Result<Done> drop_left_over(CommitLoop& commits, Readers& readers);

private:
    void settled(QueryId query, const Outcome& outcome);

    const Clock& clock_;
    std::mutex mutex_;
    std::set<QueryId> undone_;
};

}  // namespace baton
