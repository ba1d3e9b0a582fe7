// LogLimit keeps strangers from filling a log: it lets a few lines through in each period and
// counts the rest, and shown() cuts texts of strangers.
//
// Pure: the time is given.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/time.h"
#include "base/utf8.h"

namespace baton::desk {

class LogLimit {
public:
    static constexpr std::uint64_t kLines = 20;  // in a period
    static constexpr Duration kPeriod = std::chrono::seconds(10);

    // How many lines were left out before this one; none: it is left out, too.
    [[nodiscard]] std::optional<std::uint64_t> take(Instant now) {
        if (!begun_ || now - *begun_ >= kPeriod) {
            begun_ = now;
            lines_ = 0;
        }
        if (lines_ == kLines) {
            left_out_ += 1;
            return std::nullopt;
        }
        lines_ += 1;
        return std::exchange(left_out_, 0);
    }

private:
    std::optional<Instant> begun_;  // the present period
    std::uint64_t lines_ = 0;       // in it
    std::uint64_t left_out_ = 0;
};

// At most 200 bytes of the text, whole characters; others than printable ones in the form %0A.
[[nodiscard]] inline std::string shown(std::string_view text) {
    constexpr std::size_t kMost = 200;
    constexpr std::string_view kDigits = "0123456789ABCDEF";
    std::string result;
    while (!text.empty()) {
        const std::size_t size = utf8_character_size(text);
        const auto byte = static_cast<unsigned char>(text.front());
        const bool plain = size > 0 && byte >= 0x20 && byte != 0x7f;
        if (result.size() + (plain ? size : 3) > kMost) return result + "..";
        if (plain) {
            result += text.substr(0, size);
        } else {
            result += {'%', kDigits[byte / 16], kDigits[byte % 16]};
        }
        text.remove_prefix(plain ? size : 1);
    }
    return result;
}

}  // namespace baton::desk
