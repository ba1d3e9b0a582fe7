// The statistics of an object: between the JSON text that the log has of them and ranges.
//
// Only ranges that are safe come in: each minimum is at most as large as every value, each maximum
// at least as large, by the text of values.h. Statistics that cannot be understood are no error:
// the object then has none.
#pragma once

#include <string>
#include <string_view>

#include "core/tables/actions.h"

namespace baton::tables {

// Of an object that is normalised.
[[nodiscard]] std::string statistics_text(const TableObject& object, const Layout& layout);

void read_statistics(std::string_view text, const Layout& layout, TableObject& into);

}  // namespace baton::tables
