#include "core/tables/values.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <cmath>
#include <limits>

#include "base/text.h"
#include "base/utf8.h"

namespace baton::tables {

namespace {

using Kind = SqlType::Kind;

constexpr std::string_view kLastCharacter = "\xF4\x8F\xBF\xBF";  // U+10FFFF
constexpr std::string_view kReplacement = "\xEF\xBF\xBD";        // U+FFFD, which others use
constexpr std::int64_t kMicroseconds = 1'000'000;
constexpr std::int64_t kSecondsOfDay = 86'400;

std::optional<std::int64_t> integer_of(std::string_view text) {
    std::int64_t value = 0;
    const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (problem != std::errc() || end != text.data() + text.size()) return std::nullopt;
    return value;
}

// A fixed number of digits.
std::optional<int> digits_of(std::string_view text, std::size_t from, std::size_t count) {
    if (from + count > text.size()) return std::nullopt;
    int value = 0;
    for (const char c : text.substr(from, count)) {
        if (c < '0' || c > '9') return std::nullopt;
        value = value * 10 + (c - '0');
    }
    return value;
}

std::optional<std::int64_t> days_of(std::string_view text) {
    if (text.size() != 10 || text[4] != '-' || text[7] != '-') return std::nullopt;
    const auto year = digits_of(text, 0, 4);
    const auto month = digits_of(text, 5, 2);
    const auto day = digits_of(text, 8, 2);
    if (!year || !month || !day) return std::nullopt;
    const std::chrono::year_month_day date{std::chrono::year(*year),
                                           std::chrono::month(static_cast<unsigned>(*month)),
                                           std::chrono::day(static_cast<unsigned>(*day))};
    if (!date.ok()) return std::nullopt;
    return std::chrono::sys_days(date).time_since_epoch().count();
}

std::string days_text(std::int64_t days) {
    const WallTime time(std::chrono::duration_cast<Duration>(std::chrono::days(days)));
    return to_string(time).substr(0, 10);
}

// "123" as .123 s.
std::optional<std::int64_t> fraction_of(std::string_view digits) {
    if (digits.empty() || digits.size() > 6) return std::nullopt;
    const auto value = digits_of(digits, 0, digits.size());
    if (!value) return std::nullopt;
    std::int64_t micros = *value;
    for (std::size_t i = digits.size(); i < 6; ++i) micros *= 10;
    return micros;
}

std::optional<std::int64_t> microseconds_of(std::string_view text) {
    for (const std::string_view zone : {"Z", "+00:00", "+00"}) {
        if (text.size() > 16 && text.ends_with(zone)) {
            text.remove_suffix(zone.size());
            break;
        }
    }
    const auto days = days_of(text.substr(0, 10));
    if (!days) return std::nullopt;
    const std::int64_t midnight = *days * kSecondsOfDay * kMicroseconds;
    if (text.size() == 10) return midnight;
    if (text.size() < 16 || (text[10] != 'T' && text[10] != ' ') || text[13] != ':') {
        return std::nullopt;
    }
    const auto hours = digits_of(text, 11, 2);
    const auto minutes = digits_of(text, 14, 2);
    if (!hours || !minutes || *hours > 23 || *minutes > 59) return std::nullopt;
    std::int64_t time = (*hours * 3600LL + *minutes * 60LL) * kMicroseconds;
    if (text.size() > 16) {
        const auto seconds = digits_of(text, 17, 2);
        if (text[16] != ':' || !seconds || *seconds > 59) return std::nullopt;
        time += *seconds * kMicroseconds;
        if (text.size() > 19) {
            const auto micros = fraction_of(text.substr(20));
            if (text[19] != '.' || !micros) return std::nullopt;
            time += *micros;
        }
    }
    return midnight + time;
}

// The digits without the point, if they are no more than the scale allows.
std::optional<std::int64_t> decimal_of(const SqlType& type, std::string_view text) {
    const std::size_t point = std::min(text.find('.'), text.size());
    const std::string_view behind =
        point == text.size() ? std::string_view() : text.substr(point + 1);
    if (behind.size() > type.scale || (point != text.size() && behind.empty())) {
        return std::nullopt;
    }
    std::string digits(text.substr(0, point));
    if (digits.empty() || digits == "-") digits += '0';
    digits += behind;
    digits.append(type.scale - behind.size(), '0');
    return integer_of(digits);
}

std::string decimal_text(const SqlType& type, std::int64_t value) {
    std::string digits = std::to_string(value);
    if (type.scale == 0) return digits;
    const bool negative = value < 0;
    if (negative) digits.erase(0, 1);
    if (digits.size() <= type.scale) digits.insert(0, type.scale + 1 - digits.size(), '0');
    digits.insert(digits.size() - type.scale, ".");
    return (negative ? "-" : "") + digits;
}

std::optional<std::int64_t> boolean_of(std::string_view text) {
    if (equal_ignoring_case(text, "true") || text == "1" || text == "t") return 1;
    if (equal_ignoring_case(text, "false") || text == "0" || text == "f") return 0;
    return std::nullopt;
}

std::optional<std::int64_t> within(std::optional<std::int64_t> value, std::int64_t max) {
    return value && *value >= -max - 1 && *value <= max ? value : std::nullopt;
}

}  // namespace

Order order_of(const SqlType& type) {
    switch (type.kind) {
        case Kind::boolean:
        case Kind::tinyint:
        case Kind::smallint:
        case Kind::integer:
        case Kind::bigint:
        case Kind::decimal:
        case Kind::date:
        case Kind::timestamp:
        case Kind::timestamptz:
            return Order::whole;
        case Kind::real:
        case Kind::double_precision:
            return Order::floating;
        case Kind::varchar:
            return Order::text;
        case Kind::blob:
        case Kind::list:
        case Kind::structure:
        case Kind::utinyint:
        case Kind::usmallint:
        case Kind::uinteger:
        case Kind::ubigint:
        case Kind::hugeint:
        case Kind::uhugeint:
        case Kind::time:
        case Kind::interval:
        case Kind::uuid:
        case Kind::json:
        case Kind::map:
        case Kind::other:
            return Order::none;
    }
    return Order::none;
}

std::optional<std::int64_t> whole_of(const SqlType& type, std::string_view text) {
    if (type.kind == Kind::boolean) return boolean_of(text);
    if (type.kind == Kind::date) return days_of(text);
    if (type.kind == Kind::decimal) return decimal_of(type, text);
    if (type.kind == Kind::timestamp || type.kind == Kind::timestamptz) {
        return microseconds_of(text);
    }
    const auto value = integer_of(text);
    if (type.kind == Kind::tinyint) return within(value, std::numeric_limits<std::int8_t>::max());
    if (type.kind == Kind::smallint) return within(value, std::numeric_limits<std::int16_t>::max());
    if (type.kind == Kind::integer) return within(value, std::numeric_limits<std::int32_t>::max());
    return value;
}

std::string whole_text(const SqlType& type, std::int64_t value) {
    if (type.kind == Kind::boolean) return value != 0 ? "true" : "false";
    if (type.kind == Kind::date) return days_text(value);
    if (type.kind == Kind::decimal) return decimal_text(type, value);
    if (type.kind == Kind::timestamp || type.kind == Kind::timestamptz) {
        return to_string(WallTime(Duration(value)));
    }
    return std::to_string(value);
}

std::optional<double> floating_of(const SqlType& type, std::string_view text) {
    const bool negative = text.starts_with('-');
    const std::string_view size = text.substr(negative ? 1 : 0);
    if (equal_ignoring_case(size, "Infinity") || equal_ignoring_case(size, "inf")) {
        const double infinity = std::numeric_limits<double>::infinity();
        return negative ? -infinity : infinity;
    }
    const char* const end = text.data() + text.size();
    const auto read = [&](auto value) -> std::optional<double> {
        const auto [stop, problem] = std::from_chars(text.data(), end, value);
        if (problem != std::errc() || stop != end || !std::isfinite(value)) return std::nullopt;
        return static_cast<double>(value);
    };
    return type.kind == Kind::real ? read(0.0F) : read(0.0);
}

std::string floating_text(const SqlType& type, double value) {
    if (std::isinf(value)) return value < 0 ? "-Infinity" : "Infinity";
    std::array<char, 40> digits{};
    char* const end = digits.data() + digits.size();
    const auto result = type.kind == Kind::real
                            ? std::to_chars(digits.data(), end, static_cast<float>(value))
                            : std::to_chars(digits.data(), end, value);
    return {digits.data(), result.ptr};
}

namespace {

// How many bytes the first characters take.
std::size_t beginning_of(std::string_view text, std::size_t characters) {
    std::size_t at = 0;
    for (; at < text.size(); ++at) {
        if (!begins_character(text[at])) continue;
        if (characters == 0) break;
        characters -= 1;
    }
    return at;
}

}  // namespace

std::string shortened_min(std::string_view text) {
    return std::string(text.substr(0, beginning_of(text, kCharactersMax)));
}

std::optional<std::string> shortened_max(std::string_view text) {
    const std::size_t size = beginning_of(text, kCharactersMax);
    if (size == text.size() || text.substr(size) == kLastCharacter) return std::string(text);
    if (text.substr(size).starts_with(kLastCharacter)) return std::nullopt;
    return std::string(text.substr(0, size)) + std::string(kLastCharacter);
}

std::string_view certain_part(std::string_view max) {
    while (max.ends_with(kLastCharacter)) max.remove_suffix(kLastCharacter.size());
    while (max.ends_with(kReplacement)) max.remove_suffix(kReplacement.size());
    return max;
}

}  // namespace baton::tables
