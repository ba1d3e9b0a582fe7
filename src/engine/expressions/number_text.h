// Numbers as the dialect prints and reads them.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace baton::expressions {

// Six decimals less trailing zeros, at least one: 1.5, 2.0; nan, inf, -inf.
void append_real(std::string& to, double value);

// The whole text, without blanks around it; none if it is no number of the type.
template <class T>
[[nodiscard]] std::optional<T> number_of(std::string_view text);

}  // namespace baton::expressions
