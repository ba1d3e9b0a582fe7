#include "coordinator/reading/watch.h"

#include "catalog/history.h"

namespace baton::coordinator {

namespace {

EntitySet only(kinds::Entity entity) {
    EntitySet set;
    set.set(static_cast<std::size_t>(entity));
    return set;
}

}  // namespace

Watch::Watch(Feed& feed, Readers& readers, views::ViewQuery query)
    : feed_(feed), readers_(readers), query_(std::move(query)) {}

Result<std::unique_ptr<Watch>> Watch::open(Feed& feed, Readers& readers,
                                           const views::ViewQuery& query,
                                           std::optional<Revision> since,
                                           std::function<void()> wake) {
    TRY_ASSIGN(watchable, query.watchable());
    std::unique_ptr<Watch> watch(new Watch(feed, readers, std::move(watchable)));
    watch->wake_ = std::move(wake);
    if (since) {
        TRY_ASSIGN(snapshot, readers.snapshot());
        TRY_ASSIGN(floor, catalog::feed_floor(snapshot.sql()));
        watch->started_ = true;
        watch->cursor_ = *since;
        if (*since < floor) {
            watch->restart_ = "revision " + to_string(*since) +
                              " is no longer kept, the oldest is " + to_string(floor);
        } else if (*since > snapshot.revision()) {
            watch->restart_ = "revision " + to_string(*since) +
                              " has not happened here, the newest is " +
                              to_string(snapshot.revision());
        }
    }
    watch->registration_ = feed.wake_on(only(*query.view().entity), [raw = watch.get()] {
        std::function<void()> wake_now;
        {
            const std::lock_guard lock(raw->mutex_);
            raw->news_ = true;
            wake_now = raw->wake_;
        }
        raw->woken_.notify_one();
        if (wake_now) wake_now();
    });
    return watch;
}

Result<WatchEvent> Watch::take_snapshot(std::string reason) {
    TRY_ASSIGN(snapshot, readers_.snapshot());
    TRY_ASSIGN(table, query_.run(snapshot.sql()));
    cursor_ = snapshot.revision();
    started_ = true;
    restart_.reset();
    return WatchEvent(
        WatchSnapshot{.revision = cursor_, .table = std::move(table), .reason = std::move(reason)});
}

void Watch::deliver(const std::vector<catalog::Change>& changes,
                    std::vector<WatchEvent>& events) const {
    for (const catalog::Change& change : changes) {
        const bool was = change.old && query_.matches(*change.old);
        const bool is = change.row && query_.matches(*change.row);
        if (!was && !is) continue;
        WatchChange event{.revision = change.revision,
                          .op = change.op,
                          .key = change.key,
                          .row = query_.selected(is ? *change.row : *change.old)};
        if (!was) event.op = ChangeOp::create;
        if (!is) event.op = ChangeOp::drop;
        if (was && is) event.op = ChangeOp::update;
        events.emplace_back(std::move(event));
    }
}

Result<std::vector<WatchEvent>> Watch::poll_catalog(std::size_t most) {
    std::vector<WatchEvent> events;
    TRY_ASSIGN(snapshot, readers_.snapshot());
    TRY_ASSIGN(floor, catalog::feed_floor(snapshot.sql()));
    if (cursor_ < floor) {
        restart_ = "changes after revision " + to_string(cursor_) +
                   " are no longer kept, the oldest is " + to_string(floor);
        return events;
    }
    TRY_ASSIGN(found, catalog::changes_after(snapshot.sql(), cursor_, *query_.view().entity, most));
    deliver(found.changes, events);
    cursor_ = found.complete ? snapshot.revision() : found.changes.back().revision;
    return events;
}

Result<std::vector<WatchEvent>> Watch::poll(std::size_t most) {
    std::vector<WatchEvent> events;
    for (;;) {
        if (!started_ || restart_) {
            TRY_ASSIGN(event, take_snapshot(restart_.value_or("")));
            events.push_back(std::move(event));
            return events;
        }
        auto portion = feed_.after(cursor_, *query_.view().entity, most);
        if (portion) {
            deliver(portion->changes, events);
            const bool moved = cursor_ < portion->reaches;
            cursor_ = portion->reaches;
            if (!events.empty() || !moved) return events;
        } else {
            TRY_ASSIGN(older, poll_catalog(most));
            if (!older.empty()) return older;
        }
    }
}

Result<std::vector<WatchEvent>> Watch::next(Duration timeout) {
    const auto deadline = std::chrono::steady_clock::now() + timeout;
    for (;;) {
        {
            const std::lock_guard lock(mutex_);
            news_ = false;
        }
        TRY_ASSIGN(events, poll());
        if (!events.empty()) return events;
        std::unique_lock lock(mutex_);
        const bool more = woken_.wait_until(lock, deadline, [&] { return news_ || interrupted_; });
        if (!more || interrupted_) return events;
    }
}

void Watch::wake_with(std::function<void()> wake) {
    {
        const std::lock_guard lock(mutex_);
        wake_ = wake;
    }
    if (wake) wake();
}

void Watch::interrupt() {
    {
        const std::lock_guard lock(mutex_);
        interrupted_ = true;
    }
    woken_.notify_all();
}

}  // namespace baton::coordinator
