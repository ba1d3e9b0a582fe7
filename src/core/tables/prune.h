// prune() finds the objects of a snapshot that may hold rows for which all bounds are true. It
// leaves out only objects that certainly have none.
//
// Values are texts of values.h: of a TIMESTAMPTZ in UTC. A bound that cannot be used (an unknown
// column, a value that is none of its type) leaves out nothing.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/tables/snapshot.h"

namespace baton::tables {

struct Bound {
    enum class Is : std::uint8_t {
        equal,
        less,
        less_or_equal,
        greater,
        greater_or_equal,
        one_of,
        null,
        not_null,
    };
    std::string column;  // as it was declared
    Is is = Is::equal;
    std::vector<std::string> values;  // one for comparisons, any number for one_of
};

[[nodiscard]] std::vector<ObjectPlace> prune(const Snapshot& snapshot,
                                             const std::vector<Bound>& bounds);

}  // namespace baton::tables
