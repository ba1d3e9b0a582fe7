// What a session answers about statements and queries: what a text is made of, the rows of streams,
// EXPLAIN and WAIT FOR QUERY.
#include <algorithm>

#include "coordinator/sessions/query_wait.h"
#include "coordinator/sessions/row_feed.h"
#include "coordinator/sessions/session.h"
#include "coordinator/sessions/session_parts.h"
#include "coordinator/statements/bind.h"
#include "core/planning/explain.h"
#include "core/tables/constants.h"
#include "sql/parser.h"
#include "sql/vocabulary.h"

namespace baton::coordinator {

// ---- what a text is made of ---------------------------------------------------------------------

Result<Described> Session::describe(std::string_view text) {
    Described described;
    described.parameters = sql::parameter_count(text);
    const std::vector<sql::Literal> unknown(described.parameters, sql::Null{});
    TRY_ASSIGN(statements, sql::parse(text, {}, unknown, takes_questions()));
    for (const sql::Statement& statement : statements) {
        TRY_ASSIGN(one, describe(statement));
        described.statements.push_back(std::move(one));
    }
    if (described.parameters > 0) describe_inserted(text, described);
    return described;
}

// The parameters of an INSERT take the types of their columns. A parser forgets which parameter a
// literal was, so each stands for itself here.
void Session::describe_inserted(std::string_view text, Described& described) const {
    constexpr std::string_view kMark = "\x01parameter ";
    std::vector<sql::Literal> marks;
    for (std::size_t i = 0; i < described.parameters; ++i) {
        marks.emplace_back(std::string(kMark) + std::to_string(i));
    }
    const auto statements = sql::parse(text, {}, marks, takes_questions());
    if (!statements || statements->size() != 1) return;
    const auto* insert = std::get_if<sql::Insert>(&statements->front().node);
    if (insert == nullptr || insert->source.index() != 0) return;
    const auto table = table_to_write(insert->table);
    if (!table) return;
    const auto places = tables::places_of(insert->columns, table->columns);
    if (!places) return;
    auto& parameters = described.statements.front().parameters;
    parameters.resize(described.parameters);
    for (const auto& row : std::get<0>(insert->source)) {
        for (std::size_t i = 0; i < std::min(row.size(), places->size()); ++i) {
            const auto* mark = std::get_if<std::string>(&row[i]);
            if (mark == nullptr) continue;
            const auto found = std::find(marks.begin(), marks.end(), sql::Literal(*mark));
            if (found == marks.end()) continue;
            parameters[static_cast<std::size_t>(found - marks.begin())] =
                table->columns[(*places)[i]].type;
        }
    }
}

Result<Described::Statement> Session::describe(const sql::Statement& statement) {
    const auto columns_of_show =
        [](const sql::Show& show) -> Result<std::vector<views::TableColumn>> {
        if (views::is_static(show.what)) {
            TRY_ASSIGN(table, views::show_static(show, ""));
            return std::move(table.columns);
        }
        TRY_ASSIGN(query, views::ViewQuery::from(show));
        return query.columns();
    };
    Described::Statement result{.tag = sql::tag_of(statement)};
    const auto* select = std::get_if<sql::SelectOnce>(&statement.node);
    const auto* question = std::get_if<sql::Question>(&statement.node);
    bool asks = question != nullptr;
    if (select != nullptr) {
        TRY_ASSIGN(among_tables, is_question(*select));
        asks = among_tables;
    }
    if (asks) {
        const std::string& asked_text = question != nullptr ? question->text : select->written.text;
        const auto otherwise =
            question != nullptr ? std::optional(question->otherwise) : std::optional<Error>();
        TRY_ASSIGN(there, questions());
        auto answer = there->describe(asked(asked_text, otherwise));
        if (!answer) return answer.error();
        result.tag = "SELECT";
        result.columns = std::move(answer->columns);
        for (const SqlType& type : answer->parameters) {
            const bool open = type.kind == SqlType::Kind::other;
            result.parameters.push_back(open ? std::nullopt : std::optional(type));
        }
    } else if (select != nullptr) {
        if (views::asks_views(select->query)) {
            TRY_ASSIGN(query, views::ViewQuery::from(*select));
            result.columns = query.columns();
        } else {
            TRY_ASSIGN(view,
                       coordinator_.planning_view(planning::names_in(select->query, std::nullopt)));
            const std::optional<sql::SinkTarget> none;
            TRY_ASSIGN(steps, planning::plan_logically(
                                  {.query = select->query, .sink = none, .settings = {}}, view));
            result.columns = columns_of(steps.logical.schema);
            result.streams = true;
        }
    } else if (const auto* show = std::get_if<sql::Show>(&statement.node)) {
        TRY_ASSIGN(columns, columns_of_show(*show));
        result.columns = std::move(columns);
    } else if (const auto* explain = std::get_if<sql::Explain>(&statement.node)) {
        const bool json = explain->format == sql::OutputFormat::json;
        result.columns = {
            {.name = "PLAN", .type = json ? kinds::ViewType::json : kinds::ViewType::text}};
    } else if (const auto* watch = std::get_if<sql::Watch>(&statement.node)) {
        const auto* shown = std::get_if<sql::Show>(&watch->source);
        TRY_ASSIGN(query, shown != nullptr
                              ? views::ViewQuery::from(*shown)
                              : views::ViewQuery::from(std::get<sql::Query>(watch->source)));
        TRY_ASSIGN(watchable, query.watchable());
        result.columns = watchable.columns();
        result.watches = true;
    } else if (const auto* lock = std::get_if<sql::LockStatement>(&statement.node)) {
        result.columns = Locks::columns(*lock);
    }
    return result;
}

// ---- rows of streams ----------------------------------------------------------------------------

Result<StatementResult> Session::run_select(const sql::Statement& statement,
                                            const sql::SelectOnce& select) {
    if (transaction_) {
        return session_parts::transaction_state(
            "a SELECT from streams cannot run in a transaction",
            "COMMIT or ROLLBACK it first; drivers that begin one by themselves do not in their "
            "mode autocommit");
    }
    if (coordinator_.results() == nullptr) {
        return Error{.code = ErrorCode::not_supported,
                     .message = "rows of streams are not available here: no worker can be reached",
                     .hint = "add INTO sink, or ask baton.queries, baton.workers, ..."};
    }
    const std::string token = session_parts::made_up_token();
    TRY_ASSIGN(query, query_for_client(select, token, principal_));
    std::string text = query.statement;
    std::vector<Step> steps;
    steps.push_back({.what = catalog::Request(std::move(query)),
                     .statement = std::move(text),
                     .source = source_of(statement, token)});
    Outcome outcome = perform(bundle_of(std::move(steps)));
    if (auto* refused = std::get_if<Refused>(&outcome)) return std::move(refused->error);
    const auto& created = std::get<catalog::Answer>(std::get<Accepted>(outcome).answers.front());
    TRY_ASSIGN(feed, RowFeed::open(coordinator_, created, token, select.limit));
    return StatementResult{.tag = "SELECT",
                           .value = std::unique_ptr<RowStream>(std::move(feed)),
                           .format = {},
                           .revision = {}};
}

// ---- EXPLAIN ------------------------------------------------------------------------------------

namespace {

// One row per line; an empty line before each heading but the first.
views::Table text_table(const std::vector<planning::Explained>& levels) {
    views::Table table{.columns = {{.name = "PLAN"}}, .rows = {}};
    for (const planning::Explained& level : levels) {
        if (!table.rows.empty()) table.rows.push_back({std::string()});
        table.rows.push_back({level.level + " PLAN"});
        for (const std::string& line : level.text) table.rows.push_back({line});
    }
    return table;
}

views::Table json_table(const std::vector<planning::Explained>& levels) {
    views::Table table{.columns = {{.name = "PLAN", .type = kinds::ViewType::json}}, .rows = {}};
    for (const planning::Explained& level : levels) table.rows.push_back({level.json});
    return table;
}

}  // namespace

Result<StatementResult> Session::run_explain(const sql::Explain& statement) {
    std::vector<sql::ExplainLevel> levels = statement.levels;
    if (levels.empty()) {
        levels = {sql::ExplainLevel::logical, sql::ExplainLevel::optimized,
                  sql::ExplainLevel::distributed};
    }
    const bool places =
        std::find(levels.begin(), levels.end(), sql::ExplainLevel::distributed) != levels.end();
    TRY_ASSIGN(view,
               coordinator_.planning_view(planning::names_in(statement.query, statement.sink)));
    const planning::QueryToPlan query{
        .query = statement.query, .sink = statement.sink, .settings = statement.settings};
    TRY_ASSIGN(steps,
               places ? planning::plan_steps(query, view) : planning::plan_logically(query, view));
    std::vector<planning::Explained> shown;
    for (const sql::ExplainLevel level : levels) shown.push_back(planning::explain(level, steps));
    const bool json = statement.format == sql::OutputFormat::json;
    return StatementResult{.tag = "EXPLAIN",
                           .value = json ? json_table(shown) : text_table(shown),
                           .format = statement.format,
                           .revision = {}};
}

// ---- WAIT FOR QUERY -----------------------------------------------------------------------------

Result<StatementResult> Session::run_wait(const sql::WaitForQuery& statement) {
    Wait wait{.until = statement.state ? Wait::Until::state : Wait::Until::steady};
    if (statement.state) wait.state = *statement.state;
    if (statement.timeout) wait.timeout = duration_of(*statement.timeout);
    Running& now = *running_;
    if (!now.waits) {
        TRY_ASSIGN(waits, QueryWait::begin(coordinator_, query_ref(statement.target), wait));
        now.waits = std::move(waits);
    }
    if (now.waits) {
        const auto over = now.waits->look(interrupt_);
        if (over && !*over) return pause(Pause::query);
        now.waits.reset();
        if (!over) return over.error();
    }
    return StatementResult{.tag = "WAIT", .value = {}, .format = {}, .revision = {}};
}

// ---- locks --------------------------------------------------------------------------------------

Result<StatementResult> Session::run_lock(const sql::Statement& statement,
                                          const sql::LockStatement& lock) {
    TRY_ASSIGN(row, coordinator_.locks().run(lock));
    std::string tag = sql::tag_of(statement);
    if (!row) {
        return StatementResult{.tag = std::move(tag), .value = {}, .format = {}, .revision = {}};
    }
    return StatementResult{
        .tag = std::move(tag), .value = *std::move(row), .format = {}, .revision = {}};
}

}  // namespace baton::coordinator
