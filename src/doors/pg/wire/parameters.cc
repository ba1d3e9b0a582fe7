// Reading parameters: the second half of values.h.
#include <bit>
#include <charconv>
#include <cmath>
#include <limits>
#include <utility>

#include "base/check.h"
#include "base/text.h"
#include "base/utf8.h"
#include "doors/pg/wire/binary_forms.h"
#include "doors/pg/wire/text_forms.h"
#include "doors/pg/wire/values.h"

namespace baton::pgwire {

namespace {

using Read = std::optional<Value>;  // none if the bytes are not of the type

constexpr std::uint16_t kNumericNegative = 0x4000;
constexpr std::uint16_t kNumericNan = 0xc000;
constexpr std::uint16_t kNumericInfinity = 0xd000;
constexpr std::uint16_t kNumericMinusInfinity = 0xf000;

std::uint64_t bits_of(std::string_view bytes) {
    std::uint64_t value = 0;
    for (const char c : bytes) value = value << 8U | static_cast<unsigned char>(c);
    return value;
}

std::string_view without_spaces(std::string_view text) {
    constexpr std::string_view kSpaces = " \t\n\r\v\f";
    const std::size_t first = text.find_first_not_of(kSpaces);
    if (first == std::string_view::npos) return {};
    return text.substr(first, text.find_last_not_of(kSpaces) - first + 1);
}

// "+1" is a number, "+-1" is not.
std::string_view without_plus(std::string_view text) {
    const bool plus = text.size() > 1 && text[0] == '+' && text[1] != '-';
    return plus ? text.substr(1) : text;
}

template <class Number>
std::optional<Number> number_in(std::string_view text) {
    text = without_plus(text);
    Number value{};
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    const bool whole = error == std::errc() && end == text.data() + text.size();
    return whole ? std::optional(value) : std::nullopt;
}

template <class Number>
Read integer_in(std::string_view text) {
    const auto value = number_in<Number>(text);
    return value ? Read(std::int64_t{*value}) : std::nullopt;
}

Read boolean_in(std::string_view text) {
    if (text == "1") return true;
    if (text == "0") return false;
    // PostgreSQL takes every beginning of these words that fits one of them only.
    const auto begins = [&](std::string_view word, std::size_t least) {
        return text.size() >= least && text.size() <= word.size() &&
               equal_ignoring_case(text, word.substr(0, text.size()));
    };
    if (begins("true", 1) || begins("yes", 1) || begins("on", 2)) return true;
    if (begins("false", 1) || begins("no", 1) || begins("off", 2)) return false;
    return std::nullopt;
}

template <class Float>
Read float_in(std::string_view text) {
    const std::string_view bare = text.starts_with('-') ? text.substr(1) : without_plus(text);
    const bool known_word = equal_ignoring_case(bare, "nan") || equal_ignoring_case(bare, "inf") ||
                            equal_ignoring_case(bare, "infinity");
    const bool is_number = !bare.empty() && (bare[0] == '.' || (bare[0] >= '0' && bare[0] <= '9'));
    if (!known_word && !is_number) return std::nullopt;
    const auto value = number_in<Float>(text);
    return value ? Read(double{*value}) : std::nullopt;
}

Read numeric_in(std::string_view text) {
    if (const auto value = number_in<std::int64_t>(text)) return *value;
    if (const auto value = number_in<std::uint64_t>(text)) return *value;
    const auto number = float_in<double>(text);
    // With its digits, where a double does not have them all.
    constexpr std::size_t kSureDigits = 15;
    const bool plain = number && text.find_first_not_of("+-.0123456789") == std::string_view::npos;
    return plain && text.size() > kSureDigits ? Read(std::string(without_plus(text))) : number;
}

Read time_in(std::string_view text) {
    const auto time = time_of(text);
    return time ? Read(text_of_time(*time)) : std::nullopt;
}

Read text_in(std::string_view text) {
    // A zero cannot be in a text of PostgreSQL.
    const bool is_text = is_valid_utf8(text) && text.find('\0') == std::string_view::npos;
    return is_text ? Read(std::string(text)) : std::nullopt;
}

// ---- binary -------------------------------------------------------------------------------------

template <class Number>
Read integer_from(std::string_view bytes) {
    if (bytes.size() != sizeof(Number)) return std::nullopt;
    return Read(std::int64_t{static_cast<Number>(bits_of(bytes))});
}

Read float_from(std::string_view bytes) {
    if (bytes.size() == 8) return std::bit_cast<double>(bits_of(bytes));
    if (bytes.size() != 4) return std::nullopt;
    return double{std::bit_cast<float>(static_cast<std::uint32_t>(bits_of(bytes)))};
}

// The number's text, from its digits to the base of ten thousand.
std::string decimal_of(std::string_view digits, int weight, bool negative) {
    std::string text = negative ? "-" : "";
    const int count = static_cast<int>(digits.size() / 2);
    for (int i = std::min(0, weight + 1); i < std::max(count, weight + 1); ++i) {
        if (i == weight + 1) text += '.';
        const bool given = i >= 0 && i < count;
        const auto at = static_cast<std::size_t>(std::max(i, 0)) * 2;
        const std::string digit = std::to_string(given ? bits_of(digits.substr(at, 2)) : 0);
        text += std::string(4 - digit.size(), '0') + digit;
    }
    return text;
}

Read numeric_from(std::string_view bytes) {
    constexpr int kWeightMax = 80;  // beyond a double, far beyond an integer
    if (bytes.size() < 8) return std::nullopt;
    const std::uint64_t count = bits_of(bytes.substr(0, 2));
    const auto weight = static_cast<std::int16_t>(bits_of(bytes.substr(2, 2)));
    const std::uint64_t sign = bits_of(bytes.substr(4, 2));
    const std::string_view digits = bytes.substr(8);
    if (sign == kNumericNan) return std::numeric_limits<double>::quiet_NaN();
    if (sign == kNumericInfinity) return std::numeric_limits<double>::infinity();
    if (sign == kNumericMinusInfinity) return -std::numeric_limits<double>::infinity();
    if (sign != 0 && sign != kNumericNegative) return std::nullopt;
    if (digits.size() != count * 2 || std::abs(weight) > kWeightMax) return std::nullopt;
    for (std::size_t i = 0; i < digits.size(); i += 2) {
        if (bits_of(digits.substr(i, 2)) > 9'999) return std::nullopt;
    }
    if (count == 0) return std::int64_t{0};
    std::string text = decimal_of(digits, weight, sign == kNumericNegative);
    if (const std::size_t point = text.find('.'); point != std::string::npos) {
        if (text.find_first_not_of('0', point + 1) == std::string::npos) text.erase(point);
    }
    return numeric_in(text);
}

Read time_from(std::string_view bytes) {
    if (bytes.size() != 8) return std::nullopt;
    const auto since_2000 = static_cast<std::int64_t>(bits_of(bytes));
    if (since_2000 > std::numeric_limits<std::int64_t>::max() - kPostgresEpoch) return std::nullopt;
    const std::int64_t time = since_2000 + kPostgresEpoch;
    return is_writable_time(time) ? Read(text_of_time(time)) : std::nullopt;
}

template <KnownType type>
Read text_from(std::string_view bytes) {
    auto text = text_of_binary(type, bytes);
    return text ? Read(*std::move(text)) : std::nullopt;
}

// ---- either -------------------------------------------------------------------------------------

struct Reading {
    std::string_view name;
    Read (*text)(std::string_view) = text_in;
    Read (*binary)(std::string_view) = text_in;
    bool trims = true;
};

std::optional<Reading> reading_of(TypeId type) {
    switch (static_cast<KnownType>(type)) {
        case KnownType::boolean:
            return Reading{"boolean", boolean_in, [](std::string_view bytes) {
                               return bytes.size() == 1 ? Read(bytes[0] != 0) : std::nullopt;
                           }};
        case KnownType::int2:
            return Reading{"smallint", integer_in<std::int16_t>, integer_from<std::int16_t>};
        case KnownType::int4:
            return Reading{"integer", integer_in<std::int32_t>, integer_from<std::int32_t>};
        case KnownType::oid:
            return Reading{"oid", integer_in<std::uint32_t>, integer_from<std::uint32_t>};
        case KnownType::int8:
            return Reading{"bigint", integer_in<std::int64_t>, integer_from<std::int64_t>};
        case KnownType::float4:
            return Reading{"real", float_in<float>, [](std::string_view bytes) {
                               return bytes.size() == 4 ? float_from(bytes) : std::nullopt;
                           }};
        case KnownType::float8:
            return Reading{"double precision", float_in<double>, [](std::string_view bytes) {
                               return bytes.size() == 8 ? float_from(bytes) : std::nullopt;
                           }};
        case KnownType::numeric:
            return Reading{"numeric", numeric_in, numeric_from};
        case KnownType::timestamp:
            return Reading{"timestamp", time_in, time_from};
        case KnownType::timestamptz:
            return Reading{"timestamp with time zone", time_in, time_from};
        case KnownType::bytea:
            return Reading{"bytea", text_in, text_from<KnownType::bytea>, false};
        case KnownType::date:
            return Reading{"date", text_in, text_from<KnownType::date>};
        case KnownType::time:
            return Reading{"time", text_in, text_from<KnownType::time>};
        case KnownType::interval:
            return Reading{"interval", text_in, text_from<KnownType::interval>};
        case KnownType::uuid:
            return Reading{"uuid", text_in, text_from<KnownType::uuid>};
        case KnownType::jsonb:
            return Reading{"jsonb", text_in,
                           [](std::string_view bytes) {
                               const bool known = bytes.starts_with('\1');  // its version
                               return known ? text_in(bytes.substr(1)) : std::nullopt;
                           },
                           false};
        case KnownType::text:
        case KnownType::varchar:
        case KnownType::bpchar:
        case KnownType::name:
        case KnownType::unknown:
        case KnownType::json:
            return Reading{"text", text_in, text_in, false};
    }
    if (type == 0) return Reading{"text", text_in, text_in, false};
    return std::nullopt;
}

Report refusal(std::string_view sqlstate, std::string message) {
    return {.sqlstate = std::string(sqlstate), .message = std::move(message)};
}

}  // namespace

std::variant<Value, Report> parameter_of(TypeId type, Format format, std::string_view bytes) {
    const auto reading = reading_of(type);
    if (format == Format::binary) {
        if (!reading) {
            return refusal("22P03", "the binary form of type " + std::to_string(type) +
                                        " is not known; send it as text");
        }
        if (auto value = reading->binary(bytes)) return *std::move(value);
        return refusal("22P03", std::to_string(bytes.size()) +
                                    " bytes are not the binary form of " +
                                    std::string(reading->name));
    }
    const bool trims = reading && reading->trims;
    auto value = reading ? reading->text(trims ? without_spaces(bytes) : bytes) : text_in(bytes);
    if (value) return *std::move(value);
    const std::string name(reading ? reading->name : "text");
    if (!text_in(bytes)) return refusal("22021", "a parameter of type " + name + " is not UTF-8");
    return refusal("22P02", quoted_start(bytes) + " is not of type " + name);
}

}  // namespace baton::pgwire
