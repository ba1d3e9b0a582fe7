// The functions that a question may call, and those that it may not. Together they are all that
// DuckDB has: a test compares the lists with the library that is linked, so that a function of a
// later DuckDB is refused until it has been judged.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace baton::questions {

enum class Verdict : std::uint8_t {
    allowed,
    bounded,   // allowed if the size of its value stands in the text: see bounds_of_size()
    constant,  // replaced by a value that the caller gives
    refused,
    unknown,
};

// Names in lower case. Scalar functions, aggregates, windows and macros share one name space.
[[nodiscard]] Verdict verdict_on(std::string_view function);
[[nodiscard]] bool is_allowed_table_function(std::string_view function);

// All names of the lists, sorted.
[[nodiscard]] std::span<const std::string> allowed_functions();
[[nodiscard]] std::span<const std::string> refused_functions();
[[nodiscard]] std::span<const std::string> refused_table_functions();

}  // namespace baton::questions
