// PartitionUser works on the partitions that a worker holds.
//
// Calls do not block. The listener hears of the end of the use of a partition, from any thread,
// possibly before the call returns: it must not call back, nor block.
//   - A partition that was taken is used until release; the listener is called once, as soon as no
//     work on it is left.
//   - A partition is not taken again before that.
#pragma once

#include <functional>
#include <vector>

#include "base/time.h"
#include "model/control.h"
#include "model/partition.h"

namespace baton {

class PartitionUser {
public:
    using Listener = std::function<void(const PartitionKey& released)>;

    virtual ~PartitionUser() = default;

    // How long it takes, at most, from release to the word to the listener.
    [[nodiscard]] virtual Duration release_time() const { return {}; }

    // Before the first call; an empty one ends it: no call is under way when it returns.
    virtual void listen(Listener listener) = 0;

    virtual void take(const control::Grant& grant) = 0;
    virtual void release(const PartitionKey& partition) = 0;
};

}  // namespace baton
