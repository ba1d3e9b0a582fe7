// Numbers as the dialect prints and reads them.
#pragma once

#include <charconv>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>

namespace baton::expressions {

// Six decimals less trailing zeros, at least one: 1.5, 2.0; nan, inf, -inf.
void append_real(std::string& to, double value);

// The whole text, without blanks around it; none if it is no number of the type.
template <class T>
[[nodiscard]] std::optional<T> number_of(std::string_view text) {
    T value{};
    const char* begin = text.data();
    const char* end = begin + text.size();
    if (text.size() > 1 && *begin == '+' && begin[1] != '-') ++begin;
    const auto [stop, problem] = std::from_chars(begin, end, value);
    if (problem != std::errc() || stop != end) return std::nullopt;
    return value;
}

}  // namespace baton::expressions
