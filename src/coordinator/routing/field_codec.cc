#include "coordinator/routing/field_codec.h"

#include <bit>
#include <charconv>

namespace baton::coordinator {

namespace {

constexpr char kEscape = '\\';
constexpr std::string_view kDigits = "0123456789abcdef";

bool is_plain(char c) {
    return c >= ' ' && c <= '~' && c != kEscape;
}

Error malformed_field(std::string_view why) {
    return {.code = ErrorCode::malformed_message,
            .message = "a message of another coordinator cannot be read: " + std::string(why)};
}

template <class Number>
Result<Number> number_in(const std::string& text) {
    Number number{};
    const char* const end = text.data() + text.size();
    const auto read = std::from_chars(text.data(), end, number);
    if (read.ec != std::errc() || read.ptr != end) return malformed_field("no number");
    return number;
}

}  // namespace

void Packer::text(std::string_view field) {
    std::string escaped;
    escaped.reserve(field.size());
    for (const char c : field) {
        if (is_plain(c)) {
            escaped += c;
            continue;
        }
        const auto byte = static_cast<unsigned char>(c);
        escaped += kEscape;
        escaped += kDigits[byte >> 4U];
        escaped += kDigits[byte & 0xfU];
    }
    packed_ += std::to_string(escaped.size()) + ":" + escaped;
}

// By its bits: it comes back as it was.
void Packer::real(double field) {
    number(std::bit_cast<std::uint64_t>(field));
}

Result<std::string> Unpacker::text() {
    std::size_t size = 0;
    const auto read = std::from_chars(rest_.data(), rest_.data() + rest_.size(), size);
    const auto digits = static_cast<std::size_t>(read.ptr - rest_.data());
    const bool counted = read.ec == std::errc() && digits < rest_.size() && rest_[digits] == ':' &&
                         size <= rest_.size() - digits - 1;
    if (!counted) {
        rest_ = {};
        return malformed_field("a field is missing");
    }
    const std::string_view escaped = rest_.substr(digits + 1, size);
    rest_.remove_prefix(digits + 1 + size);
    std::string field;
    field.reserve(size);
    for (std::size_t i = 0; i < escaped.size(); ++i) {
        if (escaped[i] != kEscape) {
            field += escaped[i];
            continue;
        }
        constexpr std::size_t kNone = std::string_view::npos;
        const bool whole = i + 2 < escaped.size();
        const std::size_t high = whole ? kDigits.find(escaped[i + 1]) : kNone;
        const std::size_t low = whole ? kDigits.find(escaped[i + 2]) : kNone;
        if (high == kNone || low == kNone) {
            rest_ = {};
            return malformed_field("a wrong escape");
        }
        field += static_cast<char>(high << 4U | low);
        i += 2;
    }
    return field;
}

Result<std::uint64_t> Unpacker::number() {
    TRY_ASSIGN(field, text());
    return number_in<std::uint64_t>(field);
}

Result<std::uint64_t> Unpacker::number_below(std::uint64_t bound) {
    TRY_ASSIGN(field, number());
    if (field >= bound) return malformed_field("a number that is too high");
    return field;
}

Result<std::int64_t> Unpacker::integer() {
    TRY_ASSIGN(field, text());
    return number_in<std::int64_t>(field);
}

Result<bool> Unpacker::flag() {
    TRY_ASSIGN(field, number_below(2));
    return field == 1;
}

Result<double> Unpacker::real() {
    TRY_ASSIGN(field, number());
    return std::bit_cast<double>(field);
}

Result<Done> Unpacker::end() const {
    if (!rest_.empty()) return malformed_field("something is left over");
    return Done{};
}

}  // namespace baton::coordinator
