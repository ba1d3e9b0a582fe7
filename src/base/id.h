// Id<Tag> is a number that cannot be confused with another kind of number.
#pragma once

#include <compare>
#include <cstdint>
#include <string>

namespace baton {

template <class Tag>
class Id {
public:
    constexpr Id() = default;
    constexpr explicit Id(std::uint64_t value) : value_(value) {}

    [[nodiscard]] constexpr std::uint64_t value() const { return value_; }
    [[nodiscard]] constexpr Id next() const { return Id(value_ + 1); }

    friend constexpr auto operator<=>(Id, Id) = default;

private:
    std::uint64_t value_ = 0;
};

template <class Tag>
std::string to_string(Id<Tag> id) {
    return std::to_string(id.value());
}

using QueryId = Id<struct QueryTag>;
using FragmentId = Id<struct FragmentTag>;
using PhysicalSourceId = Id<struct PhysicalSourceTag>;
using StatementId = Id<struct StatementTag>;
using Epoch = Id<struct EpochTag>;              // of the leader; grows by one per term
using Incarnation = Id<struct IncarnationTag>;  // of a worker process; a restart is a new one
using Revision = Id<struct RevisionTag>;        // of the catalog; grows by one per accepted request

}  // namespace baton
