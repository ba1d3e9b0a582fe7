#include "coordinator/sessions/session.h"

#include <algorithm>
#include <utility>

#include "base/overload.h"
#include "base/text.h"
#include "coordinator/sessions/session_parts.h"
#include "coordinator/sessions/version.h"
#include "coordinator/statements/bind.h"
#include "sql/parser.h"
#include "sql/printer.h"
#include "sql/vocabulary.h"
#include "threads/doorbell.h"

namespace baton::coordinator {

using session_parts::at_statement;
using session_parts::is_commit;
using session_parts::kTransactionBytesMax;
using session_parts::kTransactionStatementsMax;
using session_parts::transaction_state;

namespace {

constexpr std::size_t kAnswersMax = std::size_t{32} << 20U;  // bytes of rows, before the next

// About as much memory as the rows of an answer take.
std::size_t bytes_of(const StatementResult& result) {
    const auto* table = std::get_if<views::Table>(&result.value);
    if (table == nullptr) return 0;
    std::size_t bytes = 0;
    for (const SqlRow& row : table->rows) {
        bytes += sizeof(SqlRow) + row.size() * sizeof(SqlValue);
        for (const SqlValue& value : row) {
            if (const auto* text = std::get_if<std::string>(&value)) bytes += text->size();
        }
    }
    return bytes;
}

Error too_much_to_answer() {
    return {.code = ErrorCode::too_large,
            .message = "the statements before this one have answers of more than " +
                       std::to_string(kAnswersMax >> 20U) + " MB",
            .hint = "send the statements in several requests"};
}

}  // namespace

Session::Session(CoordinatorRuntime& coordinator, std::string principal, Permit permit)
    : coordinator_(coordinator), principal_(std::move(principal)), permit_(std::move(permit)) {}

Session::~Session() {
    wake_with(nullptr);
    if (running_ && running_->work) running_->halt->raise();
}

// ---- a text, statement by statement -------------------------------------------------------------

Execution Session::execute(std::string_view text, const Wait& wait,
                           std::span<const sql::Literal> parameters) {
    begin(std::string(text), wait, {parameters.begin(), parameters.end()});
    return run_to_the_end();
}

Execution Session::execute(const std::vector<sql::Statement>& statements, const Wait& wait) {
    running_.emplace(Running{.text = {},
                             .parameters = {},
                             .statements = statements,
                             .wait = wait,
                             .execution = {},
                             .waits_since = {},
                             .waits = {}});
    if (auto permitted = check_permitted(statements); !permitted) {
        if (transaction_) transaction_->failed = true;
        running_->execution.error = permitted.error();
    }
    return run_to_the_end();
}

void Session::begin(std::string text, const Wait& wait, std::vector<sql::Literal> parameters) {
    received_ = coordinator_.clock().wall_now();
    started_ = coordinator_.clock().now();
    running_.emplace(Running{.text = std::move(text),
                             .parameters = std::move(parameters),
                             .statements = {},
                             .wait = wait,
                             .execution = {},
                             .waits_since = {},
                             .waits = {}});
    auto statements = sql::parse(running_->text, {}, running_->parameters, takes_questions());
    if (!statements) {
        log_rejected(running_->text, statements.error());
        running_->execution.error = statements.error();
    } else if (auto checked = check_questions(*statements); !checked) {
        log_rejected(running_->text, checked.error());
        running_->execution.error = checked.error();
    } else if (auto permitted = check_permitted(*statements); !permitted) {
        running_->execution.error = permitted.error();
    } else {
        running_->statements = *std::move(statements);
    }
    if (running_->execution.error && transaction_) transaction_->failed = true;
}

std::optional<Execution> Session::go_on(Patience patience) {
    wake_with(nullptr);
    patience_ = patience;
    paused_.reset();
    while (!running_->execution.error) {
        if (!touched_.empty() && !wait_for_touched()) break;
        if (running_->next >= running_->statements.size()) break;
        if (running_->next > 0 && interrupt_.raised()) {
            if (transaction_) transaction_->failed = true;
            running_->execution.error =
                at_statement({.code = ErrorCode::cancelled,
                              .message = "it was cancelled before this statement was run"},
                             running_->statements[running_->next]);
            break;
        }
        if (!run_next()) break;
    }
    if (paused_) return std::nullopt;
    return finish();
}

Execution Session::finish() {
    touched_.clear();
    Execution execution = std::move(running_->execution);
    running_.reset();
    return execution;
}

Execution Session::run_to_the_end() {
    threads::Doorbell bell;
    for (;;) {
        if (auto execution = go_on(Patience::leader)) return *std::move(execution);
        wake_with([&] { bell.ring(); });
        bell.wait(until(), coordinator_.clock().now());
        wake_with(nullptr);
    }
}

std::optional<Instant> Session::until() const {
    return running_ && running_->waits ? running_->waits->until() : std::nullopt;
}

void Session::wake_with(std::function<void()> wake) {
    listening_.reset();
    if (running_ && running_->waits) running_->waits->wake_with(wake);
    if (running_ && running_->work) running_->work->wake_with(wake);
    // Work that was asked to end wakes once it has ended: until then the interrupt is no news.
    const bool ends = running_ && running_->work && running_->halt->raised();
    if (!wake || ends) return;
    listening_.emplace(interrupt_, wake);
    if (interrupt_.raised()) wake();
}

Execution Session::give_up(const std::string& why) {
    wake_with(nullptr);
    Error error{.code = ErrorCode::slow_down,
                .message = why,
                .hint = "nothing happened; try again in a moment"};
    if (running_->waits) error = running_->waits->give_up(why);
    if (running_->work) {
        running_->halt->raise();
        running_->work.reset();
        error = {.code = ErrorCode::unknown_outcome,
                 .message = why + "; the statement had begun and may yet happen",
                 .hint = "look before you repeat it"};
    }
    if (transaction_ && !running_->waits) transaction_->failed = true;
    running_->execution.error = std::move(error);
    paused_.reset();
    return finish();
}

Error Session::pause(Pause what) {
    paused_ = what;
    return Error{.code = ErrorCode::cancelled, .message = "it stands still"};
}

bool Session::run_next() {
    Running& now = *running_;
    if (!std::exchange(now.resumes, false)) {
        received_ = coordinator_.clock().wall_now();
        started_ = coordinator_.clock().now();
    }
    const sql::Statement& statement = now.statements[now.next];
    const auto failed = [&](Error error) {
        if (paused_) {
            now.resumes = true;
        } else {
            now.execution.error = at_statement(std::move(error), statement);
        }
        return false;
    };
    if (now.answered > kAnswersMax) {
        if (transaction_) transaction_->failed = true;
        return failed(too_much_to_answer());
    }
    // A whole transaction at once needs no trials in between.
    if (std::holds_alternative<sql::Begin>(statement.node)) {
        auto done = run_script_transaction(now.statements, now.next, now.execution);
        if (!done) return failed(done.error());
        if (*done) {
            now.next += 1;
            return true;
        }
    }
    auto result = run(statement);
    if (!result) return failed(result.error());
    now.creation = {};
    now.answered += bytes_of(*result);
    now.execution.results.push_back(*std::move(result));
    now.next += 1;
    return true;
}

bool Session::wait_for_touched() {
    Running& now = *running_;
    const auto over = [&] {
        touched_.clear();
        now.waited = 0;
        now.waits.reset();
        return true;
    };
    if (now.wait.until == Wait::Until::accepted) return over();
    if (now.waited == 0 && !now.waits) now.waits_since = coordinator_.clock().now();
    for (; now.waited < touched_.size(); now.waited += 1) {
        const auto done = [&]() -> Result<bool> {
            if (!now.waits) {
                const Touched& touched = touched_[now.waited];
                Wait rest = now.wait;
                if (touched.ends) rest.until = Wait::Until::ended;
                if (rest.timeout) {
                    const Duration gone = coordinator_.clock().now() - now.waits_since;
                    rest.timeout = std::max(*rest.timeout - gone, Duration::zero());
                }
                TRY_ASSIGN(waits, QueryWait::begin(coordinator_, touched.query, rest));
                if (!waits) return true;
                now.waits = std::move(waits);
            }
            return now.waits->look(interrupt_);
        }();
        if (!done) {
            now.execution.error = at_statement(done.error(), now.statements[now.next - 1]);
            return false;
        }
        if (!*done) {
            (void)pause(Pause::query);
            return false;
        }
        now.waits.reset();
    }
    return over();
}

Result<Done> Session::check_permitted(const std::vector<sql::Statement>& statements) {
    if (!permit_) return Done{};
    for (const sql::Statement& statement : statements) {
        const auto permitted = permit_(statement);
        if (permitted) continue;
        log_rejected(sql::print(statement), permitted.error());
        return at_statement(permitted.error(), statement);
    }
    return Done{};
}

Result<StatementResult> Session::run(const sql::Statement& statement) {
    if (transaction_ && transaction_->failed &&
        !std::holds_alternative<sql::Rollback>(statement.node) && !is_commit(statement)) {
        return transaction_state("the transaction has failed", "ROLLBACK ends it");
    }
    Result<StatementResult> result = [&]() -> Result<StatementResult> {
        if (const auto* create = std::get_if<sql::CreateTable>(&statement.node)) {
            return run_create_table(statement, *create);
        }
        if (sql::changes_catalog(statement)) return run_change(statement);
        return run_other(statement);
    }();
    if (!result && transaction_ && !paused_) {
        transaction_->failed = true;
        transaction_->rehearsal.reset();  // others may have it
        transaction_->view.reset();
    }
    return result;
}

Result<StatementResult> Session::run_other(const sql::Statement& statement) {
    using R = Result<StatementResult>;
    if (sql::form_of(statement).in_transaction == sql::InTransaction::refused) {
        TRY(outside_transaction(sql::tag_of(statement)));
    }
    return std::visit(
        Overload{
            [&](const sql::SelectOnce& s) -> R {
                TRY_ASSIGN(asks, is_question(s));
                if (asks) return run_question(s.written.text, std::nullopt);
                if (!views::asks_views(s.query)) return run_select(statement, s);
                TRY_ASSIGN(query, views::ViewQuery::from(s));
                return run_view(statement, query, "SELECT");
            },
            [&](const sql::Question& s) -> R { return run_question(s.text, s.otherwise); },
            [&](const sql::Insert& s) -> R { return run_insert(s); },
            [&](const sql::Vacuum& s) -> R { return run_vacuum(s); },
            [&](const sql::Show& s) -> R { return run_show(statement, s); },
            [&](const sql::Watch& s) -> R { return run_watch(s); },
            [&](const sql::WaitForQuery& s) -> R { return run_wait(s); },
            [&](const sql::Begin&) -> R { return run_begin(); },
            [&](const sql::Commit&) -> R { return run_commit(); },
            [&](const sql::Rollback&) -> R { return run_rollback(); },
            [&](const sql::Explain& s) -> R { return run_explain(s); },
            [&](const sql::LockStatement& s) -> R { return run_lock(statement, s); },
            [](const sql::Cancel&) -> R {
                return Error{.code = ErrorCode::not_supported,
                             .message =
                                 "CANCEL is not supported yet: there are no interactive "
                                 "queries to cancel",
                             .hint = "STOP QUERY ends a continuous query"};
            },
            [](const sql::ChangesCatalog auto&) -> R {
                return Error{.code = ErrorCode::defect, .message = "run_change runs it"};
            },
        },
        statement.node);
}

std::shared_ptr<const StepSource> Session::source_of(const sql::Statement& statement,
                                                     std::string token) const {
    if (!coordinator_.forwards()) return nullptr;
    StepSource source{.text = {}, .token = std::move(token)};
    const auto& all = running_->statements;
    const bool own =
        !all.empty() && &statement >= all.data() && &statement < all.data() + all.size();
    if (!running_->text.empty() && own) {
        const auto next = static_cast<std::size_t>(&statement - all.data()) + 1;
        const std::size_t end = next < all.size() ? all[next].at.offset : running_->text.size();
        source.text = running_->text.substr(statement.at.offset, end - statement.at.offset);
        source.parameters = sql::used_parameters(source.text, running_->parameters);
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

void Session::log_rejected(std::string_view text, Error error) const {
    error.message = sql::without_literals_of(text, std::move(error.message));
    error.hint = sql::without_literals_of(text, std::move(error.hint));
    coordinator_.log({.received = received_,
                      .principal = principal_,
                      .statement = sql::without_literals(text.substr(0, catalog::kStatementMax)),
                      .error = std::move(error),
                      .took = coordinator_.clock().now() - started_,
                      .revision = {}});
}

Result<Step> Session::step_of(const sql::Statement& statement) const {
    const std::string token = running_ ? running_->creation.token : std::string();
    auto request = coordinator::bind(statement, token);
    if (request) {
        return Step{.what = *std::move(request),
                    .statement = without_secrets(statement),
                    .source = source_of(statement, token)};
    }
    log_rejected(sql::print(statement), request.error());
    return request.error();
}

Result<StatementResult> Session::run_change(const sql::Statement& statement) {
    if (transaction_ && transaction_->addition) {
        return transaction_state("a transaction changes either the catalog or one table",
                                 "COMMIT the rows first");
    }
    TRY_ASSIGN(step, step_of(statement));
    if (transaction_ && transaction_->steps.size() >= kTransactionStatementsMax) {
        return Error{.code = ErrorCode::too_large,
                     .message = "a transaction holds at most " +
                                std::to_string(kTransactionStatementsMax) + " statements"};
    }
    // As the client wrote it: secrets and parameters count.
    const std::size_t bytes = transaction_ ? sql::print(statement).size() : 0;
    if (transaction_ && transaction_->bytes + bytes > kTransactionBytesMax) {
        return Error{.code = ErrorCode::too_large,
                     .message = "a transaction holds at most " +
                                std::to_string(kTransactionBytesMax >> 20U) + " MB of statements",
                     .hint = "COMMIT in smaller portions"};
    }
    Outcome outcome = [&] {
        if (transaction_) return try_out(step);
        std::vector<Step> steps;
        steps.push_back(std::move(step));
        return keep(std::move(steps));
    }();
    if (auto* refused = std::get_if<Refused>(&outcome)) return std::move(refused->error);
    auto& accepted = std::get<Accepted>(outcome);
    StatementResult result{.tag = sql::tag_of(statement),
                           .value = std::get<catalog::Answer>(std::move(accepted.answers.back())),
                           .format = {},
                           .revision = {}};
    if (transaction_) {
        transaction_->steps.push_back(std::move(step));
        transaction_->bytes += bytes;
    } else {
        result.revision = accepted.revision;
    }
    return result;
}

Result<Done> Session::outside_transaction(std::string_view what) const {
    if (!transaction_) return Done{};
    return transaction_state(std::string(what) + " cannot run in a transaction",
                             "COMMIT or ROLLBACK it first");
}

}  // namespace baton::coordinator
