#include "doors/http/target.h"

#include <optional>

#include "base/text.h"
#include "doors/http/problems.h"
#include "ports/sql_values.h"

namespace baton::http {

namespace {

constexpr std::size_t kPartsMax = 100;

std::optional<unsigned> digit_of(char c) {
    if (c >= '0' && c <= '9') return static_cast<unsigned>(c - '0');
    if (c >= 'a' && c <= 'f') return static_cast<unsigned>(c - 'a') + 10;
    if (c >= 'A' && c <= 'F') return static_cast<unsigned>(c - 'A') + 10;
    return std::nullopt;
}

Result<std::string> decoded(std::string_view text, bool plus_is_space) {
    std::string plain;
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] == '+' && plus_is_space) {
            plain += ' ';
        } else if (text[i] != '%') {
            plain += text[i];
        } else {
            const auto high = i + 1 < text.size() ? digit_of(text[i + 1]) : std::nullopt;
            const auto low = i + 2 < text.size() ? digit_of(text[i + 2]) : std::nullopt;
            if (!high || !low) return malformed("the URL has a % without two digits after it");
            plain += static_cast<char>(*high * 16 + *low);
            i += 2;
        }
    }
    if (!is_plain_text(plain)) return malformed("the URL is not UTF-8 text");
    return plain;
}

// Takes what stands before the first `end`, or all of it.
std::string_view take_until(std::string_view& text, char end) {
    const std::size_t at = text.find(end);
    const std::string_view part = text.substr(0, at);
    text.remove_prefix(at == std::string_view::npos ? text.size() : at + 1);
    return part;
}

Result<Done> take_parameters(std::string_view text, Target& target) {
    while (!text.empty()) {
        std::string_view pair = take_until(text, '&');
        if (pair.empty()) continue;
        if (target.parameters.size() == kPartsMax) return malformed("the URL has too many parts");
        TRY_ASSIGN(name, decoded(take_until(pair, '='), true));
        TRY_ASSIGN(value, decoded(pair, true));
        if (target.parameter(name) != nullptr) {
            return malformed("the parameter " + in_quotes(name) + " is given twice");
        }
        target.parameters.emplace_back(std::move(name), std::move(value));
    }
    return Done{};
}

}  // namespace

Result<Target> parse_target(std::string_view text) {
    if (!text.starts_with('/')) return malformed("the target of the request is not a path");
    text = text.substr(0, text.find('#'));
    Target target;
    std::string_view path = take_until(text, '?');
    path.remove_prefix(1);
    while (!path.empty()) {
        if (target.path.size() == kPartsMax) return malformed("the URL has too many parts");
        TRY_ASSIGN(segment, decoded(take_until(path, '/'), false));
        target.path.push_back(std::move(segment));
    }
    TRY(take_parameters(text, target));
    return target;
}

std::string percent_encoded(std::string_view text) {
    constexpr std::string_view kDigits = "0123456789ABCDEF";
    constexpr std::string_view kPlain =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~";
    std::string encoded;
    for (const char c : text) {
        if (kPlain.find(c) != std::string_view::npos) {
            encoded += c;
            continue;
        }
        const auto byte = static_cast<unsigned char>(c);
        encoded += '%';
        encoded += kDigits[byte >> 4U];
        encoded += kDigits[byte & 15U];
    }
    return encoded;
}

}  // namespace baton::http
