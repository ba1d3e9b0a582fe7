// The requests by which the controllers write their decisions to the catalog: core makes them, and
// the catalog carries them out with those of clients (catalog/requests.h).
//
// The comment on each request names the errors that it may end with; any request may also end with
// an error of the database (6xxx).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/id.h"
#include "model/counts.h"
#include "model/partition.h"
#include "model/reason.h"
#include "model/states.h"

namespace baton::controllers {

// unknown_worker. An UNREACHABLE worker, and one that is back in another incarnation, takes its
// RUNNING queries to DEPLOYING in the same step.
struct ReportWorker {
    std::string name;
    WorkerState state = WorkerState::active;
    std::optional<Incarnation> incarnation;  // none: keep what is known
    Reason reason;
    bool leaving = false;  // its process was asked to end
    friend bool operator==(const ReportWorker&, const ReportWorker&) = default;
};

// unknown_query if the fragment is gone; query_state if no worker can have it, because its query is
// PENDING, or has ended while the fragment is reported to live; placement if it comes back to a
// worker that is full. A RUNNING query goes to DEPLOYING, unless the fragment is RUNNING or
// TERMINATED.
struct ReportFragment {
    FragmentId fragment;
    FragmentState state = FragmentState::pending;
    Reason reason;
    std::optional<Counts> counts;  // with an ended state, if the worker reported them
    friend bool operator==(const ReportFragment&, const ReportFragment&) = default;
};

// unknown_query; query_state if fragments or workers do not allow that state: RUNNING needs every
// fragment running on an ACTIVE worker or TERMINATED, an ended state needs every fragment ended.
// DEPLOYING and RUNNING need a query that was not stopped or dropped and that can run. A query that
// has ended stays as it ended.
struct MarkQuery {
    QueryId query;
    QueryState state = QueryState::pending;
    Reason reason;
    std::vector<std::string> lagging;
    friend bool operator==(const MarkQuery&, const MarkQuery&) = default;
};

// unknown_query. The query is to end FAILED: at once if it was never sent to a worker, otherwise it
// is STOPPING, FORCEFUL, until the last fragment is confirmed gone. Changes nothing if it is ending
// already.
struct FailQuery {
    QueryId query;
    Reason reason;
    friend bool operator==(const FailQuery&, const FailQuery&) = default;
};

// unknown_query; query_state if a fragment has not ended, or if the query is PENDING, ending or
// ended; placement if a worker has no slot left for its fragment. Begins the next run: DEPLOYING,
// every fragment PENDING again where it was.
struct RestartQuery {
    QueryId query;
    Reason reason;
    std::uint64_t restarts = 1;  // without a steady run between, this one included
    friend bool operator==(const RestartQuery&, const RestartQuery&) = default;
};

// Removes a query that is to be dropped and has no live fragment; query_state otherwise.
struct ReleaseQuery {
    QueryId query;
    friend bool operator==(const ReleaseQuery&, const ReleaseQuery&) = default;
};

// All or none. conflict unless every partition is as the plan was made for, and a partition goes
// from one worker to another without being released only if the first is UNREACHABLE;
// unknown_worker for an owner that is not there.
struct AssignPartitions {
    std::vector<PartitionMove> moves;
    friend bool operator==(const AssignPartitions&, const AssignPartitions&) = default;
};

}  // namespace baton::controllers
