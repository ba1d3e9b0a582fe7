// Random tables and random queries over them: filters, projections, unions, joins within a window,
// aggregations over tumbling and sliding windows, and queries within queries. A case is a function
// of its seed.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "differential/expressions.h"

namespace baton::differential {

struct Table {
    struct Column {
        std::string name;
        Kind kind = Kind::whole;
        bool nullable = true;
    };
    std::string name;
    std::vector<Column> columns;                                // the first is the time
    std::vector<std::vector<std::optional<std::string>>> rows;  // none: NULL
};

struct Case {
    std::vector<Table> tables;
    Both query;               // Baton's without INTO
    std::vector<Kind> kinds;  // of its columns
};

[[nodiscard]] Case make_case(std::uint64_t seed);

}  // namespace baton::differential
