#include "runtime/session.h"

#include <algorithm>

#include "base/overload.h"
#include "base/text.h"
#include "runtime/bind.h"
#include "runtime/version.h"
#include "sql/parser.h"
#include "sql/printer.h"

namespace baton {

namespace {

constexpr std::size_t kTransactionStatementsMax = 10'000;

Error transaction_state(std::string message, std::string hint = {}) {
    return Error{.code = ErrorCode::transaction_state,
                 .message = std::move(message),
                 .hint = std::move(hint)};
}

bool is_commit(const sql::Statement& statement) {
    return std::holds_alternative<sql::Commit>(statement.node);
}

Error at_statement(Error error, const sql::Statement& statement) {
    if (!error.at) error.at = statement.at;
    return error;
}

}  // namespace

Session::Session(CoordinatorRuntime& coordinator, std::string principal, Permit permit)
    : coordinator_(coordinator), principal_(std::move(principal)), permit_(std::move(permit)) {}

Session::~Session() = default;

Execution Session::execute(std::string_view text, const Wait& wait,
                           std::span<const sql::Literal> parameters) {
    received_ = coordinator_.clock().wall_now();
    started_ = coordinator_.clock().now();
    auto statements = sql::parse(text, {}, parameters);
    if (statements) {
        given_.emplace(Given{.text = text, .parameters = parameters, .statements = *statements});
        Execution execution = execute(*statements, wait);
        given_.reset();
        return execution;
    }
    if (transaction_) transaction_->failed = true;
    log_rejected(sql::without_strings(text.substr(0, kStatementMax)), statements.error());
    return {.results = {}, .error = statements.error()};
}

Execution Session::execute(const std::vector<sql::Statement>& statements, const Wait& wait) {
    Execution execution;
    if (const auto permitted = check_permitted(statements); !permitted) {
        if (transaction_) transaction_->failed = true;
        execution.error = permitted.error();
        return execution;
    }
    const auto waited = [&](const sql::Statement& statement) {
        const auto done = wait_for_touched(wait);
        if (!done) execution.error = at_statement(done.error(), statement);
        return done.has_value();
    };
    for (std::size_t i = 0; i < statements.size(); ++i) {
        received_ = coordinator_.clock().wall_now();
        started_ = coordinator_.clock().now();
        // A whole transaction at once needs no trials in between.
        if (std::holds_alternative<sql::Begin>(statements[i].node)) {
            auto done = run_script_transaction(statements, i, execution);
            if (!done) {
                execution.error = done.error();
                return execution;
            }
            if (*done) {
                if (!waited(statements[i])) return execution;
                continue;
            }
        }
        auto result = run(statements[i]);
        if (!result) {
            execution.error = at_statement(result.error(), statements[i]);
            return execution;
        }
        execution.results.push_back(*std::move(result));
        if (!waited(statements[i])) return execution;
    }
    return execution;
}

Result<Done> Session::check_permitted(const std::vector<sql::Statement>& statements) {
    if (!permit_) return Done{};
    for (const sql::Statement& statement : statements) {
        const auto permitted = permit_(statement);
        if (permitted) continue;
        log_rejected(without_secrets(statement), permitted.error());
        return at_statement(permitted.error(), statement);
    }
    return Done{};
}

Outcome Session::try_out(std::vector<Step> steps) {
    Bundle bundle = bundle_of(std::move(steps));
    bundle.keep = false;
    return coordinator_.execute(std::move(bundle));
}

Outcome Session::keep(std::vector<Step> steps) {
    enum class About : std::uint8_t { other, created, stopped };
    std::vector<About> about;
    about.reserve(steps.size());
    for (const Step& step : steps) {
        const auto* request = std::get_if<Request>(&step.what);
        const bool creates =
            request != nullptr && std::holds_alternative<request::CreateQuery>(*request);
        const bool stops =
            request != nullptr && std::holds_alternative<request::StopQuery>(*request);
        about.push_back(creates ? About::created : stops ? About::stopped : About::other);
    }
    Outcome outcome = coordinator_.execute(bundle_of(std::move(steps)));
    const auto* accepted = std::get_if<Accepted>(&outcome);
    for (std::size_t i = 0; accepted != nullptr && i < about.size(); ++i) {
        const auto* answer = std::get_if<Answer>(&accepted->answers[i]);
        if (answer == nullptr) continue;
        if (about[i] != About::other && answer->id) {
            touched_.push_back({.query = QueryId(*answer->id), .ends = about[i] == About::stopped});
        }
        for (const DroppedEntity& dropped : answer->dropped) {
            const auto* query = std::get_if<Query>(&dropped);
            if (query != nullptr) touched_.push_back({.query = query->id, .ends = true});
        }
    }
    return outcome;
}

Result<Done> Session::wait_for_touched(const Wait& wait) {
    const Instant started = coordinator_.clock().now();
    for (const Touched& touched : std::exchange(touched_, {})) {
        if (wait.until == Wait::Until::accepted) continue;
        Wait rest = wait;
        if (touched.ends) rest.until = Wait::Until::ended;
        if (rest.timeout) {
            const Duration gone = coordinator_.clock().now() - started;
            rest.timeout = std::max(*rest.timeout - gone, Duration::zero());
        }
        TRY(wait_for(coordinator_, touched.query, rest, interrupt_));
    }
    return Done{};
}

Result<StatementResult> Session::run(const sql::Statement& statement) {
    if (transaction_ && transaction_->failed &&
        !std::holds_alternative<sql::Rollback>(statement.node) && !is_commit(statement)) {
        return transaction_state("the transaction has failed", "ROLLBACK ends it");
    }
    Result<StatementResult> result = [&]() -> Result<StatementResult> {
        if (changes_catalog(statement)) return run_change(statement);
        return run_other(statement);
    }();
    if (!result && transaction_) transaction_->failed = true;
    return result;
}

Result<StatementResult> Session::run_other(const sql::Statement& statement) {
    using R = Result<StatementResult>;
    return std::visit(
        Overload{
            [&](const sql::SelectOnce& s) -> R {
                if (!asks_views(s.query)) return run_select(statement, s);
                TRY_ASSIGN(query, ViewQuery::from(s));
                return run_view(statement, query, "SELECT");
            },
            [&](const sql::Show& s) -> R { return run_show(statement, s); },
            [&](const sql::Watch& s) -> R { return run_watch(s); },
            [&](const sql::WaitForQuery& s) -> R { return run_wait(s); },
            [&](const sql::Begin&) -> R { return run_begin(); },
            [&](const sql::Commit&) -> R { return run_commit(); },
            [&](const sql::Rollback&) -> R { return run_rollback(); },
            [&](const sql::Explain& s) -> R { return run_explain(s); },
            [&](const sql::LockStatement& s) -> R { return run_lock(s); },
            [](const sql::Cancel&) -> R {
                return Error{.code = ErrorCode::not_supported,
                             .message =
                                 "CANCEL is not supported yet: there are no interactive "
                                 "queries to cancel",
                             .hint = "STOP QUERY ends a continuous query"};
            },
            [](const auto&) -> R {
                return Error{.code = ErrorCode::defect, .message = "a statement nobody runs"};
            },
        },
        statement.node);
}

std::shared_ptr<const StepSource> Session::source_of(const sql::Statement& statement,
                                                     std::string token) const {
    if (!coordinator_.forwards()) return nullptr;
    StepSource source{.text = {}, .token = std::move(token)};
    if (given_) {
        const auto& all = given_->statements;
        const auto next = static_cast<std::size_t>(&statement - all.data()) + 1;
        const std::size_t end = next < all.size() ? all[next].at.offset : given_->text.size();
        source.text = given_->text.substr(statement.at.offset, end - statement.at.offset);
        source.parameters.assign(given_->parameters.begin(), given_->parameters.end());
        source.at = statement.at;
    } else {
        source.text = sql::print(statement);
    }
    return std::make_shared<const StepSource>(std::move(source));
}

Bundle Session::bundle_of(std::vector<Step> steps) {
    Bundle bundle;
    bundle.steps = std::move(steps);
    bundle.principal = principal_;
    bundle.received = received_;
    bundle.started = started_;
    bundle.interrupt = &interrupt_;
    if (transaction_ && transaction_->seen.entities.any()) bundle.seen = transaction_->seen;
    return bundle;
}

void Session::log_rejected(const std::string& statement, const Error& error) const {
    coordinator_.log({.received = received_,
                      .principal = principal_,
                      .statement = statement,
                      .error = error,
                      .took = coordinator_.clock().now() - started_,
                      .revision = {}});
}

Result<Step> Session::step_of(const sql::Statement& statement) const {
    const std::string text = without_secrets(statement);
    auto request = bind(statement);
    if (request) {
        return Step{.what = *std::move(request), .statement = text, .source = source_of(statement)};
    }
    log_rejected(text, request.error());
    return request.error();
}

Result<StatementResult> Session::run_change(const sql::Statement& statement) {
    TRY_ASSIGN(step, step_of(statement));
    std::vector<Step> steps;
    if (transaction_) {
        if (transaction_->steps.size() >= kTransactionStatementsMax) {
            return Error{.code = ErrorCode::too_large,
                         .message = "a transaction holds at most " +
                                    std::to_string(kTransactionStatementsMax) + " statements"};
        }
        steps = transaction_->steps;
    }
    steps.push_back(transaction_ ? step : std::move(step));
    Outcome outcome = transaction_ ? try_out(std::move(steps)) : keep(std::move(steps));
    if (auto* refused = std::get_if<Refused>(&outcome)) return std::move(refused->error);
    auto& accepted = std::get<Accepted>(outcome);
    StatementResult result{.tag = tag_of(statement),
                           .value = std::get<Answer>(std::move(accepted.answers.back())),
                           .format = {},
                           .revision = {}};
    if (transaction_) {
        transaction_->steps.push_back(std::move(step));
    } else {
        result.revision = accepted.revision;
    }
    return result;
}

Result<StatementResult> Session::run_show(const sql::Statement& statement, const sql::Show& show) {
    if (is_static(show.what)) {
        TRY_ASSIGN(table, show_static(show, std::string(kVersion)));
        return StatementResult{
            .tag = "SHOW", .value = std::move(table), .format = show.format, .revision = {}};
    }
    TRY_ASSIGN(query, ViewQuery::from(show));
    TRY_ASSIGN(result, run_view(statement, query, "SHOW"));
    result.format = show.format;
    return result;
}

Result<StatementResult> Session::run_view(const sql::Statement& statement, const ViewQuery& query,
                                          std::string tag) {
    const auto shown = [&](Table table) {
        return StatementResult{
            .tag = std::move(tag), .value = std::move(table), .format = {}, .revision = {}};
    };
    // What is live belongs to no revision, and so to no transaction.
    if (!transaction_ || query.view().live) {
        TRY_ASSIGN(table, look_at(query));
        return shown(std::move(table));
    }
    if (!transaction_->steps.empty()) {
        std::vector<Step> steps = transaction_->steps;
        steps.push_back({.what = query, .statement = {}, .source = source_of(statement)});
        Outcome outcome = try_out(std::move(steps));
        if (auto* refused = std::get_if<Refused>(&outcome)) return std::move(refused->error);
        auto& accepted = std::get<Accepted>(outcome);
        note_read(query, accepted.revision);
        return shown(std::get<Table>(std::move(accepted.answers.back())));
    }
    if (!transaction_->snapshot) {
        TRY_ASSIGN(snapshot, coordinator_.snapshot());
        transaction_->snapshot.emplace(std::move(snapshot));
    }
    TRY_ASSIGN(table, query.run(transaction_->snapshot->sql()));
    note_read(query, transaction_->snapshot->revision());
    return shown(std::move(table));
}

Result<Table> Session::look_at(const ViewQuery& query) {
    auto table = [&]() -> Result<Table> {
        TRY_ASSIGN(snapshot, coordinator_.snapshot());
        const LiveCounts live = query.view().live ? coordinator_.live_counts() : LiveCounts{};
        return query.run(snapshot.sql(), live);
    }();
    if (table || transaction_ || table.error().code != ErrorCode::catalog_unavailable) {
        return table;
    }
    auto stale = coordinator_.ask_stale(query);
    return stale ? *std::move(stale) : table;
}

void Session::note_read(const ViewQuery& query, Revision at) {
    SeenBefore& seen = transaction_->seen;
    seen.at = seen.entities.none() ? at : std::min(seen.at, at);
    if (const auto entity = query.view().entity) {
        seen.entities.set(static_cast<std::size_t>(*entity));
    } else {
        seen.entities.set();  // a view over several kinds
    }
}

Result<Done> Session::outside_transaction(std::string_view what) const {
    if (!transaction_) return Done{};
    return transaction_state(std::string(what) + " cannot run in a transaction",
                             "COMMIT or ROLLBACK it first");
}

Result<StatementResult> Session::run_watch(const sql::Watch& statement) {
    TRY(outside_transaction("WATCH"));
    const auto* show = std::get_if<sql::Show>(&statement.source);
    if (show != nullptr && is_static(show->what)) {
        return Error{.code = ErrorCode::not_supported,
                     .message = "WATCH of what never changes is not supported"};
    }
    TRY_ASSIGN(query, show != nullptr ? ViewQuery::from(*show)
                                      : ViewQuery::from(std::get<sql::Query>(statement.source)));
    std::optional<Revision> since;
    if (statement.since) since = Revision(*statement.since);
    TRY_ASSIGN(watch, coordinator_.watch(query, since));
    StatementResult result{.tag = "WATCH", .value = std::move(watch), .format = {}, .revision = {}};
    if (show != nullptr) result.format = show->format;
    return result;
}

// ---- transactions -------------------------------------------------------------------------------

Result<StatementResult> Session::run_begin() {
    if (transaction_) {
        return transaction_state("a transaction is open already", "COMMIT or ROLLBACK it first");
    }
    transaction_.emplace();
    return StatementResult{.tag = "BEGIN", .value = {}, .format = {}, .revision = {}};
}

Result<StatementResult> Session::run_rollback() {
    if (!transaction_) return transaction_state("no transaction is open");
    transaction_.reset();
    return StatementResult{.tag = "ROLLBACK", .value = {}, .format = {}, .revision = {}};
}

Result<StatementResult> Session::run_commit() {
    if (!transaction_) return transaction_state("no transaction is open", "BEGIN opens one");
    if (transaction_->failed) {
        transaction_.reset();
        return transaction_state("the transaction had failed: it is rolled back, nothing happened");
    }
    StatementResult result{.tag = "COMMIT", .value = {}, .format = {}, .revision = {}};
    if (!transaction_->steps.empty()) {
        transaction_->snapshot.reset();
        Outcome outcome = keep(transaction_->steps);
        transaction_.reset();
        if (auto* refused = std::get_if<Refused>(&outcome)) return std::move(refused->error);
        result.revision = std::get<Accepted>(outcome).revision;
    }
    transaction_.reset();
    return result;
}

Result<bool> Session::run_script_transaction(const std::vector<sql::Statement>& statements,
                                             std::size_t& at, Execution& execution) {
    const auto begin = statements.begin() + static_cast<std::ptrdiff_t>(at);
    const auto commit = std::find_if(begin, statements.end(), is_commit);
    const bool whole = !transaction_ && commit != statements.end() &&
                       std::all_of(begin + 1, commit, changes_catalog) &&
                       commit - begin <= static_cast<std::ptrdiff_t>(kTransactionStatementsMax);
    if (!whole) return false;

    std::vector<Step> steps;
    for (auto statement = begin + 1; statement != commit; ++statement) {
        auto step = step_of(*statement);
        if (!step) return at_statement(step.error(), *statement);
        steps.push_back(*std::move(step));
    }
    Accepted accepted;
    if (!steps.empty()) {
        Outcome outcome = keep(std::move(steps));
        if (auto* refused = std::get_if<Refused>(&outcome)) {
            const auto& culprit = *(begin + 1 + static_cast<std::ptrdiff_t>(refused->step));
            return at_statement(std::move(refused->error), culprit);
        }
        accepted = std::get<Accepted>(std::move(outcome));
    }
    execution.results.push_back({.tag = "BEGIN", .value = {}, .format = {}, .revision = {}});
    for (std::size_t i = 0; i < accepted.answers.size(); ++i) {
        execution.results.push_back({.tag = tag_of(statements[at + 1 + i]),
                                     .value = std::get<Answer>(std::move(accepted.answers[i])),
                                     .format = {},
                                     .revision = {}});
    }
    execution.results.push_back(
        {.tag = "COMMIT", .value = {}, .format = {}, .revision = accepted.revision});
    at = static_cast<std::size_t>(commit - statements.begin());
    return true;
}

}  // namespace baton
