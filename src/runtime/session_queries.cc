// What a session answers about queries without changing any: EXPLAIN and WAIT FOR QUERY.
#include <algorithm>

#include "base/text.h"
#include "core/planning/explain.h"
#include "runtime/bind.h"
#include "runtime/session.h"

namespace baton {

// ---- EXPLAIN ------------------------------------------------------------------------------------

namespace {

// One row per line; an empty line before each heading but the first.
Table text_table(const std::vector<Explained>& levels) {
    Table table{.columns = {{.name = "PLAN"}}, .rows = {}};
    for (const Explained& level : levels) {
        if (!table.rows.empty()) table.rows.push_back({std::string()});
        table.rows.push_back({level.level + " PLAN"});
        for (const std::string& line : level.text) table.rows.push_back({line});
    }
    return table;
}

Table json_table(const std::vector<Explained>& levels) {
    Table table{.columns = {{.name = "PLAN", .type = ViewType::json}}, .rows = {}};
    for (const Explained& level : levels) table.rows.push_back({level.json});
    return table;
}

}  // namespace

Result<StatementResult> Session::run_explain(const sql::Explain& statement) {
    TRY(outside_transaction("EXPLAIN"));
    std::vector<sql::ExplainLevel> levels = statement.levels;
    if (levels.empty()) {
        levels = {sql::ExplainLevel::logical, sql::ExplainLevel::optimized,
                  sql::ExplainLevel::distributed};
    }
    const bool places =
        std::find(levels.begin(), levels.end(), sql::ExplainLevel::distributed) != levels.end();
    TRY_ASSIGN(view, coordinator_.planning_view(names_in(statement.query, statement.sink)));
    const QueryToPlan query{
        .query = statement.query, .sink = statement.sink, .settings = statement.settings};
    TRY_ASSIGN(steps, places ? plan_steps(query, view) : plan_logically(query, view));
    std::vector<Explained> shown;
    for (const sql::ExplainLevel level : levels) shown.push_back(explain(level, steps));
    const bool json = statement.format == sql::OutputFormat::json;
    return StatementResult{.tag = "EXPLAIN",
                           .value = json ? json_table(shown) : text_table(shown),
                           .format = statement.format,
                           .revision = {}};
}

// ---- WAIT FOR QUERY -----------------------------------------------------------------------------

namespace {

Duration duration_of(const sql::TimeSpan& span) {
    using namespace std::chrono;
    constexpr std::uint64_t kMost = 1'000'000'000;
    const auto count = static_cast<std::int64_t>(std::min(span.count, kMost));
    switch (span.unit) {
        case sql::TimeUnit::millisecond:
            return milliseconds(count);
        case sql::TimeUnit::second:
            return seconds(count);
        case sql::TimeUnit::minute:
            return minutes(count);
        case sql::TimeUnit::hour:
            return hours(count);
        case sql::TimeUnit::day:
            return hours(24 * count);
    }
    CHECK(false && "an unknown unit");
}

// Whether the query may still come into the state, of those that it is not in now.
bool can_become(const Query& query, QueryState wanted) {
    if (has_ended(query.state) || wanted == QueryState::pending) return false;
    switch (query.desired) {
        case QueryDesire::running:
            return true;
        case QueryDesire::stopped:
            return wanted == QueryState::stopped;
        case QueryDesire::failed:
            return wanted == QueryState::failed;
        case QueryDesire::dropped:
            return false;
    }
    CHECK(false && "an unknown desire");
}

// Whether the wait is over: true, false, or an error if it can never be.
Result<bool> arrived(const Query& query, std::optional<QueryState> wanted) {
    if (query.state == wanted) return true;
    if (!wanted && (query.state == QueryState::running || has_ended(query.state))) return true;
    if (!wanted || can_become(query, *wanted)) return false;
    return Error{.code = ErrorCode::wait_timed_out,
                 .message = "query " + quoted(query.name) + " can no longer be " +
                            std::string(to_string(*wanted)) + ": it is " +
                            std::string(to_string(query.state)) +
                            (query.reason.empty() ? "" : " (" + query.reason + ")")};
}

}  // namespace

Result<StatementResult> Session::run_wait(const sql::WaitForQuery& wait) {
    TRY(outside_transaction("WAIT"));
    const request::QueryRef asked = query_ref(wait.target);
    request::QueryRef ref = asked;
    constexpr std::chrono::hours kForEver{24 * 365};
    const Duration timeout = wait.timeout ? duration_of(*wait.timeout) : Duration(kForEver);
    const Instant deadline = coordinator_.clock().now() + timeout;
    TRY_ASSIGN(query, ViewQuery::from(sql::Show{.what = sql::ShowWhat::queries}));
    TRY_ASSIGN(watch, coordinator_.watch(query));
    std::string last = "not there";
    for (bool first = true;; first = false) {
        TRY_ASSIGN(snapshot, coordinator_.snapshot());
        TRY_ASSIGN(found, snapshot.read().query(ref));
        if (!found && first) {
            const auto* id = std::get_if<QueryId>(&asked);
            return Error{
                .code = ErrorCode::unknown_query,
                .message = "cannot wait for query " +
                           (id != nullptr ? to_string(*id) : quoted(std::get<std::string>(asked))) +
                           ": it does not exist",
                .hint = "SHOW QUERIES lists what there is"};
        }
        if (!found) {
            return Error{.code = ErrorCode::wait_timed_out,
                         .message = "the query was dropped while it was waited for"};
        }
        ref = found->id;  // the name may come to mean another
        TRY_ASSIGN(over, arrived(*found, wait.state));
        if (over) return StatementResult{.tag = "WAIT", .value = {}, .format = {}, .revision = {}};
        last = std::string(to_string(found->state)) +
               (found->reason.empty() ? "" : " (" + found->reason + ")") +
               (found->lagging.empty() ? "" : ", waiting for " + enumerate(found->lagging));
        const Instant now = coordinator_.clock().now();
        if (now >= deadline) break;
        { const Snapshot ended = std::move(snapshot); }
        TRY(watch->next(deadline - now));
    }
    return Error{.code = ErrorCode::wait_timed_out,
                 .message = "the wait timed out: the query is " + last};
}

}  // namespace baton
