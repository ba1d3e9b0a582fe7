// CommitLoop is the one writer of the catalog: a thread that takes all bundles that are waiting and
// applies them in one transaction (Committer). A Settler makes it durable and answers them.
//
// Rules:
//   - A bundle is answered Accepted only after it is durable.
//   - The mailbox is bounded; a full one refuses with slow_down at once, and nothing has happened.
//   - Changes are published in the order of their revisions, when durable, before the answers.
#pragma once

#include <functional>
#include <memory>
#include <thread>

#include "base/result.h"
#include "coordinator/commit/bundle.h"
#include "coordinator/commit/committer.h"
#include "coordinator/commit/durable.h"
#include "coordinator/commit/settler.h"
#include "ports/clock.h"
#include "ports/sql.h"
#include "threads/mailbox.h"

namespace baton::coordinator {

struct CommitLoopOptions {
    std::size_t waiting_max = 4'096;  // bundles in the mailbox
    std::size_t batch_max = 512;      // bundles in one transaction
    CommitterOptions committer;
};

class CommitLoop {
public:
    // `sql` is a writing connection for this loop alone. `sync` makes its commits durable; null if
    // they already are. `durable` outlives the loop.
    CommitLoop(std::unique_ptr<Sql> sql, std::unique_ptr<SqlSync> sync, const Clock& clock,
               const CommitLoopOptions& options, Durable& durable, Published published);
    ~CommitLoop();
    CommitLoop(const CommitLoop&) = delete;
    CommitLoop& operator=(const CommitLoop&) = delete;

    // Fails with slow_down if too many are waiting and catalog_unavailable if the loop has stopped;
    // otherwise `answered` is called exactly once, on a thread of the loop's.
    [[nodiscard]] Result<Done> submit(Bundle bundle, Answered answered);
    // The same, waiting for the answer. Not from the loop's own threads.
    [[nodiscard]] Outcome submit_and_wait(const Bundle& bundle);

    // See Committer::log.
    void log(catalog::StatementRecord record);
    [[nodiscard]] std::uint64_t log_lines_dropped() const { return committer_.log_lines_dropped(); }

    [[nodiscard]] const CommitHealth& health() const { return committer_.health(); }

    // Answers what is waiting, then ends the threads. Idempotent.
    void stop();

private:
    [[nodiscard]] Result<Done> post(Committer::Job job);
    void run();

    const CommitLoopOptions options_;
    threads::Mailbox<Committer::Job> mailbox_;
    Committer committer_;
    Durable& durable_;
    Settler settler_;
    std::thread thread_;  // last: it uses everything above
};

}  // namespace baton::coordinator
