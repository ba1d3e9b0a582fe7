// ClientQueries are those whose rows go to a client: they end with the client, which does not wait
// for that.
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

namespace baton::coordinator {

// FORCEFUL, and no matter whether it is there.
[[nodiscard]] Bundle drop_of(QueryId query, const Clock& clock);

class ClientQueries {
public:
    explicit ClientQueries(const Clock& clock) : clock_(clock) {}

    // FORCEFUL. A drop that the writer refuses, because its queue is full, is repeated together
    // with the next one. `commits` ends before this does.
    void drop(CommitLoop& commits, QueryId query);

    // Drops all that the catalog has, waiting for the answers: when it is opened, their clients are
    // gone. Queries that cannot be dropped now, because the disk is full, are dropped later.
    [[nodiscard]] Result<Done> drop_left_over(CommitLoop& commits, Readers& readers);

private:
    void dropped(QueryId query, const Outcome& outcome);

    const Clock& clock_;
    std::mutex mutex_;
    std::set<QueryId> undone_;
};

}  // namespace baton::coordinator
