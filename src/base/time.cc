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

}  // namespace baton
