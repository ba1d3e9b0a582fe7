// How a session gathers the changes of a transaction, tries them out, and makes them happen.
#include <algorithm>

#include "coordinator/sessions/session.h"
#include "coordinator/sessions/session_parts.h"
#include "sql/vocabulary.h"

namespace baton::coordinator {

using session_parts::at_statement;
using session_parts::is_commit;
using session_parts::kTransactionStatementsMax;
using session_parts::transaction_state;

namespace {

// Of a transaction, statement by statement; a longer one is rehearsed.
constexpr std::size_t kStepsTriedTogether = 32;

}  // namespace

namespace {

// CREATE TABLE makes a log first.
bool is_plain_change(const sql::Statement& statement) {
    return sql::changes_catalog(statement) &&
           !std::holds_alternative<sql::CreateTable>(statement.node);
}

}  // namespace

// ---- one change after the other ---------------------------------------------------------------

Outcome Session::try_out(Step step) {
    Transaction& now = *transaction_;
    if (!now.rehearsal && now.steps.size() >= kStepsTriedTogether) {
        auto begun = coordinator_.rehearse();
        if (!begun && begun.error().code == ErrorCode::slow_down) {
            return Refused{.step = 0, .error = begun.error()};
        }
        // Where there is no room for a copy it takes longer, and is done all the same.
        if (begun) now.rehearsal = *std::move(begun);
        if (now.rehearsal) {
            Outcome again = now.rehearsal->perform(now.steps);
            const auto* refused = std::get_if<Refused>(&again);
            if (refused != nullptr && refused->error.code == ErrorCode::catalog_full) {
                now.rehearsal.reset();
            } else if (refused != nullptr) {
                return again;
            }
        }
    }
    if (now.rehearsal) return rehearse(std::move(step));
    std::vector<Step> steps = now.steps;
    steps.push_back(std::move(step));
    Bundle bundle = bundle_of(std::move(steps));
    bundle.keep = false;
    return perform(std::move(bundle));
}

Outcome Session::rehearse(Step step) {
    const std::string statement = step.statement;
    std::vector<Step> steps;
    steps.push_back(std::move(step));
    Outcome outcome = transaction_->rehearsal->perform(std::move(steps));
    if (auto* accepted = std::get_if<Accepted>(&outcome)) {
        accepted->revision = transaction_->rehearsal->revision();
    } else if (const auto* refused = std::get_if<Refused>(&outcome);
               refused != nullptr && !statement.empty()) {
        log_rejected(statement, refused->error);
    }
    return outcome;
}

// A bundle that only another coordinator can carry out is not waited for, unless this thread may.
Outcome Session::perform(Bundle bundle) {
    if (patience_ == Patience::leader) return coordinator_.execute(std::move(bundle));
    if (auto done = coordinator_.execute_here(bundle)) return *std::move(done);
    return Refused{.step = 0, .error = pause(Pause::leader)};
}

Outcome Session::keep(std::vector<Step> steps) {
    enum class About : std::uint8_t { other, created, stopped };
    std::vector<About> about;
    about.reserve(steps.size());
    for (const Step& step : steps) {
        const auto* request = std::get_if<catalog::Request>(&step.what);
        const bool creates =
            request != nullptr && std::holds_alternative<catalog::request::CreateQuery>(*request);
        const bool stops =
            request != nullptr && std::holds_alternative<catalog::request::StopQuery>(*request);
        about.push_back(creates ? About::created : stops ? About::stopped : About::other);
    }
    Outcome outcome = perform(bundle_of(std::move(steps)));
    const auto* accepted = std::get_if<Accepted>(&outcome);
    for (std::size_t i = 0; accepted != nullptr && i < about.size(); ++i) {
        const auto* answer = std::get_if<catalog::Answer>(&accepted->answers[i]);
        if (answer == nullptr) continue;
        if (about[i] != About::other && answer->id) {
            touched_.push_back({.query = QueryId(*answer->id), .ends = about[i] == About::stopped});
        }
        for (const catalog::Dropped& dropped : answer->dropped) {
            if (dropped.kind != sql::EntityKind::query) continue;
            touched_.push_back({.query = QueryId(dropped.id), .ends = true});
        }
    }
    return outcome;
}

// ---- from BEGIN to COMMIT
// -------------------------------------------------------------------------------

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
    if (transaction_->addition) {
        auto added = commit_additions();
        if (paused_) return pause(*paused_);
        transaction_.reset();
        if (!added) return added.error();
        return result;
    }
    if (!transaction_->steps.empty()) {
        transaction_->view.reset();
        Outcome outcome = keep(transaction_->steps);
        if (paused_) return pause(*paused_);
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
                       std::all_of(begin + 1, commit, is_plain_change) &&
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
        execution.results.push_back(
            {.tag = sql::tag_of(statements[at + 1 + i]),
             .value = std::get<catalog::Answer>(std::move(accepted.answers[i])),
             .format = {},
             .revision = {}});
    }
    execution.results.push_back(
        {.tag = "COMMIT", .value = {}, .format = {}, .revision = accepted.revision});
    at = static_cast<std::size_t>(commit - statements.begin());
    return true;
}

}  // namespace baton::coordinator
