// Waiting for a state of a query, as a part of the request that changes the query.
#pragma once

#include <functional>
#include <memory>
#include <optional>

#include "base/result.h"
#include "catalog/requests.h"
#include "coordinator/commit/interrupt.h"
#include "coordinator/coordinator_runtime.h"
#include "model/wait.h"

namespace baton::coordinator {

// A wait that holds no thread: look() now, and again when it wakes.
class QueryWait {
public:
    // Null: there is nothing to wait for. Fails with unknown_query if the query is not there
    // (unless its end is waited for), and with errors of the database.
    [[nodiscard]] static Result<std::unique_ptr<QueryWait>> begin(
        CoordinatorRuntime& coordinator, const catalog::request::QueryRef& query, const Wait& wait);
    ~QueryWait();
    QueryWait(const QueryWait&) = delete;
    QueryWait& operator=(const QueryWait&) = delete;

    // True: the query is as wanted. Fails with wait_timed_out if time is over, if it can no longer
    // come into that state, or if it was dropped meanwhile; the message says how it is and whom it
    // waits for. Fails with cancelled if it was interrupted.
    [[nodiscard]] Result<bool> look(const Interrupt& interrupt);
    // Fails as if its time were over now, for this reason.
    [[nodiscard]] Error give_up(const std::string& why);
    // None: it waits for as long as it takes.
    [[nodiscard]] std::optional<Instant> until() const { return until_; }
    // `wake` is called, by any thread, when look() may say something else than it said last; at
    // once if it already may. It must not block. Null: no call comes after this, nor is one under
    // way.
    void wake_with(std::function<void()> wake);

private:
    class Bell;
    QueryWait(CoordinatorRuntime& coordinator, QueryId query, const Wait& wait);

    CoordinatorRuntime& coordinator_;
    const QueryId query_;
    const Wait wait_;
    std::optional<Instant> until_;
    std::unique_ptr<Bell> bell_;
};

// The same on the thread that asks.
[[nodiscard]] Result<Done> wait_for(CoordinatorRuntime& coordinator,
                                    const catalog::request::QueryRef& query, const Wait& wait,
                                    Interrupt& interrupt);

}  // namespace baton::coordinator
