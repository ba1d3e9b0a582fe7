// What a session answers about queries without changing any: EXPLAIN and WAIT FOR QUERY.
#include <algorithm>

#include "core/planning/explain.h"
#include "runtime/bind.h"
#include "runtime/query_wait.h"
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

}  // namespace

Result<StatementResult> Session::run_wait(const sql::WaitForQuery& statement) {
    TRY(outside_transaction("WAIT"));
    Wait wait{.until = statement.state ? Wait::Until::state : Wait::Until::settled};
    if (statement.state) wait.state = *statement.state;
    if (statement.timeout) wait.timeout = duration_of(*statement.timeout);
    TRY(wait_for(coordinator_, query_ref(statement.target), wait));
    return StatementResult{.tag = "WAIT", .value = {}, .format = {}, .revision = {}};
}

}  // namespace baton
