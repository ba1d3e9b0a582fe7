#include "coordinator/sessions/query_wait.h"

#include <mutex>

#include "base/text.h"
#include "core/queries/lifecycle.h"
#include "threads/doorbell.h"

namespace baton::coordinator {

// Says when something about one query was changed.
class QueryWait::Bell {
public:
    Bell(Feed& feed, QueryId query)
        : registration_(
              feed.listen(queries(), [this, key = key_of(query)](const std::set<EntityKey>& keys) {
                  if (keys.empty() || keys.contains(key)) ring();
              })) {}

    // Changes from now on ring again.
    void reset() {
        const std::lock_guard lock(mutex_);
        rung_ = false;
    }

    void wake_with(std::function<void()> wake) {
        const std::lock_guard lock(mutex_);
        wake_ = std::move(wake);
        if (rung_ && wake_) wake_();
    }

private:
    static EntitySet queries() {
        return EntitySet{}.set(static_cast<std::size_t>(kinds::Entity::query));
    }
    static EntityKey key_of(QueryId query) {
        return {.entity = kinds::Entity::query, .key = to_string(query)};
    }
    void ring() {
        const std::lock_guard lock(mutex_);
        rung_ = true;
        if (wake_) wake_();
    }

    std::mutex mutex_;
    bool rung_ = false;
    std::function<void()> wake_;
    Feed::Registration registration_;  // last: it uses the others
};

namespace {

std::string in_words(const Query& query) {
    return std::string(to_string(query.state)) +
           (query.reason.text.empty() ? "" : " (" + query.reason.text + ")") +
           (query.lagging.empty() ? "" : ", waiting for " + enumerate(query.lagging));
}

// Whether the wait is over: true, false, or an error if it can never be.
Result<bool> arrived(const Query& query, const Wait& wait) {
    switch (wait.until) {
        case Wait::Until::accepted:
            return true;
        case Wait::Until::steady:
            return queries::lifecycle::is_steady(query.state);
        case Wait::Until::ended:
            return has_ended(query.state);
        case Wait::Until::state:
            break;
    }
    if (query.state == wait.state) return true;
    if (queries::lifecycle::can_become(query, wait.state)) return false;
    return Error{.code = ErrorCode::wait_timed_out,
                 .message = "query " + in_quotes(query.name) + " can no longer be " +
                            std::string(to_string(wait.state)) + ": it is " + in_words(query)};
}

Error unknown(const catalog::request::QueryRef& ref) {
    const auto* id = std::get_if<QueryId>(&ref);
    return Error{
        .code = ErrorCode::unknown_query,
        .message = "cannot wait for query " +
                   (id != nullptr ? to_string(*id) : in_quotes(std::get<std::string>(ref))) +
                   ": it does not exist",
        .hint = "SHOW QUERIES lists all queries"};
}

Result<std::optional<Query>> look_for(CoordinatorRuntime& coordinator,
                                      const catalog::request::QueryRef& ref) {
    TRY_ASSIGN(snapshot, coordinator.snapshot());
    return snapshot.read().query(ref);
}

}  // namespace

QueryWait::QueryWait(CoordinatorRuntime& coordinator, QueryId query, const Wait& wait)
    : coordinator_(coordinator),
      query_(query),
      wait_(wait),
      bell_(std::make_unique<Bell>(coordinator.feed(), query)) {
    if (wait.timeout) until_ = coordinator.clock().now() + *wait.timeout;
}

QueryWait::~QueryWait() = default;

Result<std::unique_ptr<QueryWait>> QueryWait::begin(CoordinatorRuntime& coordinator,
                                                    const catalog::request::QueryRef& asked,
                                                    const Wait& wait) {
    if (wait.until == Wait::Until::accepted) return std::unique_ptr<QueryWait>();
    TRY_ASSIGN(found, look_for(coordinator, asked));
    if (!found && wait.until == Wait::Until::ended) return std::unique_ptr<QueryWait>();
    if (!found) return unknown(asked);
    // By its id: the name may come to mean another.
    return std::unique_ptr<QueryWait>(new QueryWait(coordinator, found->id, wait));
}

Result<bool> QueryWait::look(const Interrupt& interrupt) {
    bell_->reset();
    TRY_ASSIGN(query, look_for(coordinator_, query_));
    if (!query && wait_.until == Wait::Until::ended) return true;
    if (!query) {
        return Error{.code = ErrorCode::wait_timed_out,
                     .message = "the query was dropped while it was waited for"};
    }
    TRY_ASSIGN(over, arrived(*query, wait_));
    if (over) return true;
    if (interrupt.raised()) {
        return Error{.code = ErrorCode::cancelled,
                     .message = "the wait was cancelled: the query is " + in_words(*query)};
    }
    if (until_ && coordinator_.clock().now() >= *until_) {
        return Error{.code = ErrorCode::wait_timed_out,
                     .message = "the wait timed out: the query is " + in_words(*query)};
    }
    return false;
}

Error QueryWait::give_up(const std::string& why) {
    return Error{.code = ErrorCode::wait_timed_out,
                 .message = "the wait was given up: " + why,
                 .hint = "changes that were made before it stay; ask for the state of the query"};
}

void QueryWait::wake_with(std::function<void()> wake) {
    bell_->wake_with(std::move(wake));
}

Result<Done> wait_for(CoordinatorRuntime& coordinator, const catalog::request::QueryRef& query,
                      const Wait& wait, Interrupt& interrupt) {
    threads::Doorbell bell;
    TRY_ASSIGN(waits, QueryWait::begin(coordinator, query, wait));
    if (!waits) return Done{};
    waits->wake_with([&] { bell.ring(); });
    const Interrupt::Listening listening(interrupt, [&] { bell.ring(); });
    for (;;) {
        TRY_ASSIGN(over, waits->look(interrupt));
        if (over) return Done{};
        bell.wait(waits->until(), coordinator.clock().now());
    }
}

}  // namespace baton::coordinator
