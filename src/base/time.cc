#include "base/time.h"

#include <cstddef>
#include <ctime>

namespace baton {

namespace {

constexpr std::string_view kForm = "0000-00-00T00:00:00.000000Z";

}  // namespace

std::string to_string(WallTime time) {
    // By hand: every change carries a time, and strftime costs as much as storing it.
    using namespace std::chrono;
    const auto day = floor<days>(time);
    const year_month_day date(sys_days(day.time_since_epoch()));
    const hh_mm_ss clock(time - day);
    std::string text(kForm);
    const auto put = [&](std::size_t from, std::size_t length, std::int64_t value) {
        for (std::size_t i = from + length; i-- > from; value /= 10) {
            text[i] = static_cast<char>('0' + value % 10);
        }
    };
    put(0, 4, int{date.year()});
    put(5, 2, unsigned{date.month()});
    put(8, 2, unsigned{date.day()});
    put(11, 2, clock.hours().count());
    put(14, 2, clock.minutes().count());
    put(17, 2, clock.seconds().count());
    put(20, 6, clock.subseconds().count());
    return text;
}

std::optional<WallTime> wall_time_of(std::string_view text) {
    if (text.size() != kForm.size()) return std::nullopt;
    for (std::size_t i = 0; i < kForm.size(); ++i) {
        const bool digit = text[i] >= '0' && text[i] <= '9';
        if (kForm[i] == '0' ? !digit : text[i] != kForm[i]) return std::nullopt;
    }
    const auto number = [&](std::size_t from, std::size_t length) {
        int value = 0;
        for (const char c : text.substr(from, length)) value = value * 10 + (c - '0');
        return value;
    };
    std::tm parts{};
    parts.tm_year = number(0, 4) - 1900;
    parts.tm_mon = number(5, 2) - 1;
    parts.tm_mday = number(8, 2);
    parts.tm_hour = number(11, 2);
    parts.tm_min = number(14, 2);
    parts.tm_sec = number(17, 2);
    const std::int64_t seconds = timegm(&parts);
    return WallTime(std::chrono::microseconds(seconds * 1'000'000 + number(20, 6)));
}

}  // namespace baton
