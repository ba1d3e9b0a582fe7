#include "doors/pg/wire/binary_forms.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdio>
#include <limits>
#include <utility>

#include "base/check.h"
#include "base/text.h"
#include "doors/pg/wire/text_forms.h"

namespace baton::pgwire {

namespace {

constexpr std::int64_t kMicros = 1'000'000;
constexpr std::int64_t kDayMicros = 86'400 * kMicros;
constexpr std::int64_t kEpochDays = 10'957;  // of 2000, from 1970
constexpr std::int64_t kMonthsOfYear = 12;
constexpr std::size_t kNumericDigits = 4;  // of ten in one of PostgreSQL's

void append_whole(std::string& out, std::uint64_t value, unsigned bytes) {
    for (unsigned shift = bytes * 8; shift > 0;) {
        shift -= 8;
        out += static_cast<char>(value >> shift & 0xffU);
    }
}

void append_signed(std::string& out, std::int64_t value, unsigned bytes) {
    append_whole(out, static_cast<std::uint64_t>(value), bytes);
}

bool all_digits(std::string_view text) {
    return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
}

// Takes what it understands off the front.
class Reader {
public:
    explicit Reader(std::string_view text) : rest_(text) {}

    bool take(std::string_view word) {
        if (!rest_.starts_with(word)) return false;
        rest_.remove_prefix(word.size());
        return true;
    }
    std::optional<std::int64_t> number() {
        std::int64_t value = 0;
        const auto [end, error] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), value);
        if (error != std::errc() || value < 0) return std::nullopt;
        rest_.remove_prefix(static_cast<std::size_t>(end - rest_.data()));
        return value;
    }
    // ".5" in microseconds; nothing is zero.
    std::optional<std::int64_t> fraction() {
        constexpr std::size_t kDigits = 6;
        if (!take(".")) return 0;
        const std::size_t size = std::min(rest_.find_first_not_of("0123456789"), rest_.size());
        if (size == 0 || size > kDigits) return std::nullopt;
        std::int64_t value = 0;
        for (std::size_t i = 0; i < kDigits; ++i) {
            value = value * 10 + (i < size ? rest_[i] - '0' : 0);
        }
        rest_.remove_prefix(size);
        return value;
    }
    // "04:05:06.5" in microseconds; hours may have more digits.
    std::optional<std::int64_t> clock() {
        constexpr std::int64_t kHoursMax = 3'000'000'000;
        constexpr std::int64_t kSixty = 60;
        const auto hours = number();
        if (!hours || *hours > kHoursMax || !take(":")) return std::nullopt;
        const auto minutes = number();
        if (!minutes || *minutes >= kSixty || !take(":")) return std::nullopt;
        const auto seconds = number();
        if (!seconds || *seconds > kSixty) return std::nullopt;
        const auto micros = fraction();
        if (!micros) return std::nullopt;
        std::int64_t time = 0;
        const std::int64_t whole = (*hours * kSixty + *minutes) * kSixty + *seconds;
        if (__builtin_mul_overflow(whole, kMicros, &time)) return std::nullopt;
        if (__builtin_add_overflow(time, *micros, &time)) return std::nullopt;
        return time;
    }
    [[nodiscard]] bool at_end() const { return rest_.empty(); }

private:
    std::string_view rest_;
};

// Of the proleptic Gregorian calendar, from 1970; the algorithm counts years from March.
std::int64_t days_of(std::int64_t year, std::int64_t month, std::int64_t day) {
    year -= month <= 2 ? 1 : 0;
    const std::int64_t era = (year >= 0 ? year : year - 399) / 400;
    const std::int64_t of_era = year - era * 400;
    const std::int64_t of_year = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;
    return era * 146'097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719'468;
}

struct Moment {
    std::int64_t days = 0;    // since 2000
    std::int64_t micros = 0;  // of the day
};

