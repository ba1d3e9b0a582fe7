#include "doors/pg/wire/values.h"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <limits>
#include <utility>

#include "base/check.h"
#include "base/overload.h"
#include "doors/pg/wire/binary_forms.h"
#include "doors/pg/wire/text_forms.h"

namespace baton::pgwire {

namespace {

constexpr std::uint64_t kNumericBase = 10'000;

void append_bits(std::string& out, std::uint64_t value, unsigned bytes) {
    for (unsigned shift = bytes * 8; shift > 0;) {
        shift -= 8;
        out += static_cast<char>(value >> shift & 0xffU);
    }
}

std::string_view word_of(ColumnType type) {
    switch (type) {
        case ColumnType::text:
            return "text";
        case ColumnType::int16:
        case ColumnType::int32:
        case ColumnType::integer:
            return "integer";
        case ColumnType::unsigned_integer:
            return "unsigned integer";
        case ColumnType::float32:
        case ColumnType::float64:
            return "float";
        case ColumnType::boolean:
            return "boolean";
        case ColumnType::time:
            return "time";
        case ColumnType::json:
            return "json";
        case ColumnType::decimal:
            return "numeric";
        case ColumnType::bytes:
            return "bytea";
        case ColumnType::date:
            return "date";
        case ColumnType::timestamp:
            return "timestamp";
        case ColumnType::timestamptz:
            return "timestamp with time zone";
        case ColumnType::time_of_day:
            return "time";
        case ColumnType::interval:
            return "interval";
        case ColumnType::uuid:
            return "uuid";
    }
    CHECK(false);
}

Error unfit(ColumnType type, const Value& value) {
    std::string text = "a value";
    if (std::holds_alternative<std::monostate>(value)) text = "null";
    if (const auto* given = std::get_if<std::string>(&value)) text = quoted_start(*given);
    if (const auto* given = std::get_if<std::int64_t>(&value)) text = std::to_string(*given);
    if (const auto* given = std::get_if<std::uint64_t>(&value)) text = std::to_string(*given);
    return {.code = ErrorCode::cannot_format,
            .message = text + " cannot be sent as " + std::string(word_of(type))};
}

std::optional<std::int64_t> signed_of(const Value& value) {
    if (const auto* given = std::get_if<std::int64_t>(&value)) return *given;
    const auto* given = std::get_if<std::uint64_t>(&value);
    const bool fits = given != nullptr && std::in_range<std::int64_t>(*given);
    return fits ? std::optional(static_cast<std::int64_t>(*given)) : std::nullopt;
}

std::optional<std::uint64_t> unsigned_of(const Value& value) {
    if (const auto* given = std::get_if<std::uint64_t>(&value)) return *given;
    const auto* given = std::get_if<std::int64_t>(&value);
    const bool fits = given != nullptr && *given >= 0;
    return fits ? std::optional(static_cast<std::uint64_t>(*given)) : std::nullopt;
}

std::optional<double> double_of(const Value& value) {
    if (const auto* given = std::get_if<double>(&value)) return *given;
    if (const auto* given = std::get_if<std::int64_t>(&value)) return static_cast<double>(*given);
    if (const auto* given = std::get_if<std::uint64_t>(&value)) return static_cast<double>(*given);
    return std::nullopt;
}

void append_text(std::string& out, const Value& value) {
    std::visit(Overload{
                   [](std::monostate) {},
                   [&](bool v) { out += v ? 't' : 'f'; },
                   [&](std::int64_t v) { out += std::to_string(v); },
                   [&](std::uint64_t v) { out += std::to_string(v); },
                   [&](double v) { append_float(out, v); },
                   [&](const std::string& v) { out += v; },
               },
               value);
}

// Digits to the base of ten thousand, the highest first, without zeros at the end.
void append_numeric(std::string& out, std::uint64_t value) {
    std::vector<std::uint64_t> digits;
    for (std::uint64_t rest = value; rest != 0; rest /= kNumericBase) {
        digits.insert(digits.begin(), rest % kNumericBase);
    }
    const std::size_t weight = digits.empty() ? 0 : digits.size() - 1;
    while (!digits.empty() && digits.back() == 0) digits.pop_back();
    append_bits(out, digits.size(), 2);
    append_bits(out, weight, 2);
    append_bits(out, 0, 2);  // positive
    append_bits(out, 0, 2);  // nothing after the point
    for (const std::uint64_t digit : digits) append_bits(out, digit, 2);
}

bool append_time(std::string& out, Format format, const Value& value) {
    const auto* text = std::get_if<std::string>(&value);
    const auto time = text != nullptr ? time_of(*text) : std::nullopt;
    if (!time) return false;
    if (format == Format::text) {
        append_timestamptz(out, *time);
    } else {
        append_bits(out, static_cast<std::uint64_t>(*time - kPostgresEpoch), 8);
    }
    return true;
}

bool append_number(std::string& out, ColumnType type, Format format, const Value& value) {
    const bool binary = format == Format::binary;
    if (type == ColumnType::int32 || type == ColumnType::int16) {
        const bool narrow = type == ColumnType::int16;
        const auto number = signed_of(value);
        if (!number || !std::in_range<std::int32_t>(*number)) return false;
        if (narrow && !std::in_range<std::int16_t>(*number)) return false;
        binary ? append_bits(out, static_cast<std::uint64_t>(*number), narrow ? 2 : 4)
               : static_cast<void>(out += std::to_string(*number));
        return true;
    }
    if (type == ColumnType::integer) {
        const auto number = signed_of(value);
        if (!number) return false;
        binary ? append_bits(out, static_cast<std::uint64_t>(*number), 8)
               : append_text(out, *number);
        return true;
    }
    if (type == ColumnType::unsigned_integer) {
        const auto number = unsigned_of(value);
        if (!number) return false;
        binary ? append_numeric(out, *number) : append_text(out, *number);
        return true;
    }
    const auto number = double_of(value);
    if (!number) return false;
    if (type == ColumnType::float64) {
        binary ? append_bits(out, std::bit_cast<std::uint64_t>(*number), 8)
               : append_float(out, *number);
        return true;
    }
    const bool beyond =
        std::isfinite(*number) && std::abs(*number) > std::numeric_limits<float>::max();
    if (beyond) return false;
    const auto narrow = static_cast<float>(*number);
    binary ? append_bits(out, std::bit_cast<std::uint32_t>(narrow), 4) : append_float(out, narrow);
    return true;
}

// Whether the value is of the type; what was appended if not is of no use.
bool appended(std::string& out, ColumnType type, Format format, const Value& value) {
    switch (type) {
        case ColumnType::text:
        case ColumnType::json:
            append_text(out, value);
            return true;
        case ColumnType::boolean: {
            const auto* given = std::get_if<bool>(&value);
            if (given == nullptr) return false;
            format == Format::text ? append_text(out, *given) : append_bits(out, *given ? 1 : 0, 1);
            return true;
        }
        case ColumnType::time:
            return append_time(out, format, value);
        case ColumnType::decimal:
        case ColumnType::bytes:
        case ColumnType::date:
        case ColumnType::timestamp:
        case ColumnType::timestamptz:
        case ColumnType::time_of_day:
        case ColumnType::interval:
        case ColumnType::uuid: {
            if (format == Format::text) {
                append_text(out, value);
                return true;
            }
            const auto* text = std::get_if<std::string>(&value);
            return text != nullptr && append_binary(out, type, *text);
        }
        case ColumnType::int16:
        case ColumnType::int32:
        case ColumnType::integer:
        case ColumnType::unsigned_integer:
        case ColumnType::float32:
        case ColumnType::float64:
            return append_number(out, type, format, value);
    }
    CHECK(false);
}

}  // namespace

TypeId type_id_of(ColumnType type) {
    const auto known = [&] {
        switch (type) {
            case ColumnType::text:
                return KnownType::text;
            case ColumnType::int16:
                return KnownType::int2;
            case ColumnType::int32:
                return KnownType::int4;
            case ColumnType::integer:
                return KnownType::int8;
            case ColumnType::unsigned_integer:
                return KnownType::numeric;
            case ColumnType::float32:
                return KnownType::float4;
            case ColumnType::float64:
                return KnownType::float8;
            case ColumnType::boolean:
                return KnownType::boolean;
            case ColumnType::time:
                return KnownType::timestamptz;
            case ColumnType::json:
                return KnownType::json;
            case ColumnType::decimal:
                return KnownType::numeric;
            case ColumnType::bytes:
                return KnownType::bytea;
            case ColumnType::date:
                return KnownType::date;
            case ColumnType::timestamp:
                return KnownType::timestamp;
            case ColumnType::timestamptz:
                return KnownType::timestamptz;
            case ColumnType::time_of_day:
                return KnownType::time;
            case ColumnType::interval:
                return KnownType::interval;
            case ColumnType::uuid:
                return KnownType::uuid;
        }
        CHECK(false);
    };
    return static_cast<TypeId>(known());
}

std::int16_t size_of(ColumnType type) {
    switch (type) {
        case ColumnType::boolean:
            return 1;
        case ColumnType::int16:
            return 2;
        case ColumnType::int32:
        case ColumnType::float32:
        case ColumnType::date:
            return 4;
        case ColumnType::integer:
        case ColumnType::float64:
        case ColumnType::time:
        case ColumnType::timestamp:
        case ColumnType::timestamptz:
        case ColumnType::time_of_day:
            return 8;
        case ColumnType::interval:
        case ColumnType::uuid:
            return 16;
        case ColumnType::text:
        case ColumnType::unsigned_integer:
        case ColumnType::json:
        case ColumnType::decimal:
        case ColumnType::bytes:
            return -1;
    }
    CHECK(false);
}

TypeId type_id_of(const Column& column) {
    if (!column.is_array) return type_id_of(column.type);
    switch (column.type) {
        case ColumnType::text:
            return 1009;
        case ColumnType::int16:
            return 1005;
        case ColumnType::int32:
            return 1007;
        case ColumnType::integer:
            return 1016;
        case ColumnType::unsigned_integer:
        case ColumnType::decimal:
            return 1231;
        case ColumnType::float32:
            return 1021;
        case ColumnType::float64:
            return 1022;
        case ColumnType::boolean:
            return 1000;
        case ColumnType::time:
        case ColumnType::timestamptz:
            return 1185;
        case ColumnType::json:
            return 199;
        case ColumnType::bytes:
            return 1001;
        case ColumnType::date:
            return 1182;
        case ColumnType::timestamp:
            return 1115;
        case ColumnType::time_of_day:
            return 1183;
        case ColumnType::interval:
            return 1187;
        case ColumnType::uuid:
            return 2951;
    }
    CHECK(false);
}

std::int16_t size_of(const Column& column) {
    return column.is_array ? std::int16_t{-1} : size_of(column.type);
}

std::int32_t modifier_of(std::uint8_t precision, std::uint8_t scale) {
    constexpr std::int32_t kHeader = 4;
    return (std::int32_t{precision} << 16U | scale) + kHeader;
}

Result<Done> append_cell(std::string& out, ColumnType type, Format format, const Value& value) {
    const std::size_t before = out.size();
    if (!std::holds_alternative<std::monostate>(value) && appended(out, type, format, value)) {
        return Done{};
    }
    out.resize(before);
    return unfit(type, value);
}

namespace {

// As values of ours.
template <class Number>
std::optional<Value> number_in(const std::string& text) {
    Number number{};
    const char* const end = text.data() + text.size();
    if (std::from_chars(text.data(), end, number).ptr != end) return std::nullopt;
    return number;
}

std::optional<Value> element_of(ColumnType type, const std::string& text) {
    switch (type) {
        case ColumnType::boolean:
            return text == "t";
        case ColumnType::int16:
        case ColumnType::int32:
        case ColumnType::integer:
            return number_in<std::int64_t>(text);
        case ColumnType::unsigned_integer:
            return number_in<std::uint64_t>(text);
        case ColumnType::float32:
        case ColumnType::float64:
            if (text == "NaN") return std::numeric_limits<double>::quiet_NaN();
            if (text == "Infinity") return std::numeric_limits<double>::infinity();
            if (text == "-Infinity") return -std::numeric_limits<double>::infinity();
            return number_in<double>(text);
        case ColumnType::text:
        case ColumnType::time:
        case ColumnType::json:
        case ColumnType::decimal:
        case ColumnType::bytes:
        case ColumnType::date:
        case ColumnType::timestamp:
        case ColumnType::timestamptz:
        case ColumnType::time_of_day:
        case ColumnType::interval:
        case ColumnType::uuid:
            return text;
    }
    CHECK(false);
}

// Of one dimension, from 1 on.
bool append_array(std::string& out, const Column& column, const std::string& text) {
    const auto elements = elements_of(text);
    if (!elements || !std::in_range<std::int32_t>(elements->size())) return false;
    const bool nulls =
        std::find(elements->begin(), elements->end(), std::nullopt) != elements->end();
    append_bits(out, elements->empty() ? 0 : 1, 4);
    append_bits(out, nulls ? 1 : 0, 4);
    append_bits(out, type_id_of(column.type), 4);
    if (elements->empty()) return true;
    append_bits(out, elements->size(), 4);
    append_bits(out, 1, 4);
    for (const auto& element : *elements) {
        if (!element) {
            append_bits(out, UINT32_MAX, 4);
            continue;
        }
        const auto value = element_of(column.type, *element);
        std::string cell;
        if (!value || !appended(cell, column.type, Format::binary, *value)) return false;
        append_bits(out, cell.size(), 4);
        out += cell;
    }
    return true;
}

}  // namespace

Result<Done> append_cell(std::string& out, const Column& column, Format format,
                         const Value& value) {
    if (!column.is_array) return append_cell(out, column.type, format, value);
    const std::size_t before = out.size();
    const auto* text = std::get_if<std::string>(&value);
    if (text != nullptr && format == Format::text) {
        out += *text;
        return Done{};
    }
    if (text != nullptr && append_array(out, column, *text)) return Done{};
    out.resize(before);
    return unfit(column.type, value);
}

// ---- rows ---------------------------------------------------------------------------------------

RowWriter::RowWriter(std::span<const Column> columns, std::vector<Format> formats)
    : formats_(std::move(formats)) {
    for (const Column& column : columns) {
        columns_.push_back({.name = {}, .type = column.type, .is_array = column.is_array});
    }
    if (formats_.empty()) formats_.assign(columns_.size(), Format::text);
    CHECK(formats_.size() == columns_.size());
}

Result<Done> RowWriter::append(std::span<const Value> row) {
    CHECK(row.size() == columns_.size());
    std::string& out = rows_.bytes_;
    const std::size_t before = out.size();
    std::optional<Error> error;
    {
        Message message(out, 'D');
        message.int16(static_cast<std::uint16_t>(row.size()));
        for (std::size_t i = 0; i < row.size() && !error; ++i) {
            const std::size_t size_at = out.size();
            message.int32(UINT32_MAX);  // NULL
            if (std::holds_alternative<std::monostate>(row[i])) continue;
            const auto written = append_cell(out, columns_[i], formats_[i], row[i]);
            if (!written) error = written.error();
            std::string size;
            append_bits(size, out.size() - size_at - 4, 4);
            out.replace(size_at, 4, size);
        }
    }
    if (error) {
        out.resize(before);
        return *std::move(error);
    }
    rows_.count_ += 1;
    return Done{};
}

EncodedRows RowWriter::take() {
    return std::exchange(rows_, {});
}

}  // namespace baton::pgwire
