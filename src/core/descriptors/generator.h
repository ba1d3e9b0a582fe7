// Checks the two small languages in which a Generator source is described.
//
// Fields, separated by commas or line ends, one for each column:
//     SEQUENCE type from to step | NORMAL_DISTRIBUTION type mean deviation | RANDOMSTR least most
// Rate, likewise separated:
//     FIXED: emit_rate n                  SINUS: amplitude a, frequency f
// Pure: what is generated from them is the worker's business.
#pragma once

#include <optional>
#include <string_view>

#include "core/descriptors/descriptors.h"

namespace baton {

// What is wrong with GENERATOR_SCHEMA or GENERATOR_RATE_CONFIG of a complete configuration.
[[nodiscard]] std::optional<Misfit> generator_misfit(const Config& config);

}  // namespace baton
