// From the type of a column to the C++ type of its elements.
#pragma once

#include <cstdint>
#include <string_view>

#include "base/check.h"
#include "model/data_type.h"

namespace baton::engine {

// Calls `act` with a null pointer of the C++ type of the elements.
template <class Act>
auto with_element(DataType type, Act&& act) {
    switch (type) {
        case DataType::int8:
            return act(static_cast<std::int8_t*>(nullptr));
        case DataType::int16:
            return act(static_cast<std::int16_t*>(nullptr));
        case DataType::int32:
            return act(static_cast<std::int32_t*>(nullptr));
        case DataType::int64:
            return act(static_cast<std::int64_t*>(nullptr));
        case DataType::uint8:
        case DataType::boolean:
            return act(static_cast<std::uint8_t*>(nullptr));
        case DataType::uint16:
            return act(static_cast<std::uint16_t*>(nullptr));
        case DataType::uint32:
            return act(static_cast<std::uint32_t*>(nullptr));
        case DataType::uint64:
            return act(static_cast<std::uint64_t*>(nullptr));
        case DataType::float32:
            return act(static_cast<float*>(nullptr));
        case DataType::float64:
            return act(static_cast<double*>(nullptr));
        case DataType::character:
        case DataType::varsized:
            return act(static_cast<std::string_view*>(nullptr));
    }
    CHECK(false && "an unknown type");
}

}  // namespace baton::engine
