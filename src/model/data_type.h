// The types of columns, as the dialect names them.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace baton {

enum class DataType : std::uint8_t {
    int8,
    int16,
    int32,
    int64,
    uint8,
    uint16,
    uint32,
    uint64,
    float32,
    float64,
    boolean,
    character,
    varsized,
};

// "INT8", ..., "CHAR", "VARSIZED": the one spelling that is printed and stored.
[[nodiscard]] std::string_view to_string(DataType type);

// The type of that one spelling, in any case. Words such as INTEGER or BIGINT UNSIGNED are the
// parser's business.
[[nodiscard]] std::optional<DataType> data_type_of(std::string_view name);

[[nodiscard]] std::span<const DataType> all_data_types();

[[nodiscard]] bool is_signed(DataType type);  // a whole number that may be negative
[[nodiscard]] bool is_integer(DataType type);
[[nodiscard]] bool is_float(DataType type);
[[nodiscard]] bool is_number(DataType type);
[[nodiscard]] bool is_text(DataType type);  // CHAR or VARSIZED

}  // namespace baton
