// A RowSource gives the rows of one physical source, in batches with the columns of its schema that
// are wanted.
//
// Used by one thread, but for interrupt. Opening it has already failed if it never could work: a
// missing file, an unknown host, an option that cannot be.
#pragma once

#include "base/result.h"
#include "base/time.h"
#include "engine/columns/batch.h"

namespace baton::engine {

enum class Pull : std::uint8_t {
    rows,     // there are some, perhaps more at once
    nothing,  // none came within the time, or it was interrupted
    end,      // no more will come
};

struct SourceCounts {
    std::uint64_t rows = 0;
    std::uint64_t bytes = 0;
    std::uint64_t skipped = 0;  // records that could not be read, where the policy is to skip
    std::uint64_t reconnects = 0;
};

class RowSource {
public:
    virtual ~RowSource() = default;

    // Waits for rows, but no longer than `patience`; gives what is there rather than wait for a
    // full batch. With Pull::rows, `into` is replaced. An error is final: cannot_format (4003)
    // names the line, others what could not be read.
    virtual Result<Pull> pull(Batch& into, Duration patience) = 0;

    // From any thread: a pull that waits returns, and from now on none waits. Rows that were
    // already read are still given.
    virtual void interrupt() = 0;

    // From any thread.
    [[nodiscard]] virtual SourceCounts counts() const = 0;
};

}  // namespace baton::engine
