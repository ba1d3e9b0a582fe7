// LeaseModel is a lease store that is too simple to be wrong: one row, one fence, one clock.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>

#include "base/id.h"
#include "base/time.h"
#include "core/election/election.h"

namespace baton::testing {

struct LeaseModel {
    std::string owner;
    Epoch epoch;
    Epoch fence;
    Duration expires{};  // by the store's clock

    [[nodiscard]] election::Held held(Duration now) const {
        return {.owner = owner, .epoch = epoch, .remaining = expires - now};
    }
    [[nodiscard]] bool is_held_by(const std::string& who, Epoch as, Duration now) const {
        return owner == who && epoch == as && expires > now;
    }
    // The epoch that an acquisition takes; none: the lease is held.
    [[nodiscard]] std::optional<Epoch> next_epoch(Epoch least, Duration now) const {
        if (expires > now) return std::nullopt;
        return std::max(epoch.next(), least);
    }
    void acquire(const std::string& who, Epoch as, Duration until) {
        owner = who;
        epoch = as;
        fence = as;
        expires = until;
    }
    bool renew(const std::string& who, Epoch as, Duration now, Duration ttl) {
        if (!is_held_by(who, as, now)) return false;
        expires = now + ttl;
        return true;
    }
    void release(const std::string& who, Epoch as) {
        if (owner == who && epoch == as) expires = Duration::zero();
    }
};

}  // namespace baton::testing
