#include "core/identity/join_token.h"

#include <array>
#include <charconv>
#include <cstdint>
#include <optional>

#include "base/text.h"

namespace baton::identity {

namespace {

constexpr std::string_view kBase64 =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
constexpr std::string_view kTokenPrefix = "join.";
constexpr std::size_t kTokenBytesMax = 16'384;

std::string base64_of(std::string_view bytes) {
    std::string text;
    for (std::size_t i = 0; i < bytes.size(); i += 3) {
        std::uint32_t group = 0;
        const std::size_t count = std::min<std::size_t>(3, bytes.size() - i);
        for (std::size_t k = 0; k < 3; ++k) {
            group = group << 8U | (k < count ? static_cast<unsigned char>(bytes[i + k]) : 0U);
        }
        for (std::size_t k = 0; k <= count; ++k) text += kBase64[group >> (18 - 6 * k) & 63U];
    }
    return text;
}

std::optional<std::string> from_base64(std::string_view text) {
    std::string bytes;
    std::uint32_t group = 0;
    std::size_t bits = 0;
    for (const char c : text) {
        const std::size_t value = kBase64.find(c);
        if (value == std::string_view::npos) return std::nullopt;
        group = group << 6U | static_cast<std::uint32_t>(value);
        bits += 6;
        if (bits < 8) continue;
        bits -= 8;
        bytes += static_cast<char>(group >> bits & 255U);
    }
    return bytes;
}

}  // namespace

std::string signed_part(const JoinToken& token) {
    return "join\n" + token.worker + "\n" +
           std::to_string(token.expires.time_since_epoch().count()) + "\n" + token.nonce + "\n" +
           token.address + "\n" + token.cluster + "\n" + token.authority;
}

std::string to_string(const JoinToken& token) {
    return std::string(kTokenPrefix) + base64_of(token.mac + "\n" + signed_part(token));
}

Result<JoinToken> join_token_in(std::string_view text) {
    const Error broken{.code = ErrorCode::invalid_configuration,
                       .message = "this is no token to join with",
                       .at = {},
                       .hint = "`baton token worker NAME` prints one: give it whole"};
    if (!text.starts_with(kTokenPrefix) || text.size() > kTokenBytesMax) return broken;
    const auto bytes = from_base64(text.substr(kTokenPrefix.size()));
    if (!bytes) return broken;
    std::string_view rest = *bytes;
    std::array<std::string, 7> lines;  // the MAC, "join", and all but the last of the fields
    for (std::string& line : lines) {
        const std::size_t end = rest.find('\n');
        if (end == std::string_view::npos) return broken;
        line = rest.substr(0, end);
        rest.remove_prefix(end + 1);
    }
    std::int64_t expires = 0;
    const char* const last = lines[3].data() + lines[3].size();
    const auto [end, problem] = std::from_chars(lines[3].data(), last, expires);
    if (lines[1] != "join" || problem != std::errc() || end != last) return broken;
    return JoinToken{.worker = lines[2],
                     .expires = WallTime(Duration(expires)),
                     .nonce = lines[4],
                     .address = lines[5],
                     .cluster = lines[6],
                     .authority = std::string(rest),
                     .mac = lines[0]};
}

Result<Done> check_in_time(const JoinToken& token, const std::string& cluster, WallTime now) {
    const std::string hint = "`baton token worker NAME` prints another";
    if (token.cluster != cluster) {
        return Error{.code = ErrorCode::not_authenticated,
                     .message = "the token is for another cluster",
                     .at = {},
                     .hint = hint};
    }
    if (now >= token.expires) {
        return Error{.code = ErrorCode::not_authenticated,
                     .message = "the token expired at " + to_string(token.expires),
                     .at = {},
                     .hint = hint};
    }
    return Done{};
}

WallTime renew_at(WallTime from, WallTime until) {
    return from + (until - from) * 2 / 3;
}

Identity coordinator_of(const std::string& cluster) {
    return {.role = ProcessRole::coordinator, .cluster = cluster, .name = "coordinator"};
}

}  // namespace baton::identity
