// EpochStore keeps the highest epoch that a worker has seen over restarts of its process.
#pragma once

#include "base/id.h"
#include "base/result.h"

namespace baton {

class EpochStore {
public:
    virtual ~EpochStore() = default;

    // 0 if none was kept. Fails if something is there that cannot be read.
    [[nodiscard]] virtual Result<Epoch> load() = 0;
    // Durable when it returns Done; after an error either epoch may be what is kept.
    [[nodiscard]] virtual Result<Done> keep(Epoch epoch) = 0;
};

}  // namespace baton
