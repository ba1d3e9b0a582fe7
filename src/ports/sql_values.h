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

#include "ports/sql.h"

namespace baton {

// How many bytes at the start of `text`, which is not empty, are a whole character of UTF-8 (no
// overlong forms, no surrogates) other than NUL. 0 if none are.
[[nodiscard]] inline std::size_t plain_character_size(std::string_view text) {
    const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
    const unsigned lead = byte(0);
    if (lead < 0x80) return lead == 0 ? 0 : 1;
    const std::size_t size = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
    if (lead < 0xc2 || lead > 0xf4 || size > text.size()) return 0;
    for (std::size_t i = 1; i < size; ++i) {
        if ((byte(i) & 0xc0U) != 0x80U) return 0;
    }
    const unsigned least = lead == 0xe0 ? 0xa0 : lead == 0xf0 ? 0x90 : 0x80;
    const unsigned most = lead == 0xed ? 0x9f : lead == 0xf4 ? 0x8f : 0xbf;
    return byte(1) >= least && byte(1) <= most ? size : 0;
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
