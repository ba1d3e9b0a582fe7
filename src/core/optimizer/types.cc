#include "core/optimizer/types.h"

#include <limits>

namespace baton::optimizer {

std::int64_t least_of(DataType type) {
    if (!is_signed(type)) return 0;
    return -static_cast<std::int64_t>(most_of(type)) - 1;
}

std::uint64_t most_of(DataType type) {
    constexpr std::uint64_t kAll = std::numeric_limits<std::uint64_t>::max();
    const std::uint64_t bits = 8 * sent_width_of(type);
    return kAll >> (64 - bits + (is_signed(type) ? 1 : 0));
}

bool widens(DataType from, DataType to) {
    if (from == to) return true;
    if (is_integer(from) && is_integer(to)) {
        return least_of(to) <= least_of(from) && most_of(from) <= most_of(to);
    }
    if (is_float(to)) return is_integer(from) || from == DataType::float32;
    return false;
}

std::uint64_t sent_width_of(DataType type) {
    switch (type) {
        case DataType::int8:
        case DataType::uint8:
        case DataType::boolean:
        case DataType::character:
            return 1;
        case DataType::int16:
        case DataType::uint16:
            return 2;
        case DataType::int32:
        case DataType::uint32:
        case DataType::float32:
            return 4;
        case DataType::int64:
        case DataType::uint64:
        case DataType::float64:
            return 8;
        case DataType::varsized:
            return 24;
    }
    return 8;
}

std::uint64_t sent_width_of(const Schema& schema) {
    std::uint64_t width = 0;
    for (const Column& column : schema.columns) width += sent_width_of(column.type);
    return width;
}

}  // namespace baton::optimizer
