// Committer applies bundles to the catalog: many in one transaction, each of them whole or not at
// all. It is the commit loop without its threads, so that a simulation runs the same code.
//
// Rules:
//   - If one bundle fails, only that one is rolled back. Bundles of one request go without a
//     savepoint, since requests look before they write; if one fails after it wrote, the batch is
//     repeated with savepoints. If the database abandons the whole transaction, the others are
//     repeated without the culprit.
//   - Batches are handed on in the order of their revisions, with their changes and outcomes; they
//     are committed then, but durable only if the connection's commits are (Sql::defer_sync).
//   - The changes of a commit with an unknown outcome are handed on with the next batch.
//   - When its term is over it writes nothing, and refuses with fenced. That is by this process's
//     clock; the fence holds by itself.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "base/id.h"
#include "base/result.h"
#include "catalog/write_transaction.h"
#include "coordinator/commit/bundle.h"
#include "coordinator/commit/commit_health.h"
#include "ports/clock.h"
#include "ports/sql.h"

namespace baton::coordinator {

struct CommitterOptions {
    std::size_t log_waiting_max = 10'000;  // lines of the statement log without a bundle
    // Of such lines; more than that are dropped and counted.
    std::uint64_t log_bytes_per_minute = 8'000'000;
    catalog::HistoryLimits history;
    Epoch epoch;
    Revision start;  // of the catalog as it was opened
    // Asked before each transaction; none: always. See TermGuard.
    std::function<bool()> may_act;
    CommitHealth::TroubleListener on_health;
};

// Called with the outcome of a bundle; must not block.
using Answered = std::function<void(Outcome)>;

struct CommittedBatch {
    struct Answer {
        Answered answered;
        Outcome outcome;
    };
    std::vector<catalog::Change> changes;
    std::vector<Answer> answers;
    Revision revision;  // of the catalog after it
};

// All but log() from one thread.
class Committer {
public:
    struct Job {
        std::shared_ptr<const Bundle> bundle;  // or of a caller that waits
        Answered answered;
    };
    using Hand = std::function<void(CommittedBatch)>;

    // `sql` is a writing connection for this committer alone.
    Committer(std::unique_ptr<Sql> sql, const Clock& clock, const CommitterOptions& options);

    // Hands every job on exactly once, in one batch or several; with no jobs, writes what waits for
    // the log.
    void run(std::vector<Job>& jobs, const Hand& hand);
    // Hands them on with this error, untried.
    void refuse(std::vector<Job>& jobs, const Error& error, const Hand& hand);

    // Adds a line to the statement log with the next commit that succeeds. If too many are waiting,
    // the oldest is dropped and counted; if there were too many in this minute, the line is. After
    // an unknown outcome a line may stand twice.
    void log(catalog::StatementRecord record);
    // Puts on record that the whole bundle did not happen, under its first statement.
    void log_undone(const Bundle& bundle, const Error& error);
    [[nodiscard]] bool has_waiting_log();
    // A commit may have happened and was not handed on: run() again soon, with jobs or without.
    [[nodiscard]] bool is_unsure() const { return unsure_; }
    [[nodiscard]] std::uint64_t log_lines_dropped() const { return log_dropped_; }
    // Any thread.
    [[nodiscard]] const CommitHealth& health() const { return health_; }

private:
    // Does the jobs in one transaction. An error means that none of them happened; conflict, that
    // one of them cannot be undone without a savepoint; one of a request, that a constraint has
    // refused it and only another attempt, everywhere with savepoints, tells whose it is.
    enum class Savepoints : std::uint8_t { where_likely, everywhere };
    [[nodiscard]] Result<std::vector<Outcome>> attempt(std::vector<Job>& jobs,
                                                       std::vector<catalog::Change>& changes,
                                                       Savepoints savepoints);
    [[nodiscard]] Result<Outcome> do_bundle(catalog::WriteTransaction& tx, const Bundle& bundle,
                                            catalog::Undo undo);
    [[nodiscard]] Result<Outcome> do_steps(catalog::WriteTransaction& tx, const Bundle& bundle);
    [[nodiscard]] std::optional<Error> overtaken(const catalog::WriteTransaction& tx,
                                                 const Bundle& bundle) const;
    [[nodiscard]] Result<Done> log_bundle(catalog::WriteTransaction& tx, const Bundle& bundle,
                                          const Outcome& outcome);
    [[nodiscard]] Result<Done> write_waiting_log(catalog::WriteTransaction& tx);
    // Passes the jobs on, with the changes of their commit.
    void hand_over(std::vector<Job>& jobs, Result<std::vector<Outcome>> outcomes,
                   std::vector<catalog::Change> changes, const Hand& hand);
    // Nothing could be committed. That is trouble only if the log of it cannot be committed either:
    // the request may be to blame.
    void judge(const Error& failure);
    void note_changed(const std::vector<catalog::Change>& changes);
    // Finds what is in the catalog but was not handed over: commits whose outcome was unknown.
    [[nodiscard]] Result<Done> catch_up(catalog::WriteTransaction& tx);

    std::unique_ptr<Sql> sql_;
    const Clock& clock_;
    const CommitterOptions options_;
    // When an entity of each kind last changed. Changes from before this process started do not
    // count, since no session is older.
    std::array<Revision, kinds::kEntityCount> last_changed_{};
    Revision handed_through_;
    CommitHealth health_;
    bool unsure_ = false;
    std::vector<catalog::Change>
        missed_;  // of commits whose outcome was unknown, to be handed over next
    std::uint64_t commits_ = 0;
    std::uint64_t untrimmed_ = 0;  // steps done since history was last trimmed

    std::mutex log_mutex_;
    std::vector<catalog::StatementRecord> log_waiting_;
    Instant log_minute_{};  // when it began
    std::uint64_t log_minute_bytes_ = 0;
    std::vector<catalog::StatementRecord> log_in_hand_;  // written, not yet committed
    std::atomic<std::uint64_t> log_dropped_ = 0;
};

}  // namespace baton::coordinator
