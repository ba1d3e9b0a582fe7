// Reads the two small languages in which a Generator source is described.
//
// Fields, separated by commas or line ends, one for each column:
//     SEQUENCE type from to step | NORMAL_DISTRIBUTION type mean deviation | RANDOMSTR least most
// Rate, likewise separated:
//     FIXED: emit_rate n                  SINUS: amplitude a, frequency f
// Bounded: a text has at most 64 KiB, the texts of a row 1 MiB, and no number of a rate is above
// 1e12. Pure: the worker generates the rows.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <variant>
#include <vector>

#include "base/result.h"
#include "core/descriptors/descriptors.h"
#include "model/data_type.h"
#include "model/expression.h"

namespace baton::descriptors {

// The fault of GENERATOR_SCHEMA or GENERATOR_RATE_CONFIG of a complete configuration.
[[nodiscard]] std::optional<Misfit> generator_misfit(const Config& config);

// from, from + step, ... as long as it is below `to`; the values are of the kind that the type has.
struct GeneratedSequence {
    DataType type = DataType::int64;
    Value from;
    Value to;
    Value step;
};

struct GeneratedNormal {
    DataType type = DataType::float64;
    double mean = 0;
    double deviation = 1;
};

// Letters and digits.
struct GeneratedText {
    std::uint32_t least = 0;  // length
    std::uint32_t most = 0;
};

using GeneratedField = std::variant<GeneratedSequence, GeneratedNormal, GeneratedText>;

// Rows per second.
struct FixedRate {
    double rows = 0;
};

// amplitude / 2 * (1 + sin(frequency * t)), t in seconds.
struct SinusRate {
    double amplitude = 0;
    double frequency = 0;
};

struct GeneratorSpec {
    std::vector<GeneratedField> fields;
    std::variant<FixedRate, SinusRate> rate;
};

// Fails with invalid_configuration as generator_misfit says.
[[nodiscard]] Result<GeneratorSpec> generator_of(const Config& config);

}  // namespace baton::descriptors