// "2026-01-01", "2026-01-01 00:00:00.5+00", "0044-03-15 BC".
std::optional<Moment> moment_of(std::string_view text) {
    constexpr std::int64_t kYearMax = 5'881'580;
    const bool before = text.ends_with(" BC");
    if (before) text.remove_suffix(3);
    Reader reader(text);
    const auto year = reader.number();
    if (!year || *year == 0 || *year > kYearMax || !reader.take("-")) return std::nullopt;
    const auto month = reader.number();
    if (!month || *month < 1 || *month > kMonthsOfYear || !reader.take("-")) return std::nullopt;
    const auto day = reader.number();
    if (!day || *day < 1 || *day > 31) return std::nullopt;
    Moment moment{.days = days_of(before ? 1 - *year : *year, *month, *day) - kEpochDays};
    if (reader.take(" ")) {
        const auto time = reader.clock();
        if (!time) return std::nullopt;
        moment.micros = *time;
        if (reader.take("+00")) (void)reader.take(":00");
    }
    return reader.at_end() ? std::optional(moment) : std::nullopt;
}

bool append_date(std::string& out, std::string_view text) {
    using Limits = std::numeric_limits<std::int32_t>;
    const bool minus = text == "-infinity";
    if (minus || text == "infinity") {
        append_signed(out, minus ? Limits::min() : Limits::max(), 4);
        return true;
    }
    const auto moment = moment_of(text);
    if (!moment || moment->micros != 0 || !std::in_range<std::int32_t>(moment->days)) return false;
    append_signed(out, moment->days, 4);
    return true;
}

bool append_timestamp(std::string& out, std::string_view text) {
    using Limits = std::numeric_limits<std::int64_t>;
    const bool minus = text == "-infinity";
    if (minus || text == "infinity") {
        append_signed(out, minus ? Limits::min() : Limits::max(), 8);
        return true;
    }
    const auto moment = moment_of(text);
    std::int64_t micros = 0;
    if (!moment || __builtin_mul_overflow(moment->days, kDayMicros, &micros)) return false;
    if (__builtin_add_overflow(micros, moment->micros, &micros)) return false;
    append_signed(out, micros, 8);
    return true;
}

bool append_time_of_day(std::string& out, std::string_view text) {
    Reader reader(text);
    const auto time = reader.clock();
    if (!time || !reader.at_end() || *time > kDayMicros) return false;
    append_signed(out, *time, 8);
    return true;
}

// "1 year 2 mons -3 days +04:05:06.5"
bool append_interval(std::string& out, std::string_view text) {
    std::int64_t months = 0;
    std::int64_t days = 0;
    std::int64_t micros = 0;
    while (!text.empty()) {
        const std::size_t end = std::min(text.find(' '), text.size());
        std::string_view word = text.substr(0, end);
        text.remove_prefix(std::min(end + 1, text.size()));
        const bool negative = word.starts_with('-');
        if (negative || word.starts_with('+')) word.remove_prefix(1);
        Reader reader(word);
        if (word.find(':') != std::string_view::npos) {
            const auto time = reader.clock();
            if (!time || !reader.at_end()) return false;
            micros = negative ? -*time : *time;
            continue;
        }
        const auto count = reader.number();
        if (!count || !reader.at_end() || !std::in_range<std::int32_t>(*count)) return false;
        const std::size_t unit_end = std::min(text.find(' '), text.size());
        const std::string_view unit = text.substr(0, unit_end);
        text.remove_prefix(std::min(unit_end + 1, text.size()));
        const std::int64_t signed_count = negative ? -*count : *count;
        if (unit.starts_with("year")) {
            months += signed_count * kMonthsOfYear;
        } else if (unit.starts_with("mon")) {
            months += signed_count;
        } else if (unit.starts_with("day")) {
            days += signed_count;
        } else {
            return false;
        }
    }
    if (!std::in_range<std::int32_t>(months) || !std::in_range<std::int32_t>(days)) return false;
    append_signed(out, micros, 8);
    append_signed(out, days, 4);
    append_signed(out, months, 4);
    return true;
}

