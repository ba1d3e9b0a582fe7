// RowStream gives one client rows as they arrive: those of a SELECT over streams, which need not
// end, or the answer to a question.
//
// Used by one thread at a time. An error is final, and so is the end. It must end before the
// CoordinatorRuntime does.
#pragma once

#include <cstddef>
#include <functional>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "catalog/views/view_query.h"

namespace baton::coordinator {

struct FedRows {
    std::vector<SqlRow> rows;
    bool ended = false;  // these are the last
};

class RowStream {
public:
    virtual ~RowStream() = default;

    [[nodiscard]] virtual const std::vector<views::TableColumn>& columns() const = 0;
    // The rows that have arrived, without waiting; at most `most`.
    [[nodiscard]] virtual Result<FedRows> poll(std::size_t most) = 0;
    // The same, waiting for rows or the end until `timeout` has passed or it is interrupted.
    [[nodiscard]] virtual Result<FedRows> next(Duration timeout, std::size_t most) = 0;
    // Makes a next() under way return its rows so far. Any thread.
    virtual void interrupt() = 0;
    // Called, by any thread, when there may be something new, and once at once; must not block,
    // nor use the stream.
    virtual void wake_with(std::function<void()> wake) = 0;

    [[nodiscard]] Result<FedRows> poll() { return poll(kPortion); }
    [[nodiscard]] Result<FedRows> next(Duration timeout) { return next(timeout, kPortion); }

protected:
    static constexpr std::size_t kPortion = 1'000;
};

}  // namespace baton::coordinator
