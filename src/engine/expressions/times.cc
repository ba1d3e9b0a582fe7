#include <algorithm>
#include <chrono>
#include <cstdio>
#include <optional>

#include "engine/expressions/kernels.h"
#include "engine/expressions/loops.h"
#include "engine/expressions/text_writer.h"

namespace baton::expressions {

namespace {

constexpr std::uint64_t kSecond = 1000;
constexpr std::uint64_t kMinute = 60 * kSecond;
constexpr std::uint64_t kHour = 60 * kMinute;
constexpr std::uint64_t kDay = 24 * kHour;
// Beyond it, years no longer fit the calendar: 32767-12-31.
constexpr std::uint64_t kDaysMost = 11248737;

// Reads a time from left to right.
class TimeReader {
public:
    explicit TimeReader(std::string_view text) : left_(text) {}

    [[nodiscard]] bool at_end() const { return left_.empty(); }
    bool skip(std::string_view any_of) {
        if (left_.empty() || any_of.find(left_.front()) == std::string_view::npos) return false;
        left_.remove_prefix(1);
        return true;
    }
    std::optional<unsigned> number(std::size_t digits) {
        if (left_.size() < digits) return std::nullopt;
        unsigned value = 0;
        for (const char c : left_.substr(0, digits)) {
            if (c < '0' || c > '9') return std::nullopt;
            value = value * 10 + static_cast<unsigned>(c - '0');
        }
        left_.remove_prefix(digits);
        return value;
    }
    // What follows a point, in milliseconds; further digits are dropped.
    std::optional<std::uint64_t> fraction() {
        std::uint64_t value = 0;
        std::size_t digits = 0;
        for (; !left_.empty() && left_.front() >= '0' && left_.front() <= '9'; ++digits) {
            if (digits < 3) value = value * 10 + static_cast<std::uint64_t>(left_.front() - '0');
            left_.remove_prefix(1);
        }
        for (std::size_t i = digits; i < 3; ++i) value *= 10;
        if (digits == 0) return std::nullopt;
        return value;
    }
    [[nodiscard]] char next() const { return left_.empty() ? '\0' : left_.front(); }

private:
    std::string_view left_;
};

std::optional<std::int64_t> day_in(TimeReader& reader) {
    const auto year = reader.number(4);
    if (!year || !reader.skip("-")) return std::nullopt;
    const auto month = reader.number(2);
    if (!month || !reader.skip("-")) return std::nullopt;
    const auto day = reader.number(2);
    if (!day) return std::nullopt;
    const std::chrono::year_month_day date(std::chrono::year(static_cast<int>(*year)),
                                           std::chrono::month(*month), std::chrono::day(*day));
    if (!date.ok()) return std::nullopt;
    return std::chrono::sys_days(date).time_since_epoch().count();
}

std::optional<std::uint64_t> time_of_day_in(TimeReader& reader) {
    const auto hours = reader.number(2);
    if (!hours || *hours > 23 || !reader.skip(":")) return std::nullopt;
    const auto minutes = reader.number(2);
    if (!minutes || *minutes > 59 || !reader.skip(":")) return std::nullopt;
    const auto seconds = reader.number(2);
    if (!seconds || *seconds > 59) return std::nullopt;
    std::uint64_t ms = *hours * kHour + *minutes * kMinute + *seconds * kSecond;
    if (!reader.skip(".")) return ms;
    const auto fraction = reader.fraction();
    if (!fraction) return std::nullopt;
    return ms + *fraction;
}

// How far the clock of the zone is ahead, in ms; UTC if none is given.
std::optional<std::int64_t> zone_in(TimeReader& reader) {
    if (reader.at_end() || reader.skip("Zz")) return 0;
    const bool behind = reader.next() == '-';
    if (!reader.skip("+-")) return std::nullopt;
    const auto hours = reader.number(2);
    if (!hours || *hours > 23 || !reader.skip(":")) return std::nullopt;
    const auto minutes = reader.number(2);
    if (!minutes || *minutes > 59) return std::nullopt;
    const auto ahead = static_cast<std::int64_t>(*hours * kHour + *minutes * kMinute);
    return behind ? -ahead : ahead;
}

// Of YYYY-MM-DD, T or a blank, HH:MM:SS[.fff], and Z, +HH:MM, -HH:MM or nothing.
std::optional<std::uint64_t> unix_ms(std::string_view text) {
    TimeReader reader(text);
    const auto day = day_in(reader);
    if (!day || !reader.skip("Tt ")) return std::nullopt;
    const auto time = time_of_day_in(reader);
    if (!time) return std::nullopt;
    const auto zone = zone_in(reader);
    if (!zone || !reader.at_end()) return std::nullopt;
    const std::int64_t ms =
        *day * static_cast<std::int64_t>(kDay) + static_cast<std::int64_t>(*time) - *zone;
    if (ms < 0) return std::nullopt;
    return static_cast<std::uint64_t>(ms);
}

Result<engine::ColumnVector> to_unix_ts(const Arguments& of) {
    const engine::ColumnVector& from = of.operands[0].column;
    engine::ColumnVector out(of.type, of.rows);
    for (std::size_t i = 0; i < of.rows; ++i) {
        if (from.is_null(i)) continue;
        const auto ms = unix_ms(from.texts()[i]);
        if (!ms) {
            return Error{.code = ErrorCode::cannot_format,
                         .message = "cannot read \"" + std::string(from.texts()[i].substr(0, 60)) +
                                    "\" as a time since 1970",
                         .hint = "times are written 2026-11-15T09:46:16.123Z"};
        }
        out.mutable_data<std::uint64_t>()[i] = *ms;
    }
    take_nulls(out, of.operands);
    return out;
}

std::chrono::year_month_day date_of(std::uint64_t ms) {
    const std::uint64_t days = std::min(ms / kDay, kDaysMost);
    return std::chrono::year_month_day(
        std::chrono::sys_days(std::chrono::days(static_cast<int>(days))));
}

Result<engine::ColumnVector> from_unix_ts(const Arguments& of) {
    const std::uint64_t* times = of.operands[0].column.data<std::uint64_t>();
    TextWriter writer(of.rows);
    for (std::size_t i = 0; i < of.rows; ++i) {
        if (times[i] / kDay > kDaysMost) {
            return Error{
                .code = ErrorCode::cannot_format,
                .message = "the time " + std::to_string(times[i]) + " lies beyond the calendar"};
        }
        const auto date = date_of(times[i]);
        const std::uint64_t ms = times[i] % kDay;
        char text[40];
        const int size = std::snprintf(
            text, sizeof(text), "%04d-%02u-%02uT%02u:%02u:%02u.%03uZ",
            static_cast<int>(date.year()), static_cast<unsigned>(date.month()),
            static_cast<unsigned>(date.day()), static_cast<unsigned>(ms / kHour),
            static_cast<unsigned>(ms % kHour / kMinute),
            static_cast<unsigned>(ms % kMinute / kSecond), static_cast<unsigned>(ms % kSecond));
        writer.bytes().append(text, static_cast<std::size_t>(size));
        writer.end_row();
    }
    engine::ColumnVector out = std::move(writer).finish(of.type);
    take_nulls(out, of.operands);
    return out;
}

template <class Part>
Result<engine::ColumnVector> part_of(const Arguments& of) {
    engine::ColumnVector out(of.type, of.rows);
    each<std::uint64_t>(of.operands[0], of.rows, out.mutable_data<std::uint64_t>(),
                        [](std::uint64_t ms) { return Part::of(date_of(ms)); });
    take_nulls(out, of.operands);
    return out;
}

struct Day {
    static std::uint64_t of(std::chrono::year_month_day date) {
        return static_cast<unsigned>(date.day());
    }
};
struct Month {
    static std::uint64_t of(std::chrono::year_month_day date) {
        return static_cast<unsigned>(date.month());
    }
};
struct Year {
    static std::uint64_t of(std::chrono::year_month_day date) {
        return static_cast<std::uint64_t>(static_cast<int>(date.year()));
    }
};

}  // namespace

Kernel time_kernel(Function function) {
    if (function == Function::cast_to_unix_ts) return to_unix_ts;
    if (function == Function::cast_from_unix_ts) return from_unix_ts;
    if (function == Function::day_of) return part_of<Day>;
    if (function == Function::month_of) return part_of<Month>;
    return function == Function::year_of ? part_of<Year> : nullptr;
}

}  // namespace baton::expressions
