#include "base/time.h"

#include <array>
#include <cstdio>
#include <ctime>

namespace baton {

std::string to_string(WallTime time) {
    const std::int64_t micros = time.time_since_epoch().count();
    std::int64_t seconds = micros / 1'000'000;
    std::int64_t fraction = micros % 1'000'000;
    if (fraction < 0) {
        fraction += 1'000'000;
        seconds -= 1;
    }
    const std::time_t stamp = seconds;
    std::tm parts{};
    gmtime_r(&stamp, &parts);
    std::array<char, 64> text{};
    const std::size_t length = std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%S", &parts);
    std::array<char, 16> tail{};
    (void)std::snprintf(tail.data(), tail.size(), ".%06dZ", static_cast<int>(fraction));
    return std::string(text.data(), length) + tail.data();
}

std::optional<WallTime> wall_time_of(std::string_view text) {
    constexpr std::string_view kForm = "0000-00-00T00:00:00.000000Z";
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
