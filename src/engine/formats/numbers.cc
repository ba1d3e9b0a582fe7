#include "engine/formats/numbers.h"

#include <cmath>

#include <fast_float/fast_float.h>

namespace baton::formats {

namespace {

template <class Real>
Parsed parse_real(const char* text, std::size_t size, Real& number) {
    const auto [end, error] = fast_float::from_chars(text, text + size, number);
    if (end != text + size || size == 0) return Parsed::malformed;
    if (error == std::errc::result_out_of_range) return Parsed::out_of_range;
    if (error != std::errc()) return Parsed::malformed;
    if (!std::isinf(number)) return Parsed::ok;
    // Written as one, or a number too large for its type?
    const char first = text[*text == '-' ? 1 : 0];
    return first == 'i' || first == 'I' ? Parsed::ok : Parsed::out_of_range;
}

}  // namespace

Parsed detail::long_digits(const char* text, std::size_t size, std::uint64_t& value) {
    // from_chars takes no sign for an unsigned number.
    const auto [end, error] = std::from_chars(text, text + size, value);
    if (end != text + size || size == 0) return Parsed::malformed;
    if (error == std::errc::result_out_of_range) return Parsed::out_of_range;
    return error == std::errc() ? Parsed::ok : Parsed::malformed;
}

Parsed parse_number(const char* text, std::size_t size, float& number) {
    return parse_real(text, size, number);
}

Parsed parse_number(const char* text, std::size_t size, double& number) {
    return parse_real(text, size, number);
}

}  // namespace baton::formats