bool append_decimal(std::string& out, std::string_view text) {
    constexpr std::size_t kDigitsMax = 1'000;
    const bool negative = text.starts_with('-');
    if (negative) text.remove_prefix(1);
    const std::size_t point = std::min(text.find('.'), text.size());
    std::string whole(text.substr(0, point));
    std::string fraction(point < text.size() ? text.substr(point + 1) : "");
    const bool digits = (all_digits(whole) || whole.empty()) &&
                        (all_digits(fraction) || fraction.empty()) &&
                        !(whole.empty() && fraction.empty());
    if (!digits || whole.size() + fraction.size() > kDigitsMax) return false;
    const std::size_t scale = fraction.size();
    const auto missing = [](std::size_t size) {
        return (kNumericDigits - size % kNumericDigits) % kNumericDigits;
    };
    whole.insert(0, missing(whole.size()), '0');
    fraction.append(missing(fraction.size()), '0');
    const std::string all = whole + fraction;
    std::vector<std::uint64_t> groups;
    for (std::size_t i = 0; i < all.size(); i += kNumericDigits) {
        std::uint64_t group = 0;
        for (const char c : std::string_view(all).substr(i, kNumericDigits)) {
            group = group * 10 + static_cast<std::uint64_t>(c - '0');
        }
        groups.push_back(group);
    }
    std::int64_t weight = static_cast<std::int64_t>(whole.size() / kNumericDigits) - 1;
    while (!groups.empty() && groups.back() == 0) groups.pop_back();
    const auto first = std::find_if(groups.begin(), groups.end(), [](auto g) { return g != 0; });
    weight -= first - groups.begin();
    groups.erase(groups.begin(), first);
    constexpr std::uint64_t kNegative = 0x4000;
    append_whole(out, groups.size(), 2);
    append_signed(out, groups.empty() ? 0 : weight, 2);
    append_whole(out, negative && !groups.empty() ? kNegative : 0, 2);
    append_whole(out, scale, 2);
    for (const std::uint64_t group : groups) append_whole(out, group, 2);
    return true;
}

std::optional<unsigned> nibble_of(char c) {
    if (c >= '0' && c <= '9') return static_cast<unsigned>(c - '0');
    if (c >= 'a' && c <= 'f') return static_cast<unsigned>(c - 'a') + 10;
    if (c >= 'A' && c <= 'F') return static_cast<unsigned>(c - 'A') + 10;
    return std::nullopt;
}

bool append_hex(std::string& out, std::string_view digits) {
    if (digits.size() % 2 != 0) return false;
    for (std::size_t i = 0; i < digits.size(); i += 2) {
        const auto high = nibble_of(digits[i]);
        const auto low = nibble_of(digits[i + 1]);
        if (!high || !low) return false;
        out += static_cast<char>(*high << 4U | *low);
    }
    return true;
}

bool append_uuid(std::string& out, std::string_view text) {
    constexpr std::size_t kDigits = 32;
    std::string digits(text);
    std::erase(digits, '-');
    return digits.size() == kDigits && append_hex(out, digits);
}

// ---- and back -----------------------------------------------------------------------------------

std::int64_t whole_of(std::string_view bytes) {
    std::uint64_t value = 0;
    for (const char c : bytes) value = value << 8U | static_cast<unsigned char>(c);
    const auto unused = static_cast<unsigned>(64 - 8 * bytes.size());
    return static_cast<std::int64_t>(value << unused) >> unused;
}

std::string clock_text(std::int64_t micros) {
    const std::int64_t seconds = micros / kMicros;
    std::array<char, 64> digits{};
    std::snprintf(digits.data(), digits.size(), "%02lld:%02lld:%02lld.%06lld",
                  static_cast<long long>(seconds / 3600), static_cast<long long>(seconds / 60 % 60),
                  static_cast<long long>(seconds % 60), static_cast<long long>(micros % kMicros));
    return digits.data();
}

std::optional<std::string> date_text(std::string_view bytes) {
    const std::int64_t time = whole_of(bytes) * kDayMicros + kPostgresEpoch;
    if (!is_writable_time(time)) return std::nullopt;
    return text_of_time(time).substr(0, 10);
}

