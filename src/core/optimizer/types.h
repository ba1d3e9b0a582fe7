// Facts about the types of columns that the optimiser uses.
#pragma once

#include <cstdint>

#include "model/data_type.h"
#include "model/schema.h"

namespace baton::optimizer {

// The range of an integer type.
[[nodiscard]] std::int64_t least_of(DataType type);
[[nodiscard]] std::uint64_t most_of(DataType type);

// Whether every value of `from` is one of `to`, so that the cast cannot fail.
[[nodiscard]] bool widens(DataType from, DataType to);

// About how many bytes a value takes on its way from worker to worker.
[[nodiscard]] std::uint64_t sent_width_of(DataType type);
[[nodiscard]] std::uint64_t sent_width_of(const Schema& schema);

}  // namespace baton::optimizer
