// probe() tries out whether a store keeps the promises of ports/object_store.h, with some forty
// small objects below a prefix of their own, which it removes again.
//
// It finds stores that ignore conditions, let several creators win, show old versions, lists that
// lag behind or have no order, ranges that are ignored, and objects that stay after their removal.
// Limits: a store that lies seldom, or only under load, may pass. Objects of a probe that was
// killed stay below ".probe-".
#pragma once

#include <cstdint>
#include <string>

#include "ports/clock.h"
#include "ports/object_store.h"

namespace baton::stores {

struct StoreReport {
    std::string url;
    bool in_place = false;   // programs of this machine read its objects as files
    bool says_time = false;  // the store's clock comes with lists
    Duration clock_ahead{};  // of this machine's, where it is known
    // The medians.
    Duration get{};
    Duration put{};
    Duration list{};
    Duration remove{};
    std::uint64_t requests = 0;
};

// Fails with store_unfit, naming the broken promise, or with the error of the store. `seed` is
// unlike that of any other probe.
[[nodiscard]] Result<StoreReport> probe(ObjectStore& store, const Clock& clock, std::uint64_t seed,
                                        const StoreCall& call);

}  // namespace baton::stores
