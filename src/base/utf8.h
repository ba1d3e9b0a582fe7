// A check that bytes are valid UTF-8.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace baton {

// How many bytes at the start of `text`, which is not empty, are one whole character of UTF-8: no
// overlong forms, no surrogates. 0 if none are.
[[nodiscard]] inline std::size_t utf8_character_size(std::string_view text) {
    const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
    const unsigned lead = byte(0);
    if (lead < 0x80) return 1;
    const std::size_t size = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
    if (lead < 0xc2 || lead > 0xf4 || size > text.size()) return 0;
    for (std::size_t i = 1; i < size; ++i) {
        if ((byte(i) & 0xc0U) != 0x80U) return 0;
    }
    const unsigned least = lead == 0xe0 ? 0xa0 : lead == 0xf0 ? 0x90 : 0x80;
    const unsigned most = lead == 0xed ? 0x9f : lead == 0xf4 ? 0x8f : 0xbf;
    return byte(1) >= least && byte(1) <= most ? size : 0;
}

[[nodiscard]] inline bool is_valid_utf8(std::string_view text) {
    while (!text.empty()) {
        std::uint64_t eight = 0;  // nearly all text is ASCII: eight characters at a time
        std::memcpy(&eight, text.data(), std::min(text.size(), sizeof eight));
        const bool plain = (eight & 0x8080808080808080U) == 0;
        const std::size_t size =
            plain ? std::min(text.size(), sizeof eight) : utf8_character_size(text);
        if (size == 0) return false;
        text.remove_prefix(size);
    }
    return true;
}

// Whether a character begins with this byte of a valid text.
[[nodiscard]] inline bool begins_character(char byte) {
    return (static_cast<unsigned char>(byte) & 0xc0U) != 0x80U;
}

}  // namespace baton
