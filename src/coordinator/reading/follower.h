// Follower publishes what another process commits, so that watchers and readers of this one keep up
// while it does not lead.
//
// It reads the change feed of the catalog on a connection of its own: at once where the database
// tells of commits (ports/sql_signals.h), and every so often in any case. Changes are published in
// order, whole revisions at a time; if more was missed than is kept, watchers begin anew. A signal
// only says that there may be something; one that is lost costs until the next look. While the
// database is away nothing is published, and readers get the reason.
#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>

#include "base/result.h"
#include "base/time.h"
#include "coordinator/commit/feed.h"
#include "ports/sql.h"
#include "ports/sql_signals.h"

namespace baton::coordinator {

struct FollowerOptions {
    Duration interval = std::chrono::milliseconds(50);  // from one look to the next
    // Reports commits of others, and outlives it; none: there are only regular looks.
    SqlSignals* signals = nullptr;
    Duration interval_with_signals = std::chrono::seconds(1);  // while they are heard
    std::function<void()> on_lease = nullptr;                  // the lease may have changed
};

class Follower {
public:
    // All outlive it. It begins after the last revision of the feed.
    Follower(SqlDatabase& database, Feed& feed, const FollowerOptions& options = {});
    // No publication is under way then.
    ~Follower();
    Follower(const Follower&) = delete;
    Follower& operator=(const Follower&) = delete;

private:
    void run();
    [[nodiscard]] Result<Done> look();
    // False: it is over.
    [[nodiscard]] bool pause();

    SqlDatabase& database_;
    Feed& feed_;
    const FollowerOptions options_;
    std::unique_ptr<Sql> sql_;  // none: not connected

    std::mutex mutex_;
    std::condition_variable ended_;
    bool over_ = false;
    std::thread thread_;  // last: it uses everything above
};

}  // namespace baton::coordinator
