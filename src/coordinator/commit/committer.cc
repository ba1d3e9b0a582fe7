#include "coordinator/commit/committer.h"

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "catalog/history.h"
#include "coordinator/commit/database_retry.h"
#include "ports/sql_values.h"
#include "sql/parser.h"

namespace baton::coordinator {

namespace {

// History is trimmed after so many commits, or sooner so that it keeps up: each trim forgets more
// than was written since the last one.
constexpr std::uint64_t kCommitsPerTrim = 64;
constexpr std::uint64_t kWrittenPerTrim = 1'000;

// What was refused may hold secrets under keys that nobody knows. Errors about settings may quote
// their values; others name what is in the catalog, or is not.
void hide_secrets(catalog::StatementRecord& line) {
    constexpr unsigned kConfiguration = 1;  // the thousands of their numbers
    if (!line.error) return;
    if (number(line.error->code) / 1000 == kConfiguration) {
        line.error->message =
            sql::without_literals_of(line.statement, std::move(line.error->message));
        line.error->hint = sql::without_literals_of(line.statement, std::move(line.error->hint));
    }
    line.statement = sql::without_literals(line.statement);
}

// Errors of the database, as opposed to those of a request, cost the whole transaction.
bool breaks_transaction(const Error& error) {
    constexpr std::array kBreaking = {
        ErrorCode::catalog_unavailable, ErrorCode::catalog_full, ErrorCode::catalog_corrupt,
        ErrorCode::unknown_outcome,     ErrorCode::fenced,       ErrorCode::defect};
    return std::find(kBreaking.begin(), kBreaking.end(), error.code) != kBreaking.end();
}

Result<catalog::Answer> apply_planned(catalog::WriteTransaction& tx,
                                      catalog::request::CreateQuery query,
                                      const planning::PlanningView& view,
                                      const planning::Planner& planner) {
    TRY_ASSIGN(made, planner(query.tree, view));
    query.plan = std::move(made);
    return tx.apply(query);
}

// A trial is; several steps, or a DROP of several things, may fail half way.
bool is_likely_undone_after_writing(const Bundle& bundle) {
    if (!bundle.keep || bundle.steps.size() != 1) return true;
    const auto* request = std::get_if<catalog::Request>(&bundle.steps.front().what);
    return request != nullptr && std::holds_alternative<catalog::request::Drop>(*request);
}

}  // namespace

Committer::Committer(std::unique_ptr<Sql> sql, const Clock& clock, const CommitterOptions& options)
    : sql_(std::move(sql)),
      clock_(clock),
      options_(options),
      handed_through_(options.start),
      health_(options.on_health) {
    // What changed before, under whoever led then, is not known: anything may have.
    last_changed_.fill(options.start);
}

void Committer::run(std::vector<Job>& jobs, const Hand& hand) {
    std::vector<catalog::Change> changes;
    auto outcomes = attempt(jobs, changes, Savepoints::where_likely);
    if (!outcomes &&
        (outcomes.error().code == ErrorCode::conflict || !breaks_transaction(outcomes.error()))) {
        outcomes = attempt(jobs, changes, Savepoints::everywhere);
    }
    const auto may_succeed = [&] {
        return !outcomes && may_be_tried_again(*sql_, outcomes.error());
    };
    for (int i = 1; i < kDatabaseAttemptsMax && may_succeed(); ++i) {
        outcomes = attempt(jobs, changes, Savepoints::everywhere);
    }
    const bool retry_alone = !outcomes && jobs.size() > 1 && !may_succeed() &&
                             outcomes.error().code != ErrorCode::fenced &&
                             outcomes.error().code != ErrorCode::unknown_outcome;
    if (retry_alone) {
        for (Job& job : jobs) {
            std::vector<Job> alone;
            alone.push_back(std::move(job));
            run(alone, hand);
        }
        return;
    }
    hand_over(jobs, std::move(outcomes), std::move(changes), hand);
}

void Committer::refuse(std::vector<Job>& jobs, const Error& error, const Hand& hand) {
    hand_over(jobs, error, {}, hand);
}

void Committer::hand_over(std::vector<Job>& jobs, Result<std::vector<Outcome>> outcomes,
                          std::vector<catalog::Change> changes, const Hand& hand) {
    CommittedBatch batch{.changes = std::exchange(missed_, {}), .answers = {}, .revision = {}};
    if (outcomes) {
        health_.committed();
        note_changed(changes);
        std::move(changes.begin(), changes.end(), std::back_inserter(batch.changes));
    }
    batch.answers.reserve(jobs.size());
    for (std::size_t i = 0; i < jobs.size(); ++i) {
        if (!outcomes) log_undone(*jobs[i].bundle, outcomes.error());
        batch.answers.push_back({.answered = std::move(jobs[i].answered),
                                 .outcome = outcomes
                                                ? std::move((*outcomes)[i])
                                                : Outcome(Refused{.error = outcomes.error()})});
    }
    if (!outcomes) judge(outcomes.error());
    std::move(missed_.begin(), missed_.end(), std::back_inserter(batch.changes));
    missed_.clear();
    batch.revision = handed_through_;
    hand(std::move(batch));
}

void Committer::judge(const Error& failure) {
    const bool may_be_theirs = failure.code != ErrorCode::fenced &&
                               failure.code != ErrorCode::catalog_full &&
                               health_.failures_in_a_row() + 1 >= CommitHealth::kTroubleAfter;
    if (may_be_theirs) {
        std::vector<Job> none;
        std::vector<catalog::Change> changes;
        if (attempt(none, changes, Savepoints::everywhere)) return health_.committed();
    }
    health_.failed(failure);
}

void Committer::note_changed(const std::vector<catalog::Change>& changes) {
    for (const catalog::Change& change : changes) {
        last_changed_.at(static_cast<std::size_t>(change.entity)) = change.revision;
        handed_through_ = change.revision;
    }
}

Result<Done> Committer::catch_up(catalog::WriteTransaction& tx) {
    while (handed_through_ < tx.revision()) {
        constexpr std::size_t kPortion = 10'000;
        TRY_ASSIGN(missed,
                   catalog::changes_after(tx.sql(), handed_through_, std::nullopt, kPortion));
        note_changed(missed.changes);
        if (missed.changes.empty()) handed_through_ = tx.revision();
        std::move(missed.changes.begin(), missed.changes.end(), std::back_inserter(missed_));
    }
    return Done{};
}

void Committer::log(catalog::StatementRecord record) {
    hide_secrets(record);
    record.statement = storable_text(record.statement, catalog::kStatementMax);
    const std::size_t bytes =
        record.statement.size() + (record.error ? record.error->message.size() : 0);
    const Instant now = clock_.now();
    const std::lock_guard lock(log_mutex_);
    if (now - log_minute_ >= std::chrono::minutes(1)) {
        log_minute_ = now;
        log_minute_bytes_ = 0;
    }
    if (log_minute_bytes_ + bytes > options_.log_bytes_per_minute) {
        log_dropped_ += 1;
        return;
    }
    log_minute_bytes_ += bytes;
    if (log_waiting_.size() >= options_.log_waiting_max) {
        log_waiting_.erase(log_waiting_.begin());
        log_dropped_ += 1;
    }
    log_waiting_.push_back(std::move(record));
}

bool Committer::has_waiting_log() {
    const std::lock_guard lock(log_mutex_);
    return !log_waiting_.empty() || !log_in_hand_.empty();
}

Result<std::vector<Outcome>> Committer::attempt(std::vector<Job>& jobs,
                                                std::vector<catalog::Change>& changes,
                                                Savepoints savepoints) {
    if (options_.may_act && !options_.may_act()) {
        return Error{.code = ErrorCode::fenced,
                     .message = "the term of epoch " + to_string(options_.epoch) +
                                " is over, so this coordinator changes nothing",
                     .hint = "nothing happened; ask the coordinator that leads"};
    }
    const bool again = savepoints == Savepoints::everywhere;
    TRY_ASSIGN(tx, catalog::WriteTransaction::begin(
                       *sql_, options_.epoch,
                       again ? catalog::Sending::at_once : catalog::Sending::later));
    TRY(catch_up(*tx));
    unsure_ = false;
    std::vector<Outcome> outcomes;
    outcomes.reserve(jobs.size());
    for (const Job& job : jobs) {
        const bool likely = is_likely_undone_after_writing(*job.bundle);
        const bool safe = likely || again;
        TRY_ASSIGN(outcome, do_bundle(*tx, *job.bundle,
                                      safe ? catalog::Undo::always : catalog::Undo::until_written));
        TRY(log_bundle(*tx, *job.bundle, outcome));
        untrimmed_ += job.bundle->steps.size();
        outcomes.push_back(std::move(outcome));
    }
    TRY(write_waiting_log(*tx));
    commits_ += 1;
    if (commits_ % kCommitsPerTrim == 0 || untrimmed_ >= kWrittenPerTrim) {
        TRY(tx->trim(options_.history, clock_.wall_now()));
        untrimmed_ -= std::min(untrimmed_, kWrittenPerTrim);
    }
    if (auto committed = tx->commit(); !committed) {
        unsure_ = committed.error().code == ErrorCode::unknown_outcome;
        return committed.error();
    }
    untrimmed_ += log_in_hand_.size();
    log_in_hand_.clear();
    changes = tx->take_changes();
    return outcomes;
}

std::optional<Error> Committer::overtaken(const catalog::WriteTransaction& tx,
                                          const Bundle& bundle) const {
    if (!bundle.seen) return std::nullopt;
    // Also by those before it in the same transaction, which are not published yet.
    std::array<Revision, kinds::kEntityCount> changed = last_changed_;
    for (const catalog::Change& change : tx.changes()) {
        changed.at(static_cast<std::size_t>(change.entity)) = change.revision;
    }
    for (std::size_t i = 0; i < kinds::kEntityCount; ++i) {
        if (!bundle.seen->entities.test(i) || changed.at(i) <= bundle.seen->at) continue;
        return Error{.code = ErrorCode::conflict,
                     .message = "the transaction has read " +
                                std::string(to_string(static_cast<kinds::Entity>(i))) +
                                " entities that have changed since",
                     .hint = "nothing happened; run the transaction again"};
    }
    return std::nullopt;
}

Result<Outcome> Committer::do_bundle(catalog::WriteTransaction& tx, const Bundle& bundle,
                                     catalog::Undo undo) {
    if (auto error = overtaken(tx, bundle)) {
        return Outcome(Refused{.step = bundle.steps.size() - 1, .error = *std::move(error)});
    }
    TRY(tx.begin_bundle(clock_.wall_now(), undo));
    TRY_ASSIGN(outcome, do_steps(tx, bundle));
    auto* accepted = std::get_if<Accepted>(&outcome);
    if (accepted == nullptr || !bundle.keep) {
        if (!tx.can_undo()) return Error{.code = ErrorCode::conflict, .message = "half done"};
        TRY(tx.undo_bundle());
        if (accepted != nullptr) accepted->revision = tx.revision();
        return outcome;
    }
    TRY_ASSIGN(revision, tx.keep_bundle());
    accepted->revision = revision;
    return outcome;
}

Result<Outcome> Committer::do_steps(catalog::WriteTransaction& tx, const Bundle& bundle) {
    Accepted accepted;
    for (std::size_t i = 0; i < bundle.steps.size(); ++i) {
        const auto& what = bundle.steps[i].what;
        Result<StepAnswer> answer = StepAnswer();
        if (const auto* request = std::get_if<catalog::Request>(&what)) {
            auto done = tx.apply(*request);
            if (auto view = tx.take_wanted_view()) {
                if (!bundle.plan_in_place) {
                    return Outcome(NeedsPlan{.step = i, .view = *std::move(view)});
                }
                done = apply_planned(tx, std::get<catalog::request::CreateQuery>(*request), *view,
                                     bundle.plan_in_place);
            }
            answer = done ? Result<StepAnswer>(*std::move(done)) : done.error();
        } else {
            auto table = std::get<views::ViewQuery>(what).run(tx.sql());
            answer = table ? Result<StepAnswer>(*std::move(table)) : table.error();
        }
        if (!answer && breaks_transaction(answer.error())) return answer.error();
        if (!answer) return Outcome(Refused{.step = i, .error = answer.error()});
        accepted.answers.push_back(*std::move(answer));
    }
    return Outcome(std::move(accepted));
}

Result<Done> Committer::log_bundle(catalog::WriteTransaction& tx, const Bundle& bundle,
                                   const Outcome& outcome) {
    const auto record = [&](const Step& step) {
        return catalog::StatementRecord{.received = bundle.received,
                                        .principal = bundle.principal,
                                        .statement = step.statement,
                                        .took = clock_.now() - bundle.started};
    };
    if (const auto* refused = std::get_if<Refused>(&outcome)) {
        catalog::StatementRecord line = record(bundle.steps.at(refused->step));
        if (line.statement.empty()) return Done{};
        line.error = refused->error;
        hide_secrets(line);
        return tx.log(line);
    }
    const auto* accepted = std::get_if<Accepted>(&outcome);
    if (accepted == nullptr || !bundle.keep) return Done{};
    for (const Step& step : bundle.steps) {
        if (step.statement.empty()) continue;
        catalog::StatementRecord line = record(step);
        line.revision = accepted->revision;
        TRY(tx.log(line));
    }
    return Done{};
}

Result<Done> Committer::write_waiting_log(catalog::WriteTransaction& tx) {
    {
        const std::lock_guard lock(log_mutex_);
        std::move(log_waiting_.begin(), log_waiting_.end(), std::back_inserter(log_in_hand_));
        log_waiting_.clear();
    }
    const std::size_t most = options_.log_waiting_max;
    if (log_in_hand_.size() > most) {
        const std::size_t over = log_in_hand_.size() - most;
        log_in_hand_.erase(log_in_hand_.begin(),
                           log_in_hand_.begin() + static_cast<std::ptrdiff_t>(over));
        log_dropped_ += over;
    }
    for (const catalog::StatementRecord& record : log_in_hand_) TRY(tx.log(record));
    return Done{};
}

void Committer::log_undone(const Bundle& bundle, const Error& error) {
    const Step& step = bundle.steps.front();
    if (step.statement.empty()) return;
    catalog::StatementRecord line{.received = bundle.received,
                                  .principal = bundle.principal,
                                  .statement = step.statement,
                                  .took = clock_.now() - bundle.started};
    line.error = error;
    log(std::move(line));
}

}  // namespace baton::coordinator
