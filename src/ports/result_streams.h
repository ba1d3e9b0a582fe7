// ResultStreams bring the rows of a query from the worker that has them to the coordinator whose
// client asked for them.
//
// Calls do not block. The rows under way are bounded: a client that does not poll holds the query
// back.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "model/entities.h"
#include "model/schema.h"
#include "ports/sql.h"

namespace baton {

struct ResultPortion {
    std::vector<SqlRow> rows;
    bool ended = false;  // there are no more
};

class ResultStream {
public:
    virtual ~ResultStream() = default;  // cancels: the client no longer reads

    // The rows that have arrived; no rows and no end: nothing yet. Used by one thread at a time. An
    // error is final: worker_unreachable if the way to the worker broke; cancelled if the query
    // ended before its rows did, and the catalog is going to know why; malformed_message;
    // not_supported.
    [[nodiscard]] virtual Result<ResultPortion> poll() = 0;
};

class ResultStreams {
public:
    // Called, by any thread, when there may be something new; must not block, and may be called
    // once more after the stream has ended.
    using Wake = std::function<void()>;

    virtual ~ResultStreams() = default;

    // `address` is absent for the embedded worker. The worker may yet have to hear of the query.
    [[nodiscard]] virtual std::unique_ptr<ResultStream> open(const std::string& worker,
                                                             const std::optional<Address>& address,
                                                             const std::string& token,
                                                             const Schema& schema, Wake wake) = 0;
};

}  // namespace baton
