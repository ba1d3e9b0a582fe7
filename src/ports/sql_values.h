// What every database of the catalog can store and give back unchanged.
//
// SQLite would keep any bytes as text and turn NaN into NULL, PostgreSQL refuses NUL, MariaDB
// infinity. An adapter refuses with write_rejected what any of them would refuse or change, so that
// a request behaves the same on each.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <variant>

#include "ports/sql.h"

namespace baton {

// Well-formed UTF-8 (no overlong forms, no surrogates) without the character NUL.
[[nodiscard]] inline bool is_plain_text(std::string_view text) {
    const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
    std::size_t i = 0;
    while (i < text.size()) {
        std::uint64_t eight = 0;
        if (i + sizeof eight <= text.size()) {  // ASCII without NUL, eight characters at a time
            constexpr std::uint64_t kHigh = 0x8080808080808080U;
            constexpr std::uint64_t kOnes = 0x0101010101010101U;
            std::memcpy(&eight, text.data() + i, sizeof eight);
            if ((((eight - kOnes) | eight) & kHigh) == 0) {
                i += sizeof eight;
                continue;
            }
        }
        const unsigned lead = byte(i);
        if (lead == 0) return false;
        if (lead < 0x80) {
            ++i;
            continue;
        }
        const std::size_t length = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
        if (lead < 0xc2 || lead > 0xf4 || i + length > text.size()) return false;
        for (std::size_t k = 1; k < length; ++k) {
            if ((byte(i + k) & 0xc0U) != 0x80U) return false;
        }
        const unsigned second = byte(i + 1);
        if (lead == 0xe0 && second < 0xa0) return false;
        if (lead == 0xed && second > 0x9f) return false;
        if (lead == 0xf0 && second < 0x90) return false;
        if (lead == 0xf4 && second > 0x8f) return false;
        i += length;
    }
    return true;
}

[[nodiscard]] inline bool is_storable(const SqlValue& value) {
    if (const auto* text = std::get_if<std::string>(&value)) return is_plain_text(*text);
    if (const auto* real = std::get_if<double>(&value)) return std::isfinite(*real);
    return true;
}

}  // namespace baton
