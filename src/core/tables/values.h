// The values of statistics and of partitions: between their texts and numbers that can be compared.
//
// The text of a value is the same everywhere in Baton: numbers as SQL writes them, `true`, dates as
// 2026-11-15, timestamps in UTC as 2026-11-15T09:46:16.123456Z. Reading also takes the forms of
// PostgreSQL (a space in place of the T, fewer digits, no Z). A text that is no value of the type
// gives none, and so does one that cannot be kept exactly: NaN, decimals beyond 64 bits, years with
// more than four digits. A statistic that is missing only makes pruning weaker.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "model/table.h"

namespace baton::tables {

// How values of a type are compared.
enum class Order : std::uint8_t {
    none,      // not at all: lists, BLOB
    whole,     // as 64 bits: BOOLEAN, integers, DECIMAL (without its point), DATE, timestamps
    floating,  // REAL, DOUBLE
    text,      // by bytes
};
[[nodiscard]] Order order_of(const SqlType& type);

// Of a type whose order is `whole`: days, microseconds, DECIMAL times ten to its scale.
[[nodiscard]] std::optional<std::int64_t> whole_of(const SqlType& type, std::string_view text);
[[nodiscard]] std::string whole_text(const SqlType& type, std::int64_t value);

// Of REAL and DOUBLE; a REAL is rounded to its own numbers.
[[nodiscard]] std::optional<double> floating_of(const SqlType& type, std::string_view text);
[[nodiscard]] std::string floating_text(const SqlType& type, double value);

// Texts in statistics are cut after so many characters. A largest value that was cut ends with
// U+10FFFF, so that it is still at least as large as each text with that beginning.
inline constexpr std::size_t kCharactersMax = 32;
[[nodiscard]] std::string shortened_min(std::string_view text);
[[nodiscard]] std::optional<std::string> shortened_max(std::string_view text);
// The part of a largest value that is certain: without the characters that stand for all others.
[[nodiscard]] std::string_view certain_part(std::string_view max);

}  // namespace baton::tables
