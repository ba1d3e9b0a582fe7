// CommitLoop is the one writer of the catalog: a thread that takes whatever bundles are waiting and
// does them in one transaction; a Settler makes it durable and answers them.
//
// Rules:
//   - A bundle is answered Accepted only after it is durable.
//   - What one bundle does wrong costs no other bundle. Those of one request go without a
//     savepoint, since requests look before they write; if one fails after it wrote, the batch is
//     done again with savepoints. If the database abandons the whole transaction, the others are
//     done again without the culprit.
//   - The mailbox is bounded; a full one refuses with slow_down at once, and nothing has happened.
//   - Changes are published in the order of their revisions, after the commit, before the answers.
#pragma once

#include <array>
#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "base/id.h"
#include "base/result.h"
#include "catalog/write_transaction.h"
#include "ports/clock.h"
#include "ports/sql.h"
#include "runtime/bundle.h"
#include "runtime/durable.h"
#include "runtime/mailbox.h"
#include "runtime/settler.h"

namespace baton {

struct CommitLoopOptions {
    std::size_t waiting_max = 4'096;       // bundles in the mailbox
    std::size_t batch_max = 512;           // bundles in one transaction
    std::size_t log_waiting_max = 10'000;  // lines of the statement log without a bundle
    HistoryLimits history;
    Epoch epoch;
    Revision start;  // of the catalog as it was opened
};

class CommitLoop {
public:
    // `sql` is a writing connection that nobody else uses, and `sync` what makes its commits
    // durable; null if they are. `durable` outlives the loop.
    CommitLoop(std::unique_ptr<Sql> sql, std::unique_ptr<SqlSync> sync, const Clock& clock,
               const CommitLoopOptions& options, Durable& durable, Published published);
    ~CommitLoop();
    CommitLoop(const CommitLoop&) = delete;
    CommitLoop& operator=(const CommitLoop&) = delete;

    // Fails with slow_down if too many are waiting and catalog_unavailable if the loop has stopped;
    // otherwise `answered` is called exactly once.
    [[nodiscard]] Result<Done> submit(Bundle bundle, Answered answered);
    // The same, waiting for the answer. Not from the loop's own thread.
    [[nodiscard]] Outcome submit_and_wait(const Bundle& bundle);

    // Adds a line to the statement log with the next commit that succeeds. If too many are waiting,
    // the oldest is dropped and counted. After an unknown outcome a line may stand twice.
    void log(StatementRecord record);
    [[nodiscard]] std::uint64_t log_lines_dropped() const { return log_dropped_; }

    // Answers what is waiting, then ends the thread. Idempotent.
    void stop();

private:
    struct Job {
        std::shared_ptr<const Bundle> bundle;  // or of a caller that waits
        Answered answered;
    };

    [[nodiscard]] Result<Done> post(Job job);

    void run();
    void run_batch(std::vector<Job>& jobs);
    // Does the jobs in one transaction. An error means that none of them happened; conflict, that
    // one of them cannot be undone without a savepoint.
    enum class Savepoints : std::uint8_t { where_likely, everywhere };
    [[nodiscard]] Result<std::vector<Outcome>> attempt(std::vector<Job>& jobs,
                                                       std::vector<Change>& changes,
                                                       Savepoints savepoints);
    [[nodiscard]] Result<Outcome> do_bundle(WriteTransaction& tx, const Bundle& bundle, Undo undo);
    [[nodiscard]] Result<Outcome> do_steps(WriteTransaction& tx, const Bundle& bundle);
    [[nodiscard]] std::optional<Error> overtaken(const WriteTransaction& tx,
                                                 const Bundle& bundle) const;
    [[nodiscard]] Result<Done> log_bundle(WriteTransaction& tx, const Bundle& bundle,
                                          const Outcome& outcome);
    [[nodiscard]] Result<Done> write_waiting_log(WriteTransaction& tx);
    // Puts on record that the whole bundle did not happen, under its first statement.
    void log_undone(const Bundle& bundle, const Error& error);
    // Passes the jobs on, with the changes of their commit.
    void hand_over(std::vector<Job>& jobs, Result<std::vector<Outcome>> outcomes,
                   std::vector<Change> changes);
    void note_changed(const std::vector<Change>& changes);
    // Finds what is in the catalog but was not handed over: commits whose outcome was unknown.
    [[nodiscard]] Result<Done> catch_up(WriteTransaction& tx);
    [[nodiscard]] bool has_waiting_log();

    std::unique_ptr<Sql> sql_;
    const Clock& clock_;
    const CommitLoopOptions options_;
    Mailbox<Job> mailbox_;
    // When an entity of each kind last changed. Written by the loop's thread only; what happened
    // before this process started counts as unchanged, since no session is older.
    std::array<Revision, kEntityCount> last_changed_{};
    Revision handed_through_;
    std::vector<Change> missed_;  // of commits whose outcome was unknown, to be handed over next
    std::uint64_t commits_ = 0;
    std::uint64_t untrimmed_ = 0;  // steps done since history was last trimmed

    std::mutex log_mutex_;
    std::vector<StatementRecord> log_waiting_;
    std::vector<StatementRecord> log_in_hand_;  // of the loop's thread: written, not yet committed
    std::atomic<std::uint64_t> log_dropped_ = 0;

    Settler settler_;
    std::thread thread_;  // last: it uses everything above
};

}  // namespace baton
