// Settler finishes committed batches: it makes them durable, publishes them, answers them.
//
// It does so on a thread of its own while the writer is at the next batch, so that neither the disk
// nor the waking of many clients holds the writer up; one sync serves all batches that were handed
// over meanwhile. A small batch with nothing before it is settled by the writer at once.
//
// Rules:
//   - For each batch: sync, then readers may see it, then its changes are published, then it is
//     answered. Batches go in the order in which they were handed over.
//   - At most one batch waits while another is being settled: hand() waits for that. More would
//     only make the batches smaller.
//   - After a sync that failed nothing is accepted ever again. The contents of the disk are then
//     unknown, and later syncs prove nothing: every bundle that was not answered gets
//     unknown_outcome.
#pragma once

#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "catalog/change.h"
#include "coordinator/commit/bundle.h"
#include "coordinator/commit/committer.h"
#include "coordinator/commit/durable.h"
#include "ports/sql.h"

namespace baton::coordinator {

using Published = std::function<void(const std::vector<catalog::Change>&)>;

class Settler {
public:
    // `sync` is null if commits are durable by themselves. `durable` outlives it.
    Settler(std::unique_ptr<SqlSync> sync, Durable& durable, Published published);
    ~Settler();
    Settler(const Settler&) = delete;
    Settler& operator=(const Settler&) = delete;

    // From one thread. Everything handed over is answered exactly once.
    void hand(CommittedBatch batch);
    // Settles what was handed over, then ends the thread. Idempotent; nothing is handed over after.
    void stop();

    // Why nothing more is accepted.
    [[nodiscard]] std::optional<Error> broken() const;

private:
    void run();
    void settle(std::vector<CommittedBatch>& batches);
    void sync();

    const std::unique_ptr<SqlSync> sync_;
    Durable& durable_;
    const Published published_;

    mutable std::mutex mutex_;
    std::condition_variable changed_;
    std::vector<CommittedBatch> waiting_;
    bool busy_ = false;  // the thread is settling
    bool closed_ = false;
    std::optional<Error> broken_;

    std::thread thread_;  // last: it uses everything above
};

}  // namespace baton::coordinator
