#include "doors/pg/wire/text_forms.h"

#include <array>
#include <charconv>
#include <chrono>
#include <cmath>
#include <limits>

#include "base/check.h"
#include "base/text.h"
#include "base/time.h"
#include "base/utf8.h"

namespace baton::pgwire {

namespace {

constexpr std::int64_t kSecond = 1'000'000;
constexpr std::int64_t kDay = 86'400 * kSecond;

// digits10 is where PostgreSQL changes to exponents, as "%g" would.
template <class Float>
void append(std::string& out, Float value) {
    if (std::isnan(value)) {
        out += "NaN";
        return;
    }
    if (std::isinf(value)) {
        out += value < 0 ? "-Infinity" : "Infinity";
        return;
    }
    std::array<char, 64> buffer{};
    const auto write = [&](std::chars_format how) {
        const auto end =
            std::to_chars(buffer.data(), buffer.data() + buffer.size(), value, how).ptr;
        return std::string_view(buffer.data(), static_cast<std::size_t>(end - buffer.data()));
    };
    const std::string_view scientific = write(std::chars_format::scientific);
    const std::string_view exponent_text = scientific.substr(scientific.rfind('e') + 1);
    int exponent = 0;
    const bool has_plus = exponent_text.front() == '+';
    (void)std::from_chars(exponent_text.data() + (has_plus ? 1 : 0),
                          exponent_text.data() + exponent_text.size(), exponent);
    const bool is_plain = exponent >= -4 && exponent < std::numeric_limits<Float>::digits10;
    out += is_plain ? write(std::chars_format::fixed) : scientific;
}

// Takes what it understands off the front.
class TimeText {
public:
    explicit TimeText(std::string_view text) : rest_(text) {}

    // Exactly so many digits; none otherwise.
    std::optional<int> digits(std::size_t count) {
        if (rest_.size() < count) return std::nullopt;
        int value = 0;
        for (const char c : rest_.substr(0, count)) {
            if (c < '0' || c > '9') return std::nullopt;
            value = value * 10 + (c - '0');
        }
        rest_.remove_prefix(count);
        return value;
    }
    bool sign(char c) {
        if (!rest_.starts_with(c)) return false;
        rest_.remove_prefix(1);
        return true;
    }
    // After the point, in microseconds; none if there is no digit.
    std::optional<std::int64_t> fraction() {
        std::int64_t value = 0;
        std::size_t count = 0;
        for (; !rest_.empty() && rest_.front() >= '0' && rest_.front() <= '9'; ++count) {
            const int digit = rest_.front() - '0';
            if (count < 6) value = value * 10 + digit;
            if (count == 6 && digit >= 5) value += 1;
            rest_.remove_prefix(1);
        }
        if (count == 0) return std::nullopt;
        for (; count < 6; ++count) value *= 10;
        return value;
    }
    [[nodiscard]] bool at_end() const { return rest_.empty(); }

private:
    std::string_view rest_;
};

std::optional<std::int64_t> date_of(TimeText& text) {
    const auto year = text.digits(4);
    if (!year || *year == 0 || !text.sign('-')) return std::nullopt;
    const auto month = text.digits(2);
    if (!month || !text.sign('-')) return std::nullopt;
    const auto day = text.digits(2);
    if (!day) return std::nullopt;
    const std::chrono::year_month_day date(std::chrono::year(*year),
                                           std::chrono::month(static_cast<unsigned>(*month)),
                                           std::chrono::day(static_cast<unsigned>(*day)));
    if (!date.ok()) return std::nullopt;
    return std::chrono::sys_days(date).time_since_epoch().count() * kDay;
}

std::optional<std::int64_t> time_of_day(TimeText& text) {
    const auto hour = text.digits(2);
    if (!hour || *hour > 23 || !text.sign(':')) return std::nullopt;
    const auto minute = text.digits(2);
    if (!minute || *minute > 59) return std::nullopt;
    std::int64_t time = (*hour * 3600 + *minute * 60) * kSecond;
    if (!text.sign(':')) return time;
    const auto second = text.digits(2);
    if (!second || *second > 59) return std::nullopt;
    time += *second * kSecond;
    if (!text.sign('.')) return time;
    const auto fraction = text.fraction();
    return fraction ? std::optional(time + *fraction) : std::nullopt;
}

// East of Greenwich; nothing is UTC.
std::optional<std::int64_t> zone_of(TimeText& text) {
    (void)text.sign(' ');
    if (text.at_end() || text.sign('Z') || text.sign('z')) return 0;
    const bool west = text.sign('-');
    if (!west && !text.sign('+')) return std::nullopt;
    const auto hours = text.digits(2);
    if (!hours || *hours > 15) return std::nullopt;
    int minutes = 0;
    if (text.sign(':') || !text.at_end()) {
        const auto given = text.digits(2);
        if (!given || *given > 59) return std::nullopt;
        minutes = *given;
    }
    const std::int64_t offset = (*hours * 3600 + minutes * 60) * kSecond;
    return west ? -offset : offset;
}

}  // namespace

void append_float(std::string& out, float value) {
    append(out, value);
}

void append_float(std::string& out, double value) {
    append(out, value);
}

std::optional<std::int64_t> time_of(std::string_view text) {
    TimeText rest(text);
    const auto date = date_of(rest);
    if (!date) return std::nullopt;
    std::int64_t time = *date;
    if (!rest.at_end()) {
        if (!rest.sign('T') && !rest.sign(' ')) return std::nullopt;
        const auto of_day = time_of_day(rest);
        if (!of_day) return std::nullopt;
        const auto zone = zone_of(rest);
        if (!zone || !rest.at_end()) return std::nullopt;
        time += *of_day - *zone;
    }
    return is_writable_time(time) ? std::optional(time) : std::nullopt;
}

bool is_writable_time(std::int64_t microseconds) {
    using namespace std::chrono;
    constexpr std::int64_t kFirst = sys_days(year(1) / 1 / 1).time_since_epoch().count() * kDay;
    constexpr std::int64_t kEnd = sys_days(year(10'000) / 1 / 1).time_since_epoch().count() * kDay;
    return microseconds >= kFirst && microseconds < kEnd;
}

std::string text_of_time(std::int64_t microseconds) {
    CHECK(is_writable_time(microseconds));
    return to_string(WallTime(Duration(microseconds)));
}

void append_timestamptz(std::string& out, std::int64_t microseconds) {
    std::string text = text_of_time(microseconds);
    text[10] = ' ';
    text.pop_back();  // the Z
    const std::size_t last = text.find_last_not_of('0');
    // "...16.123000" loses its zeros, "...16.000000" the point as well.
    text.erase(text[last] == '.' ? last : last + 1);
    out += text;
    out += "+00";
}

std::string quoted_start(std::string_view text) {
    constexpr std::size_t kBytesMax = 100;
    if (text.size() <= kBytesMax) return in_quotes(text);
    std::size_t size = kBytesMax;
    while (size > 0 && !begins_character(text[size])) size -= 1;
    return in_quotes(std::string(text.substr(0, size)) + "...");
}

}  // namespace baton::pgwire
