// Constants of an INSERT as rows of a relation, which the question engine converts to the columns
// of the table. Constants that do not fit are found here where that is simple, so that they are
// refused alone, before rows of several clients are gathered.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/result.h"
#include "model/table.h"

namespace baton::tables {

using Constant = std::variant<std::monostate, bool, std::int64_t, double, std::string>;
using ConstantRow = std::vector<Constant>;

// The types in which the constants of these columns are handed over: whole numbers, reals and
// booleans as they are, everything else as text.
[[nodiscard]] SqlColumns handed_over(const SqlColumns& columns);

// The constant in that form; an integer is 0 or 1 for a boolean. Fails with not_null_violation and
// cannot_convert, naming the column.
[[nodiscard]] Result<std::variant<std::monostate, std::int64_t, double, std::string>> fit(
    const SqlField& column, const Constant& constant);

// The places in `table` of the columns that an INSERT names, or of all. Fails with unknown_field,
// schema for one that is named twice, and not_null_violation for one that is left out and must have
// a value.
[[nodiscard]] Result<std::vector<std::size_t>> places_of(const std::vector<std::string>& named,
                                                         const SqlColumns& table);

}  // namespace baton::tables
