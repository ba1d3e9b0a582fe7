// The words of the plan format for the enums of the model.
#pragma once

#include <array>
#include <string_view>

#include "model/plan.h"

namespace baton::plan_format {

inline constexpr std::array<std::string_view, static_cast<std::size_t>(Function::cast) + 1>
    kFunctionNames = {"add",
                      "subtract",
                      "multiply",
                      "divide",
                      "modulo",
                      "negate",
                      "equal",
                      "not_equal",
                      "less",
                      "less_equal",
                      "greater",
                      "greater_equal",
                      "and",
                      "or",
                      "not",
                      "between",
                      "in_list",
                      "is_null",
                      "is_nan",
                      "abs",
                      "ceil",
                      "floor",
                      "round",
                      "exp",
                      "pow",
                      "sqrt",
                      "concat",
                      "char_length",
                      "octet_length",
                      "to_base64",
                      "from_base64",
                      "cast_to_unix_ts",
                      "cast_from_unix_ts",
                      "day_of",
                      "month_of",
                      "year_of",
                      "conditional",
                      "cast"};

inline constexpr std::array<std::string_view, 12> kAggregateNames = {
    "count_all", "count",  "count_distinct", "sum",      "min",   "max",
    "avg",       "median", "stddev",         "variance", "first", "last"};

inline constexpr std::array<std::string_view, 3> kStageNames = {"whole", "partial", "final"};
inline constexpr std::array<std::string_view, 4> kSideNames = {"inner", "left", "right", "full"};

template <class Enum, std::size_t N>
[[nodiscard]] constexpr std::string_view name_in(const std::array<std::string_view, N>& names,
                                                 Enum value) {
    return names.at(static_cast<std::size_t>(value));
}

}  // namespace baton::plan_format
