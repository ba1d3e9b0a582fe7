// What every database of the catalog can store and give back unchanged.
//
// SQLite would keep any bytes as text and turn NaN into NULL, PostgreSQL refuses NUL, MariaDB
// infinity. An adapter refuses with write_rejected what any of them would refuse or change, so that
// a request behaves the same on each.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <variant>

#include "base/utf8.h"
#include "ports/sql.h"

namespace baton {

// As utf8_character_size, but of characters other than NUL.
[[nodiscard]] inline std::size_t plain_character_size(std::string_view text) {
    return text.front() == '\0' ? 0 : utf8_character_size(text);
}

// Well-formed UTF-8 without the character NUL.
[[nodiscard]] inline bool is_plain_text(std::string_view text) {
    const std::uint64_t ones = 0x0101010101010101U;
    const std::uint64_t highs = 0x8080808080808080U;
    while (!text.empty()) {
        std::uint64_t eight = 0;  // nearly all text is ASCII: eight characters at a time
        std::memcpy(&eight, text.data(), std::min(text.size(), sizeof eight));
        const bool all_plain = (((eight - ones) | eight) & highs) == 0;
        const std::size_t size = all_plain ? sizeof eight : plain_character_size(text);
        if (size == 0) return false;
        text.remove_prefix(size);
    }
    return true;
}

[[nodiscard]] inline bool is_storable(const SqlValue& value) {
    if (const auto* text = std::get_if<std::string>(&value)) return is_plain_text(*text);
    if (const auto* real = std::get_if<double>(&value)) return std::isfinite(*real);
    return true;
}

}  // namespace baton
