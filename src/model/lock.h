// The states of a named lock, written once: see model/states.h.
#pragma once

#include <array>
#include <cstdint>
#include <utility>

#include "model/states.h"

namespace baton {

enum class LockStatus : std::uint8_t {
    active,
    inactive,   // cannot be taken or renewed
    deletable,  // neither, and may be removed when its lease has ended
};

template <>
struct StateNames<LockStatus> {
    static constexpr std::array kNames = {std::pair{LockStatus::active, "ACTIVE"},
                                          std::pair{LockStatus::inactive, "INACTIVE"},
                                          std::pair{LockStatus::deletable, "DELETABLE"}};
};

}  // namespace baton
