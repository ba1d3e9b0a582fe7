#include "doors/pg/wire/values.h"

#include <bit>
#include <charconv>
#include <cmath>
#include <limits>
#include <utility>

#include "base/check.h"
#include "base/overload.h"
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
    if (type == ColumnType::int32) {
        const auto number = signed_of(value);
        if (!number || !std::in_range<std::int32_t>(*number)) return false;
        binary ? append_bits(out, static_cast<std::uint64_t>(*number), 4)
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
        }
        CHECK(false);
    };
    return static_cast<TypeId>(known());
}

std::int16_t size_of(ColumnType type) {
    switch (type) {
        case ColumnType::boolean:
            return 1;
        case ColumnType::int32:
        case ColumnType::float32:
            return 4;
        case ColumnType::integer:
        case ColumnType::float64:
        case ColumnType::time:
            return 8;
        case ColumnType::text:
        case ColumnType::unsigned_integer:
        case ColumnType::json:
            return -1;
    }
    CHECK(false);
}

Result<Done> append_cell(std::string& out, ColumnType type, Format format, const Value& value) {
    const std::size_t before = out.size();
    if (!std::holds_alternative<std::monostate>(value) && appended(out, type, format, value)) {
        return Done{};
    }
    out.resize(before);
    return unfit(type, value);
}

// ---- rows ---------------------------------------------------------------------------------------

RowWriter::RowWriter(std::span<const Column> columns, std::vector<Format> formats)
    : formats_(std::move(formats)) {
    for (const Column& column : columns) types_.push_back(column.type);
    if (formats_.empty()) formats_.assign(types_.size(), Format::text);
    CHECK(formats_.size() == types_.size());
}

Result<Done> RowWriter::append(std::span<const Value> row) {
    CHECK(row.size() == types_.size());
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
            const auto written = append_cell(out, types_[i], formats_[i], row[i]);
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
