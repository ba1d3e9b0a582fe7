// The text forms of floating-point numbers and times, ours and PostgreSQL's. Internal to pgwire.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace baton::pgwire {

// The shortest text that reads back the same, in PostgreSQL's layout.
void append_float(std::string& out, float value);
void append_float(std::string& out, double value);

// Microseconds since 1970 in UTC. None if the text is not a date of the years 1 to 9999 with or
// without a time of day, in our form or one that PostgreSQL takes: "2026-11-15 09:46:16.5+02:30".
// Without a zone it is UTC; digits beyond the microsecond are rounded.
[[nodiscard]] std::optional<std::int64_t> time_of(std::string_view text);

// Whether text_of_time() can write it.
[[nodiscard]] bool is_writable_time(std::int64_t microseconds);
// "2026-11-15T09:46:16.123456Z"
[[nodiscard]] std::string text_of_time(std::int64_t microseconds);
// "2026-11-15 09:46:16.123456+00", without the zeros at the end of the fraction.
void append_timestamptz(std::string& out, std::int64_t microseconds);

// The text in quotes, for a message: only its beginning if it is long.
[[nodiscard]] std::string quoted_start(std::string_view text);

// From 1970 to PostgreSQL's epoch, the year 2000.
inline constexpr std::int64_t kPostgresEpoch = 946'684'800'000'000;

}  // namespace baton::pgwire
