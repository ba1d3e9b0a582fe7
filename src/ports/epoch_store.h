// EpochStore keeps over restarts of a worker's process whom it obeys: its catalog, and the highest
// epoch that it has seen.
#pragma once

#include "base/result.h"
#include "model/control.h"

namespace baton {

class EpochStore {
public:
    virtual ~EpochStore() = default;

    // No catalog and epoch 0 if nothing was kept. Fails if something is there that cannot be read.
    [[nodiscard]] virtual Result<control::Allegiance> load() = 0;
    // Durable when it returns Done; after an error either may be what is kept.
    [[nodiscard]] virtual Result<Done> keep(const control::Allegiance& allegiance) = 0;
};

}  // namespace baton
