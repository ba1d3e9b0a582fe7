// Numbers from text, exactly: all of the text, in the range of the type, or not at all.
//
// Whole numbers are digits with at most a minus before them; real ones have a fraction and an
// exponent as well, and are nan, inf or infinity in any case. The nearest value is taken; one that
// lies beyond the largest is out of range.
#pragma once

#include <bit>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <string_view>
#include <type_traits>

namespace baton::formats {

enum class Parsed : std::uint8_t { ok, malformed, out_of_range };

// Eight bytes past the start of a text must be readable: they are looked at, not taken.
namespace detail {

inline bool all_digits(std::uint64_t eight) {
    return (((eight & 0xF0F0F0F0F0F0F0F0U) |
             (((eight + 0x0606060606060606U) & 0xF0F0F0F0F0F0F0F0U) >> 4U)) == 0x3333333333333333U);
}

inline std::uint64_t value_of_digits(std::uint64_t eight) {
    eight = (eight & 0x0F0F0F0F0F0F0F0FU) * 2561 >> 8U;
    eight = (eight & 0x00FF00FF00FF00FFU) * 6553601 >> 16U;
    return (eight & 0x0000FFFF0000FFFFU) * 42949672960001 >> 32U;
}

// 1 to 8 digits.
inline bool short_digits(const char* text, std::size_t size, std::uint64_t& value) {
    std::uint64_t eight = 0;
    std::memcpy(&eight, text, sizeof eight);
    const auto shift = static_cast<unsigned>(64 - 8 * size);
    // Zeros before the digits, which are first in memory and so lowest in the word.
    eight = (eight << shift) | (0x3030303030303030U & ((std::uint64_t{1} << shift) - 1));
    value = value_of_digits(eight);
    return all_digits(eight);
}

Parsed long_digits(const char* text, std::size_t size, std::uint64_t& value);

inline Parsed digits(const char* text, std::size_t size, std::uint64_t& value) {
    if constexpr (std::endian::native == std::endian::little) {
        if (size - 1 < 8) {
            return short_digits(text, size, value) ? Parsed::ok : Parsed::malformed;
        }
        if (size - 1 < 16) {
            std::uint64_t high = 0;
            std::uint64_t low = 0;
            const bool good =
                short_digits(text, size - 8, high) && short_digits(text + size - 8, 8, low);
            value = high * 100000000 + low;
            return good ? Parsed::ok : Parsed::malformed;
        }
    }
    return long_digits(text, size, value);
}

}  // namespace detail

template <class T>
requires std::is_integral_v<T>
inline Parsed parse_number(const char* text, std::size_t size, T& number) {
    const bool negative = size > 0 && *text == '-';
    std::uint64_t value = 0;
    const Parsed parsed =
        detail::digits(text + (negative ? 1 : 0), size - (negative ? 1 : 0), value);
    if (parsed != Parsed::ok) [[unlikely]]
        return parsed;
    constexpr auto kMost = static_cast<std::uint64_t>(std::numeric_limits<T>::max());
    if (!negative) {
        if (value > kMost) [[unlikely]]
            return Parsed::out_of_range;
        number = static_cast<T>(value);
        return Parsed::ok;
    }
    if (value > (std::is_signed_v<T> ? kMost + 1 : 0)) [[unlikely]]
        return Parsed::out_of_range;
    number = static_cast<T>(std::uint64_t{0} - value);
    return Parsed::ok;
}

Parsed parse_number(const char* text, std::size_t size, float& number);
Parsed parse_number(const char* text, std::size_t size, double& number);

}  // namespace baton::formats
