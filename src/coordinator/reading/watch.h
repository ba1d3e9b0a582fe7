// Watch is one client's view of a view: first all rows, then every change to them, in order.
//
// Guarantees: within one watch no change is missed, doubled or out of order; rows that come to
// match the filter are a CREATE, rows that cease to are a DROP. A watch that resumes from a
// revision gets the changes after it; if they are no longer kept, it gets a new snapshot with the
// reason. Used by one thread at a time. It must end before the CoordinatorRuntime does.
#pragma once

#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "catalog/views/view_query.h"
#include "coordinator/commit/feed.h"
#include "coordinator/reading/readers.h"

namespace baton::coordinator {

// All rows as of a revision. Replaces whatever the client knew.
struct WatchSnapshot {
    Revision revision;
    views::Table table;
    std::string reason;  // why, if it was not asked for
};

struct WatchChange {
    Revision revision;
    ChangeOp op = ChangeOp::create;
    std::string key;
    SqlRow row;  // the columns asked for; as it was, for a DROP
};

using WatchEvent = std::variant<WatchSnapshot, WatchChange>;

class Watch {
public:
    // `wake`, if given, is called on the writer's thread when there may be something new; it must
    // not block. Fails with not_supported if the query cannot be watched.
    [[nodiscard]] static Result<std::unique_ptr<Watch>> open(Feed& feed, Readers& readers,
                                                             const views::ViewQuery& query,
                                                             std::optional<Revision> since,
                                                             std::function<void()> wake = nullptr);
    Watch(const Watch&) = delete;
    Watch& operator=(const Watch&) = delete;

    // New events, without waiting; about `most` at a time.
    [[nodiscard]] Result<std::vector<WatchEvent>> poll(std::size_t most = 1'000);
    // The same, waiting for at least one event until `timeout` has passed or it is interrupted.
    [[nodiscard]] Result<std::vector<WatchEvent>> next(Duration timeout);
    // Makes a next() under way return its events so far. Any thread.
    void interrupt();
    // Replaces the callback of open(); called at once, too, since there may be something new.
    void wake_with(std::function<void()> wake);

    // Everything up to this revision was delivered: where to resume.
    [[nodiscard]] Revision revision() const { return cursor_; }
    [[nodiscard]] std::vector<views::TableColumn> columns() const { return query_.columns(); }
    [[nodiscard]] const kinds::View& view() const { return query_.view(); }

private:
    Watch(Feed& feed, Readers& readers, views::ViewQuery query);
    [[nodiscard]] Result<WatchEvent> take_snapshot(std::string reason);
    [[nodiscard]] Result<std::vector<WatchEvent>> poll_catalog(std::size_t most);
    void deliver(const std::vector<catalog::Change>& changes,
                 std::vector<WatchEvent>& events) const;

    Feed& feed_;
    Readers& readers_;
    const views::ViewQuery query_;
    Revision cursor_;
    bool started_ = false;                // the first snapshot was delivered, or is not wanted
    std::optional<std::string> restart_;  // why a new snapshot is due

    std::mutex mutex_;
    std::condition_variable woken_;
    bool news_ = true;
    bool interrupted_ = false;
    std::function<void()> wake_;
    Feed::Registration registration_;  // last: its calls use everything above
};

}  // namespace baton::coordinator
