#include "model/data_type.h"

#include <array>

#include "base/text.h"

namespace baton {

namespace {

using enum DataType;
constexpr std::array kTypes = {int8,   int16,   int32,   int64,   uint8,     uint16,  uint32,
                               uint64, float32, float64, boolean, character, varsized};

}  // namespace

std::string_view to_string(DataType type) {
    switch (type) {
        case int8:
            return "INT8";
        case int16:
            return "INT16";
        case int32:
            return "INT32";
        case int64:
            return "INT64";
        case uint8:
            return "UINT8";
        case uint16:
            return "UINT16";
        case uint32:
            return "UINT32";
        case uint64:
            return "UINT64";
        case float32:
            return "FLOAT32";
        case float64:
            return "FLOAT64";
        case boolean:
            return "BOOLEAN";
        case character:
            return "CHAR";
        case varsized:
            return "VARSIZED";
    }
    return "?";
}

std::optional<DataType> data_type_of(std::string_view name) {
    for (const DataType type : kTypes) {
        if (equal_ignoring_case(to_string(type), name)) return type;
    }
    return std::nullopt;
}

std::span<const DataType> all_data_types() {
    return kTypes;
}

bool is_signed(DataType type) {
    return type == int8 || type == int16 || type == int32 || type == int64;
}

bool is_integer(DataType type) {
    return is_signed(type) || type == uint8 || type == uint16 || type == uint32 || type == uint64;
}

bool is_float(DataType type) {
    return type == float32 || type == float64;
}

bool is_number(DataType type) {
    return is_integer(type) || is_float(type);
}

bool is_text(DataType type) {
    return type == character || type == varsized;
}

}  // namespace baton
