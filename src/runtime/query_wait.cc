#include "runtime/query_wait.h"

#include <condition_variable>
#include <mutex>

#include "base/text.h"
#include "runtime/waiting.h"

namespace baton {

namespace {

// Says when something about one query was changed.
class Bell {
public:
    Bell(Feed& feed, QueryId query)
        : registration_(
              feed.listen(queries(), [this, key = key_of(query)](const std::set<EntityKey>& keys) {
                  if (keys.empty() || keys.contains(key)) ring();
              })) {}

    void ring() {
        {
            const std::lock_guard lock(mutex_);
            rung_ = true;
        }
        changed_.notify_one();
    }

    void wait(Duration at_most) {
        const Waiting waiting;
        std::unique_lock lock(mutex_);
        changed_.wait_for(lock, at_most, [&] { return rung_; });
        rung_ = false;
    }

private:
    static EntitySet queries() { return EntitySet{}.set(static_cast<std::size_t>(Entity::query)); }
    static EntityKey key_of(QueryId query) {
        return {.entity = Entity::query, .key = to_string(query)};
    }

    std::mutex mutex_;
    std::condition_variable changed_;
    bool rung_ = false;
    Feed::Registration registration_;  // last: it uses the others
};

// Whether the query may still come into the state, of those that it is not in now.
bool can_become(const Query& query, QueryState wanted) {
    if (has_ended(query.state) || wanted == QueryState::pending) return false;
    switch (query.desired) {
        case QueryDesire::running:
            return true;
        case QueryDesire::stopped:
            return wanted == QueryState::stopped;
        case QueryDesire::failed:
            return wanted == QueryState::failed;
        case QueryDesire::dropped:
            return false;
    }
    CHECK(false && "an unknown desire");
}

std::string in_words(const Query& query) {
    return std::string(to_string(query.state)) +
           (query.reason.empty() ? "" : " (" + query.reason + ")") +
           (query.lagging.empty() ? "" : ", waiting for " + enumerate(query.lagging));
}

// Whether the wait is over: true, false, or an error if it can never be.
Result<bool> arrived(const Query& query, const Wait& wait) {
    switch (wait.until) {
        case Wait::Until::accepted:
            return true;
        case Wait::Until::settled:
            return query.state == QueryState::running || has_ended(query.state);
        case Wait::Until::ended:
            return has_ended(query.state);
        case Wait::Until::state:
            break;
    }
    if (query.state == wait.state) return true;
    if (can_become(query, wait.state)) return false;
    return Error{.code = ErrorCode::wait_timed_out,
                 .message = "query " + in_quotes(query.name) + " can no longer be " +
                            std::string(to_string(wait.state)) + ": it is " + in_words(query)};
}

Error unknown(const request::QueryRef& ref) {
    const auto* id = std::get_if<QueryId>(&ref);
    return Error{
        .code = ErrorCode::unknown_query,
        .message = "cannot wait for query " +
                   (id != nullptr ? to_string(*id) : in_quotes(std::get<std::string>(ref))) +
                   ": it does not exist",
        .hint = "SHOW QUERIES lists what there is"};
}

Result<std::optional<Query>> look_for(CoordinatorRuntime& coordinator,
                                      const request::QueryRef& ref) {
    TRY_ASSIGN(snapshot, coordinator.snapshot());
    return snapshot.read().query(ref);
}

}  // namespace

Result<Done> wait_for(CoordinatorRuntime& coordinator, const request::QueryRef& asked,
                      const Wait& wait, Interrupt& interrupt) {
    if (wait.until == Wait::Until::accepted) return Done{};
    constexpr std::chrono::hours kForEver{24 * 365};
    const Instant deadline = coordinator.clock().now() + wait.timeout.value_or(Duration(kForEver));
    TRY_ASSIGN(found, look_for(coordinator, asked));
    if (!found && wait.until == Wait::Until::ended) return Done{};
    if (!found) return unknown(asked);
    const QueryId id = found->id;  // the name may come to mean another
    Bell bell(coordinator.feed(), id);
    const Interrupt::Listening listening(interrupt, [&] { bell.ring(); });
    for (;;) {
        TRY_ASSIGN(query, look_for(coordinator, id));
        if (!query && wait.until == Wait::Until::ended) return Done{};
        if (!query) {
            return Error{.code = ErrorCode::wait_timed_out,
                         .message = "the query was dropped while it was waited for"};
        }
        TRY_ASSIGN(over, arrived(*query, wait));
        if (over) return Done{};
        if (interrupt.raised()) {
            return Error{.code = ErrorCode::cancelled,
                         .message = "the wait was cancelled: the query is " + in_words(*query)};
        }
        const Instant now = coordinator.clock().now();
        if (now >= deadline) {
            return Error{.code = ErrorCode::wait_timed_out,
                         .message = "the wait timed out: the query is " + in_words(*query)};
        }
        bell.wait(deadline - now);
    }
}

}  // namespace baton
