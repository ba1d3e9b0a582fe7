// Which tables can be read and written: a table says which features a reader and a writer must
// know, and this version knows none but plain tables.
#pragma once

#include "base/result.h"
#include "core/tables/actions.h"

namespace baton::tables {

// Both fail with table_not_supported, which names the features.
[[nodiscard]] Result<Done> check_readable(const Protocol& protocol, const Metadata& metadata);
[[nodiscard]] Result<Done> check_writable(const Protocol& protocol, const Metadata& metadata);

}  // namespace baton::tables
