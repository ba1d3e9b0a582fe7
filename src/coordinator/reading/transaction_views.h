// TransactionViews lets transactions read one revision of the catalog from their first read to
// their end, without a connection for each.
//
// A snapshot holds a connection, and keeps the database from forgetting what was replaced since. So
// only some are kept, and none for long or while much is written: the longest idle gives way. A
// transaction without a snapshot reads the present rows if they are those of its revision; if not,
// it fails with conflict, as it would at COMMIT.
#pragma once

#include <chrono>
#include <cstdint>
#include <list>
#include <memory>
#include <mutex>
#include <optional>

#include "base/id.h"
#include "base/result.h"
#include "base/time.h"
#include "catalog/views/view_query.h"
#include "coordinator/commit/durable.h"
#include "coordinator/reading/readers.h"
#include "ports/clock.h"
#include "ports/sql.h"

namespace baton::coordinator {

struct TransactionViewsOptions {
    std::size_t kept_max = 8;
    Duration age_max = std::chrono::seconds(60);
    std::uint64_t behind_max = 10'000;  // revisions
};

class TransactionViews;

// The view of one transaction. Used by one thread at a time; ends before its owner.
class TransactionView {
public:
    ~TransactionView();
    TransactionView(const TransactionView&) = delete;
    TransactionView& operator=(const TransactionView&) = delete;

    // That it reads, for its whole life.
    [[nodiscard]] Revision revision() const { return revision_; }
    // Fails with conflict if what is asked for has changed since and is not kept.
    [[nodiscard]] Result<views::Table> read(const views::ViewQuery& query);

private:
    friend class TransactionViews;
    TransactionView(TransactionViews& owner, Snapshot snapshot, Instant now);

    TransactionViews& owner_;
    const Revision revision_;
    const Instant since_;
    // Guarded by the owner:
    std::optional<Snapshot> snapshot_;  // none: it has given way
    Instant idle_since_;
    bool reads_ = false;  // now: it does not give way
};

// Any thread.
class TransactionViews {
public:
    // All outlive it; `readers` are the shared ones, for transactions that have given way.
    TransactionViews(SqlDatabase& database, Durable& durable, Readers& readers, const Clock& clock,
                     const TransactionViewsOptions& options = {});

    // Fails as Readers::snapshot() does.
    [[nodiscard]] Result<std::unique_ptr<TransactionView>> begin();
    // Those too old, or too far behind this revision, give way.
    void sweep(Revision newest);
    [[nodiscard]] std::size_t kept() const;

private:
    friend class TransactionView;
    // Lets the longest idle of them give way; false: all are reading.
    bool make_room();
    void remove(TransactionView& view);

    Readers& everybodys_;
    const Clock& clock_;
    const TransactionViewsOptions options_;
    Readers own_;
    std::mutex begins_;
    mutable std::mutex mutex_;
    std::list<TransactionView*> views_;  // that have a snapshot
};

}  // namespace baton::coordinator
