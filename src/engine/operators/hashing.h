// Hashes for tables in memory: fast, and not to be kept or sent.
#pragma once

#include <cstdint>
#include <cstring>
#include <string_view>

namespace baton::engine {

__extension__ using Wide128 = unsigned __int128;

// Both halves of the product, so that every bit of the arguments counts.
[[nodiscard]] inline std::uint64_t mixed(std::uint64_t a, std::uint64_t b) {
    const Wide128 product = static_cast<Wide128>(a) * b;
    return static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64U);
}

[[nodiscard]] inline std::uint64_t hash_of(std::uint64_t word) {
    return mixed(word ^ 0x9E3779B97F4A7C15U, 0xD6E8FEB86659FD93U);
}

[[nodiscard]] inline std::uint64_t bytes_at(const char* at, std::size_t count) {
    std::uint64_t word = 0;
    std::memcpy(&word, at, count);
    return word;
}

[[nodiscard]] inline std::uint64_t hash_of(std::string_view text) {
    constexpr std::uint64_t kFirst = 0xA0761D6478BD642FU;
    constexpr std::uint64_t kSecond = 0xE7037ED1A0B428DBU;
    const char* at = text.data();
    std::size_t left = text.size();
    std::uint64_t hash = kFirst ^ text.size();
    for (; left > 16; left -= 16, at += 16) {
        hash = mixed(bytes_at(at, 8) ^ kSecond, bytes_at(at + 8, 8) ^ hash);
    }
    std::uint64_t low = 0;
    std::uint64_t high = 0;
    if (left >= 8) {  // overlapping halves
        low = bytes_at(at, 8);
        high = bytes_at(at + left - 8, 8);
    } else if (left >= 4) {
        low = bytes_at(at, 4);
        high = bytes_at(at + left - 4, 4);
    } else if (left > 0) {
        low = static_cast<unsigned char>(at[0]) | bytes_at(at + left / 2, 1) << 8U;
        high = bytes_at(at + left - 1, 1);
    }
    return mixed(low ^ kSecond, high ^ hash);
}

}  // namespace baton::engine
