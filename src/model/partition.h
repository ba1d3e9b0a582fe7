// Task lists are named sets of partitions; a partition is something that one worker at a time is
// to look after.
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <variant>

#include "base/id.h"
#include "base/time.h"
#include "model/states.h"

namespace baton {

struct PartitionKey {
    std::string list;
    std::uint32_t number = 0;  // from 0
    friend auto operator<=>(const PartitionKey&, const PartitionKey&) = default;
};

// "ORDERS -> 3"
[[nodiscard]] inline std::string to_string(const PartitionKey& key) {
    return key.list + " -> " + std::to_string(key.number);
}

inline constexpr std::uint32_t kPartitionsMax = 1'024;  // of one list

namespace ownership {

struct Unowned {
    friend bool operator==(const Unowned&, const Unowned&) = default;
};
struct Owned {
    std::string owner;
    Epoch epoch;  // of the leader that gave it
    friend bool operator==(const Owned&, const Owned&) = default;
};
// The owner was asked to release it, and has it until it says that it did.
struct Releasing {
    std::string owner;
    Epoch epoch;
    std::string next;  // who is to have it; empty: nobody
    friend bool operator==(const Releasing&, const Releasing&) = default;
};

}  // namespace ownership

using Ownership = std::variant<ownership::Unowned, ownership::Owned, ownership::Releasing>;

// Who has it at present; null if nobody does.
[[nodiscard]] inline const std::string* owner_of(const Ownership& ownership) {
    if (const auto* owned = std::get_if<ownership::Owned>(&ownership)) return &owned->owner;
    if (const auto* leaving = std::get_if<ownership::Releasing>(&ownership)) return &leaving->owner;
    return nullptr;
}

enum class PartitionState : std::uint8_t { unowned, owned, releasing };  // in the variant's order

template <>
struct StateNames<PartitionState> {
    static constexpr std::array kNames = {std::pair{PartitionState::unowned, "UNOWNED"},
                                          std::pair{PartitionState::owned, "OWNED"},
                                          std::pair{PartitionState::releasing, "RELEASING"}};
};

[[nodiscard]] inline PartitionState state_of(const Ownership& ownership) {
    return static_cast<PartitionState>(ownership.index());
}

// A change of who has a partition.
struct PartitionMove {
    PartitionKey partition;
    std::optional<Ownership> before;  // none: it is not there
    std::optional<Ownership> after;   // none: it is to go

    friend bool operator==(const PartitionMove&, const PartitionMove&) = default;
};

struct TaskList {
    std::string name;
    std::uint32_t partitions = 0;
    Revision revision;

    friend bool operator==(const TaskList&, const TaskList&) = default;
};

struct Partition {
    PartitionKey key;
    Ownership ownership;
    WallTime since;  // of its state
    Revision revision;

    friend bool operator==(const Partition&, const Partition&) = default;
};

}  // namespace baton
