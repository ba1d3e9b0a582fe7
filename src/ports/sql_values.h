// Values that every database of the catalog can store and return unchanged.
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

// The text with U+FFFD for each byte that no database would store, and of `most` bytes at most: a
// longer one ends in an ellipsis. `most` is at least 3.
[[nodiscard]] inline std::string storable_text(std::string_view text, std::size_t most) {
    constexpr std::string_view kInstead = "\xef\xbf\xbd";
    constexpr std::string_view kEllipsis = "\xe2\x80\xa6";
    std::string storable;
    std::size_t room_for_ellipsis = 0;  // the longest beginning that leaves room for it
    while (!text.empty()) {
        if (storable.size() + kEllipsis.size() <= most) room_for_ellipsis = storable.size();
        const std::size_t size = plain_character_size(text);
        storable += size == 0 ? kInstead : text.substr(0, size);
        text.remove_prefix(std::max<std::size_t>(size, 1));
        if (storable.size() <= most) continue;
        storable.resize(room_for_ellipsis);
        return storable += kEllipsis;
    }
    return storable;
}

[[nodiscard]] inline bool is_storable(const SqlValue& value) {
    if (const auto* text = std::get_if<std::string>(&value)) return is_plain_text(*text);
    if (const auto* real = std::get_if<double>(&value)) return std::isfinite(*real);
    return true;
}

}  // namespace baton
