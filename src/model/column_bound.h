// A condition that all rows of interest fulfil: a column against literals. Objects that certainly
// hold no such row need not be read.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace baton {

struct ColumnBound {
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
    std::vector<std::string> values;  // one for comparisons, any number for one_of, else none

    friend bool operator==(const ColumnBound&, const ColumnBound&) = default;
};

}  // namespace baton
