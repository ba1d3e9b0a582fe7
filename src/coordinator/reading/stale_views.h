// StaleViews keeps the rows of the views as they were when they could last be read, for clients
// that read while the database is away. Its answers are marked as stale, with their revision and
// age. All else (changes, plans, logs, transactions) is refused while the database is away.
//
// A thread of its own looks at the revision every so often, and copies the views when it has moved:
// all of one revision, no sooner again than many times what the last copy took, so that it costs
// the running system a few hundredths at most. Locks, which change without a revision, are copied
// at every look. Logs (STATEMENTS, CHANGES) are not kept. Bounded: a catalog that is too large is
// not kept at all.
#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string_view>
#include <thread>
#include <vector>

#include "base/result.h"
#include "catalog/views/view_query.h"
#include "ports/clock.h"
#include "ports/sql.h"

namespace baton::coordinator {

struct StaleViewsOptions {
    Duration interval = std::chrono::seconds(1);  // from one look to the next
    int rest = 50;                                // so many times what the last copy took
    std::size_t bytes_max = std::size_t{64} << 20U;
    // Called on its thread when the database can no longer be read, and when it can again.
    std::function<void(const Result<Done>& look)> on_change;
};

class StaleViews {
public:
    // All outlive it.
    StaleViews(SqlDatabase& database, const Clock& clock, const StaleViewsOptions& options = {});
    ~StaleViews();
    StaleViews(const StaleViews&) = delete;
    StaleViews& operator=(const StaleViews&) = delete;

    // Any thread. None: nothing of it is kept.
    [[nodiscard]] std::optional<views::Table> ask(const views::ViewQuery& query) const;

private:
    struct Copy {
        Revision revision;
        // By the name of the view; never null.
        std::map<std::string_view, std::shared_ptr<const std::vector<SqlRow>>> rows;
    };

    void run();
    [[nodiscard]] Result<Done> look();
    [[nodiscard]] Result<Done> take_copy(Revision revision);
    // The views of the copy are what is there; the others are copied again.
    [[nodiscard]] Result<Done> confirm(const Copy& copy, Instant now);

    SqlDatabase& database_;
    const Clock& clock_;
    const StaleViewsOptions options_;
    std::unique_ptr<Sql> sql_;  // none: not connected
    Duration took_{};           // the last copy

    mutable std::mutex mutex_;
    std::condition_variable ended_;
    bool over_ = false;
    std::shared_ptr<const Copy> copy_;  // none: nothing is kept
    Instant confirmed_;                 // when the copy was last known to be what is there
    std::thread thread_;                // last: it uses everything above
};

}  // namespace baton::coordinator
