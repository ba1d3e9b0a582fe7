// A RowSink takes the rows of one query to where they are wanted.
//
// Used by one thread at a time, but for interrupt.
#pragma once

#include "base/result.h"
#include "engine/columns/batch.h"

namespace baton::engine {

struct SinkCounts {
    std::uint64_t rows = 0;
    std::uint64_t bytes = 0;
};

class RowSink {
public:
    virtual ~RowSink() = default;

    // May wait for the receiver of the rows: that holds sources back. An error is final.
    virtual Result<Done> write(const Batch& batch) = 0;
    // Written rows can be seen by others. Called when no more rows are at hand.
    virtual Result<Done> flush() = 0;
    // From any thread: a flush() is due, also if nothing was written since the last one.
    [[nodiscard]] virtual bool wants_flush() const { return false; }
    // The last call: the output is complete, and durable where that means something.
    virtual Result<Done> finish() = 0;

    // From any thread: a call that waits fails with cancelled.
    virtual void interrupt() = 0;

    // From any thread.
    [[nodiscard]] virtual SinkCounts counts() const = 0;
};

}  // namespace baton::engine
