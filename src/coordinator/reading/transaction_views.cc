#include "coordinator/reading/transaction_views.h"

#include <algorithm>
#include <utility>

#include "catalog/history.h"

namespace baton::coordinator {

namespace {

// Whether what the query is about is at this snapshot as it was at the revision.
Result<Done> check_unchanged(const Snapshot& snapshot, const views::ViewQuery& query,
                             Revision since) {
    if (snapshot.revision() == since) return Done{};
    TRY_ASSIGN(floor, catalog::feed_floor(snapshot.sql()));
    bool changed = since < floor;
    if (!changed) {
        TRY_ASSIGN(after, catalog::changes_after(snapshot.sql(), since, query.view().entity, 1));
        changed = !after.changes.empty();
    }
    if (!changed) return Done{};
    return Error{.code = ErrorCode::conflict,
                 .message = "cannot read " + std::string(query.view().name) +
                            " as the transaction began to see it: that has changed, and what was "
                            "there is kept only for transactions that are short",
                 .hint = "nothing happened; run the transaction again, and without pauses"};
}

}  // namespace

TransactionView::TransactionView(TransactionViews& owner, Snapshot snapshot, Instant now)
    : owner_(owner),
      revision_(snapshot.revision()),
      since_(now),
      snapshot_(std::move(snapshot)),
      idle_since_(now) {}

TransactionView::~TransactionView() {
    owner_.remove(*this);
}

Result<views::Table> TransactionView::read(const views::ViewQuery& query) {
    {
        const std::lock_guard lock(owner_.mutex_);
        reads_ = snapshot_.has_value();
    }
    if (!reads_) {
        TRY_ASSIGN(now, owner_.everybodys_.snapshot());
        TRY(check_unchanged(now, query, revision_));
        return query.run(now.sql());
    }
    auto table = query.run(snapshot_->sql());
    const std::lock_guard lock(owner_.mutex_);
    reads_ = false;
    idle_since_ = owner_.clock_.now();
    return table;
}

TransactionViews::TransactionViews(SqlDatabase& database, Durable& durable, Readers& readers,
                                   const Clock& clock, const TransactionViewsOptions& options)
    : everybodys_(readers),
      clock_(clock),
      options_(options),
      own_(database, durable, options.kept_max, "too many transactions are reading") {}

Result<std::unique_ptr<TransactionView>> TransactionViews::begin() {
    const std::lock_guard turn(begins_);  // or those who come together wait for each other
    while (kept() >= options_.kept_max && make_room()) {
    }
    TRY_ASSIGN(snapshot, own_.snapshot());
    std::unique_ptr<TransactionView> view(
        new TransactionView(*this, std::move(snapshot), clock_.now()));
    const std::lock_guard lock(mutex_);
    views_.push_back(view.get());
    return view;
}

std::size_t TransactionViews::kept() const {
    const std::lock_guard lock(mutex_);
    return views_.size();
}

bool TransactionViews::make_room() {
    std::optional<Snapshot> given_up;  // ends outside of the lock: that takes a moment
    const std::lock_guard lock(mutex_);
    auto oldest = views_.end();
    for (auto view = views_.begin(); view != views_.end(); ++view) {
        if ((*view)->reads_) continue;
        if (oldest == views_.end() || (*view)->idle_since_ < (*oldest)->idle_since_) oldest = view;
    }
    if (oldest == views_.end()) return false;
    given_up.emplace(*std::move((*oldest)->snapshot_));
    (*oldest)->snapshot_.reset();
    views_.erase(oldest);
    return true;
}

void TransactionViews::sweep(Revision newest) {
    std::vector<Snapshot> given_up;
    const Instant now = clock_.now();
    const std::lock_guard lock(mutex_);
    for (auto view = views_.begin(); view != views_.end();) {
        TransactionView& one = **view;
        const bool old = now - one.since_ > options_.age_max;
        const bool behind = newest.value() > one.revision_.value() + options_.behind_max;
        if (one.reads_ || !(old || behind)) {
            ++view;
            continue;
        }
        given_up.push_back(*std::move(one.snapshot_));
        one.snapshot_.reset();
        view = views_.erase(view);
    }
}

void TransactionViews::remove(TransactionView& view) {
    const std::lock_guard lock(mutex_);
    std::erase(views_, &view);
}

}  // namespace baton::coordinator
