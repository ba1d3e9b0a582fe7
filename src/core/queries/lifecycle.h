// Lifecycle says what may follow what in the life of a query and of its fragments. The catalog's
// requests, deployment, waits and row feeds all judge by it; docs/QUERY_LIFE.md is printed from it.
//
// Input:   a query and its fragments as the catalog has them, and what is asked of them.
// Output:  how they are afterwards, or an Error: query_state and why not.
//
// Rules:
//   - A state in which a query has ended is final; only the query's row may still go.
//   - Workers hear of a query only after it left PENDING. One that is PENDING ends or goes at once;
//     any other ends or goes when all of its fragments have ended.
//   - The desire of a query goes only one way: RUNNING, then STOPPED or FAILED, then DROPPED.
//     FORCEFUL overrides GRACEFUL, and never the other way round for the same desire.
//   - RUNNING needs every fragment RUNNING on an ACTIVE worker, or TERMINATED. When a fragment or
//     its worker no longer allows that, the query is DEPLOYING again in the same step.
//   - A fragment of a query that has ended does not come back. The next run begins only when every
//     fragment of the last one has ended.
// Pure: no clock, no I/O, no randomness. `since` and revisions are the catalog's to set.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "model/controller_requests.h"
#include "model/entities.h"

namespace baton::queries::lifecycle {

// ---- states -------------------------------------------------------------------------------------

// Some worker may have heard of a query in this state.
[[nodiscard]] constexpr bool workers_may_know(QueryState state) {
    return state != QueryState::pending;
}
// In this state the query neither changes by itself soon nor is on its way anywhere.
[[nodiscard]] constexpr bool is_steady(QueryState state) {
    return state == QueryState::running || has_ended(state);
}
// The fragment does its part of a query that is RUNNING, or has done all of it.
[[nodiscard]] constexpr bool does_its_part(FragmentState state) {
    return state == FragmentState::running || state == FragmentState::terminated;
}
// The fragment has ended, and not because its sources had: its run cannot go on.
[[nodiscard]] constexpr bool ends_its_run(FragmentState state) {
    return has_ended(state) && state != FragmentState::terminated;
}
// The state in which a query with this desire ends; none: its row goes, or it ends by itself.
[[nodiscard]] std::optional<QueryState> end_of(QueryDesire desired);
// Whether the query, which is not in that state, may still come into it without another request
// of a client.
[[nodiscard]] bool can_become(const Query& query, QueryState wanted);

// The prospect for a client that reads the query's rows.
enum class Outlook : std::uint8_t {
    waits,       // no worker has heard of it yet
    on_its_way,  // it is being deployed, for the first time or again
    runs,
    taken_away,  // a client stopped or dropped it
    complete,    // its sources have ended
    fails,       // it has failed, or is going to
};
[[nodiscard]] Outlook outlook(const Query& query);

// ---- what is asked of a query -------------------------------------------------------------------

enum class Became : std::uint8_t {
    unchanged,  // it was so already, or it ends anyway
    accepted,   // it is so when workers have confirmed
    changed,
    gone,  // its row goes, and those of its fragments
};
enum class Parts : std::uint8_t {
    stay,
    stop,   // those that have not ended are STOPPED: no worker had heard of them
    renew,  // all of them begin the next run
};

struct Turn {
    Became became = Became::unchanged;
    Query after;  // as it was, if it is gone
    Parts parts = Parts::stay;
};

// A fragment as far as it decides about its query.
struct Part {
    FragmentId id;
    FragmentState state = FragmentState::pending;
    std::string worker;
    WorkerState worker_state = WorkerState::active;  // looked at if RUNNING is asked for
};

[[nodiscard]] Result<Turn> stop(const Query& query, StopMode mode);
[[nodiscard]] Turn drop(const Query& query, StopMode mode);
[[nodiscard]] Turn fail(const Query& query, const Reason& reason);
[[nodiscard]] Result<Turn> mark(const Query& query, const controllers::MarkQuery& mark,
                                std::span<const Part> parts);
// `restarts` counts those without a steady run between, this one included.
[[nodiscard]] Result<Turn> restart(const Query& query, const Reason& reason, std::uint64_t restarts,
                                   std::span<const Part> parts);
[[nodiscard]] Result<Turn> release(const Query& query, std::span<const Part> parts);

// ---- what befalls its fragments and workers -----------------------------------------------------

struct FragmentTurn {
    Fragment after;
    bool comes_back = false;           // it needs slots again, which others may have taken since
    std::optional<Query> interrupted;  // its query, if it was RUNNING and no longer is
};
// By its worker. Query, fragment and `reported` belong together.
[[nodiscard]] Result<FragmentTurn> report(const Query& query, const Fragment& fragment,
                                          const controllers::ReportFragment& reported);

// Why queries that run there do so no longer; none: they do.
[[nodiscard]] std::optional<Reason> interruption(const Worker& before, const Worker& after);
// A query that is RUNNING, after that.
[[nodiscard]] Query interrupted(const Query& query, const Reason& why);
// Why a query does not run, of which this fragment is in that state for that reason.
[[nodiscard]] Reason reason_of(FragmentId fragment, const std::string& worker, FragmentState state,
                               const Reason& reason);

// A fragment whose query stops or renews its parts, after that.
[[nodiscard]] Fragment stopped(const Fragment& fragment);
[[nodiscard]] Fragment renewed(const Fragment& fragment, std::uint64_t run);

}  // namespace baton::queries::lifecycle
