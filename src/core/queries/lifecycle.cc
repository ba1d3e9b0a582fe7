#include "core/queries/lifecycle.h"

#include <algorithm>

#include "base/text.h"

namespace baton::queries::lifecycle {

namespace {

Error refusal(const std::string& message) {
    return Error{.code = ErrorCode::query_state, .message = message};
}

std::string is_in(const Part& part) {
    return "fragment " + to_string(part.id) + " is " + std::string(to_string(part.state));
}

const Part* first_alive(std::span<const Part> parts) {
    const auto found = std::find_if(parts.begin(), parts.end(),
                                    [](const Part& part) { return !has_ended(part.state); });
    return found == parts.end() ? nullptr : &*found;
}

// The mode in which a query is stopped that may be stopped `again`.
StopMode mode_of(const Query& query, StopMode asked, bool again) {
    return again && query.stop_mode == StopMode::forceful ? StopMode::forceful : asked;
}

// A worker that still has something is waited for only until the query has ended.
Turn turned(const Query& before, Became became, Query after, Parts parts = Parts::stay) {
    if (has_ended(after.state)) after.lagging.clear();
    if (became != Became::gone && after == before) became = Became::unchanged;
    return {.became = became, .after = std::move(after), .parts = parts};
}

// Why the query cannot be marked so, whatever its fragments are; empty if it can.
std::string objection_to(const Query& query, QueryState wanted) {
    if (wanted == query.state) return "";
    if (has_ended(query.state)) return "it is " + std::string(to_string(query.state)) + " for good";
    if (wanted == QueryState::pending) return "workers know of it already";
    const bool upwards = wanted == QueryState::deploying || wanted == QueryState::running;
    // One that was dropped meanwhile ends by being released, or nobody would look at it again.
    const bool stays = has_ended(wanted) && query.desired == QueryDesire::dropped;
    if ((upwards && query.desired != QueryDesire::running) || stays) {
        return "it is to be " + std::string(to_string(query.desired));
    }
    return "";
}

std::string objection_to(const Part& part, QueryState wanted) {
    if (has_ended(wanted) && !has_ended(part.state)) return is_in(part);
    if (wanted != QueryState::running || part.state == FragmentState::terminated) return "";
    if (!does_its_part(part.state)) return is_in(part);
    if (part.worker_state == WorkerState::active) return "";
    return "worker " + in_quotes(part.worker) + " is UNREACHABLE";
}

}  // namespace

// ---- states -------------------------------------------------------------------------------------

std::optional<QueryState> end_of(QueryDesire desired) {
    switch (desired) {
        case QueryDesire::stopped:
            return QueryState::stopped;
        case QueryDesire::failed:
            return QueryState::failed;
        case QueryDesire::running:
        case QueryDesire::dropped:
            return std::nullopt;
    }
    CHECK(false && "an unknown desire");
}

bool can_become(const Query& query, QueryState wanted) {
    if (has_ended(query.state) || wanted == QueryState::pending) return false;
    return query.desired == QueryDesire::running || end_of(query.desired) == wanted;
}

Outlook outlook(const Query& query) {
    if (query.desired == QueryDesire::failed) return Outlook::fails;
    switch (query.state) {
        case QueryState::pending:
            return Outlook::waits;
        case QueryState::deploying:
            return Outlook::on_its_way;
        case QueryState::running:
            return Outlook::runs;
        case QueryState::stopping:
        case QueryState::stopped:
            return Outlook::taken_away;
        case QueryState::terminated:
            return Outlook::complete;
        case QueryState::failed:
            return Outlook::fails;
    }
    CHECK(false && "an unknown state");
}

// ---- what clients ask ---------------------------------------------------------------------------

Result<Turn> stop(const Query& query, StopMode mode) {
    if (query.desired == QueryDesire::dropped) {
        return refusal("cannot stop query " + in_quotes(query.name) + ": it is being dropped");
    }
    if (has_ended(query.state) || query.desired == QueryDesire::failed) {
        return Turn{.became = Became::unchanged, .after = query};
    }
    const bool again = query.desired == QueryDesire::stopped;
    Query after = query;
    after.desired = QueryDesire::stopped;
    after.stop_mode = mode_of(query, mode, again);
    after.state = QueryState::stopping;
    if (!again) {
        after.reason = {.code = ReasonCode::stopped_by_user, .text = "stopped by a user"};
    }
    if (workers_may_know(query.state)) return turned(query, Became::accepted, std::move(after));
    after.state = QueryState::stopped;
    return turned(query, Became::changed, std::move(after), Parts::stop);
}

Turn drop(const Query& query, StopMode mode) {
    if (!workers_may_know(query.state) || has_ended(query.state)) {
        return {.became = Became::gone, .after = query};
    }
    Query after = query;
    after.state = QueryState::stopping;
    after.desired = QueryDesire::dropped;
    after.stop_mode = mode_of(query, mode, query.desired != QueryDesire::running);
    if (query.state != QueryState::stopping) {
        after.reason = {.code = ReasonCode::dropped_by_user, .text = "dropped by a user"};
    }
    return turned(query, Became::accepted, std::move(after));
}

// ---- what the controller asks -------------------------------------------------------------------

Turn fail(const Query& query, const Reason& reason) {
    if (has_ended(query.state) || query.desired != QueryDesire::running) {
        return {.became = Became::unchanged, .after = query};
    }
    Query after = query;
    after.desired = QueryDesire::failed;
    after.stop_mode = StopMode::forceful;
    after.state = QueryState::stopping;
    after.reason = reason;
    if (workers_may_know(query.state)) return turned(query, Became::accepted, std::move(after));
    after.state = QueryState::failed;
    return turned(query, Became::changed, std::move(after), Parts::stop);
}

Result<Turn> mark(const Query& query, const controllers::MarkQuery& mark,
                  std::span<const Part> parts) {
    std::string objection = objection_to(query, mark.state);
    for (const Part& part : parts) {
        if (objection.empty()) objection = objection_to(part, mark.state);
    }
    if (!objection.empty()) {
        return refusal("query " + in_quotes(query.name) + " cannot be " +
                       std::string(to_string(mark.state)) + ": " + objection);
    }
    Query after = query;
    after.state = mark.state;
    after.reason = mark.reason;
    after.lagging = mark.lagging;
    return turned(query, Became::changed, std::move(after));
}

Result<Turn> restart(const Query& query, const Reason& reason, std::uint64_t restarts,
                     std::span<const Part> parts) {
    const auto refuse = [&](const std::string& why) {
        return refusal("query " + in_quotes(query.name) + " cannot be restarted: " + why);
    };
    if (query.desired != QueryDesire::running) {
        return refuse("it is to be " + std::string(to_string(query.desired)));
    }
    if (query.state != QueryState::deploying && query.state != QueryState::running) {
        return refuse("it is " + std::string(to_string(query.state)));
    }
    if (const Part* alive = first_alive(parts)) return refuse(is_in(*alive));
    Query after = query;
    after.run += 1;
    after.restarts = restarts;
    after.state = QueryState::deploying;
    after.reason = reason;
    after.lagging.clear();
    return turned(query, Became::changed, std::move(after), Parts::renew);
}

Result<Turn> release(const Query& query, std::span<const Part> parts) {
    const bool alive = first_alive(parts) != nullptr;
    if (query.desired == QueryDesire::dropped && !alive) {
        return Turn{.became = Became::gone, .after = query};
    }
    return refusal("query " + in_quotes(query.name) + " cannot be released: " +
                   (alive ? "it has live fragments" : "it was not dropped"));
}

// ---- what befalls its fragments and workers -----------------------------------------------------

Result<FragmentTurn> report(const Query& query, const Fragment& fragment,
                            const controllers::ReportFragment& reported) {
    if (fragment.state == reported.state && fragment.reason == reported.reason) {
        return FragmentTurn{.after = fragment};
    }
    const std::string name = "fragment " + to_string(fragment.id);
    if (!workers_may_know(query.state)) {
        return refusal("no worker can know of " + name + ": query " + in_quotes(query.name) +
                       " is PENDING");
    }
    const std::string state(to_string(reported.state));
    if (has_ended(query.state) && !has_ended(reported.state)) {
        return refusal(name + " cannot be " + state + ": query " + in_quotes(query.name) + " is " +
                       std::string(to_string(query.state)));
    }
    FragmentTurn turn{.after = fragment,
                      .comes_back = has_ended(fragment.state) && !has_ended(reported.state)};
    turn.after.state = reported.state;
    turn.after.reason = reported.reason;
    turn.after.counts = has_ended(reported.state) ? reported.counts : std::nullopt;
    if (query.state == QueryState::running && !does_its_part(reported.state)) {
        turn.interrupted = interrupted(
            query, reason_of(fragment.id, fragment.worker, reported.state, reported.reason));
    }
    return turn;
}

std::optional<Reason> interruption(const Worker& before, const Worker& after) {
    const std::string worker = "worker " + in_quotes(after.name);
    if (after.state == WorkerState::unreachable) {
        return Reason{.code = ReasonCode::worker_unreachable,
                      .who = after.name,
                      .text = worker + " is UNREACHABLE"};
    }
    if (before.incarnation && after.incarnation != before.incarnation) {
        return Reason{.code = ReasonCode::worker_restarted,
                      .who = after.name,
                      .text = worker + " was restarted"};
    }
    return std::nullopt;
}

Query interrupted(const Query& query, const Reason& why) {
    CHECK(query.state == QueryState::running);
    Query after = query;
    after.state = QueryState::deploying;
    after.reason = why;
    return after;
}

Reason reason_of(FragmentId fragment, const std::string& worker, FragmentState state,
                 const Reason& reason) {
    ReasonCode code = ReasonCode::fragment_stopped;
    if (state == FragmentState::failed) {
        code = reason.code == ReasonCode::lost ? ReasonCode::fragment_lost
                                               : ReasonCode::fragment_failed;
    }
    return {.code = code,
            .who = worker,
            .error = reason.error,
            .text = "fragment " + to_string(fragment) + " on worker " + in_quotes(worker) + " is " +
                    std::string(to_string(state)) +
                    (reason.text.empty() ? "" : ": " + reason.text)};
}

Fragment stopped(const Fragment& fragment) {
    Fragment after = fragment;
    if (!has_ended(fragment.state)) after.state = FragmentState::stopped;
    return after;
}

Fragment renewed(const Fragment& fragment, std::uint64_t run) {
    Fragment after = fragment;
    after.run = run;
    after.state = FragmentState::pending;
    after.reason = {};
    after.counts.reset();
    return after;
}

}  // namespace baton::queries::lifecycle