std::optional<std::string> interval_text(std::string_view bytes) {
    const std::int64_t micros = whole_of(bytes.substr(0, 8));
    if (micros == std::numeric_limits<std::int64_t>::min()) return std::nullopt;
    const std::int64_t days = whole_of(bytes.substr(8, 4));
    const std::int64_t months = whole_of(bytes.substr(12, 4));
    return std::to_string(months) + " months " + std::to_string(days) + " days " +
           (micros < 0 ? "-" : "") + clock_text(micros < 0 ? -micros : micros);
}

std::string hex_text(std::string_view bytes) {
    constexpr std::string_view kDigits = "0123456789abcdef";
    std::string text;
    for (const char c : bytes) {
        const auto byte = static_cast<unsigned char>(c);
        text += kDigits[byte >> 4U];
        text += kDigits[byte & 0xFU];
    }
    return text;
}

std::string uuid_text(std::string_view bytes) {
    std::string text = hex_text(bytes);
    for (const std::size_t at : {20U, 16U, 12U, 8U}) text.insert(at, 1, '-');
    return text;
}

}  // namespace

bool comes_as_text(ColumnType type) {
    switch (type) {
        case ColumnType::decimal:
        case ColumnType::bytes:
        case ColumnType::date:
        case ColumnType::timestamp:
        case ColumnType::timestamptz:
        case ColumnType::time_of_day:
        case ColumnType::interval:
        case ColumnType::uuid:
            return true;
        case ColumnType::text:
        case ColumnType::int16:
        case ColumnType::int32:
        case ColumnType::integer:
        case ColumnType::unsigned_integer:
        case ColumnType::float32:
        case ColumnType::float64:
        case ColumnType::boolean:
        case ColumnType::time:
        case ColumnType::json:
            return false;
    }
    CHECK(false);
}

bool append_binary(std::string& out, ColumnType type, std::string_view text) {
    CHECK(comes_as_text(type));
    if (type == ColumnType::decimal) return append_decimal(out, text);
    if (type == ColumnType::date) return append_date(out, text);
    if (type == ColumnType::time_of_day) return append_time_of_day(out, text);
    if (type == ColumnType::interval) return append_interval(out, text);
    if (type == ColumnType::uuid) return append_uuid(out, text);
    if (type == ColumnType::bytes) {
        return text.starts_with("\\x") && append_hex(out, text.substr(2));
    }
    return append_timestamp(out, text);
}

std::optional<Elements> elements_of(std::string_view array) {
    if (array.size() < 2 || array.front() != '{' || array.back() != '}') return std::nullopt;
    const std::string_view inside = array.substr(1, array.size() - 2);
    Elements elements;
    if (inside.empty()) return elements;
    for (std::size_t i = 0; i <= inside.size(); ++i) {
        std::string element;
        bool quoted = false;
        for (bool within = false; i < inside.size() && (within || inside[i] != ','); ++i) {
            const char c = inside[i];
            if (c == '"') {
                within = !within;
                quoted = true;
            } else if (c == '\\' && i + 1 < inside.size()) {
                element += inside[++i];
            } else if (!within && (c == '{' || c == '}')) {
                return std::nullopt;
            } else {
                element += c;
            }
        }
        const bool null = !quoted && equal_ignoring_case(element, "null");
        elements.push_back(null ? std::nullopt : std::optional(std::move(element)));
    }
    return elements;
}

std::optional<std::string> text_of_binary(KnownType type, std::string_view bytes) {
    const std::size_t size = bytes.size();
    if (type == KnownType::bytea) return "\\x" + hex_text(bytes);
    if (type == KnownType::date && size == 4) return date_text(bytes);
    if (type == KnownType::uuid && size == 16) return uuid_text(bytes);
    if (type == KnownType::interval && size == 16) return interval_text(bytes);
    if (type == KnownType::time && size == 8) {
        const std::int64_t micros = whole_of(bytes);
        if (micros >= 0 && micros <= kDayMicros) return clock_text(micros);
    }
    return std::nullopt;
}

}  // namespace baton::pgwire
