#include "adapters/duckdb/values.h"

#include <array>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <utility>

#include <duckdb/common/vector_operations/vector_operations.hpp>

#include "base/text.h"
#include "ports/sql_values.h"

// DuckDB's enumerations are an open set: most of their members concern no switch here.
#pragma GCC diagnostic ignored "-Wswitch-enum"

namespace baton::duckdb_engine {

namespace {

using duckdb::LogicalTypeId;
using duckdb::Value;

constexpr std::int64_t kMonthsOfYear = 12;
constexpr std::int64_t kMicros = 1'000'000;
constexpr std::int64_t kMinute = 60;

std::string text_of(const Value& value);

// "1 year 2 mons -3 days 04:05:06.5", as PostgreSQL writes it by default.
std::string interval_text(const duckdb::interval_t& interval) {
    std::string text;
    bool negative_before = false;
    const auto part = [&](std::int64_t count, const char* unit) {
        if (count == 0) return;
        if (!text.empty()) text += ' ';
        if (negative_before && count > 0) text += '+';
        text += std::to_string(count) + ' ' + unit + (count == 1 ? "" : "s");
        negative_before = count < 0;
    };
    part(interval.months / kMonthsOfYear, "year");
    part(interval.months % kMonthsOfYear, "mon");
    part(interval.days, "day");
    if (interval.micros == 0 && !text.empty()) return text;
    // The smallest number has no positive counterpart.
    const bool negative = interval.micros < 0;
    const std::uint64_t micros = negative ? 0 - static_cast<std::uint64_t>(interval.micros)
                                          : static_cast<std::uint64_t>(interval.micros);
    const std::uint64_t seconds = micros / kMicros;
    std::array<char, 64> digits{};
    std::snprintf(digits.data(), digits.size(), "%s%s%02llu:%02llu:%02llu", text.empty() ? "" : " ",
                  negative          ? "-"
                  : negative_before ? "+"
                                    : "",
                  static_cast<unsigned long long>(seconds / (kMinute * kMinute)),
                  static_cast<unsigned long long>(seconds / kMinute % kMinute),
                  static_cast<unsigned long long>(seconds % kMinute));
    text += digits.data();
    if (const std::uint64_t rest = micros % kMicros; rest != 0) {
        std::string fraction = std::to_string(kMicros + static_cast<std::int64_t>(rest));
        fraction.front() = '.';
        while (fraction.back() == '0') fraction.pop_back();
        text += fraction;
    }
    return text;
}

std::string blob_text(std::string_view bytes) {
    constexpr std::string_view kDigits = "0123456789abcdef";
    std::string text = "\\x";
    text.reserve(2 + 2 * bytes.size());
    for (const char c : bytes) {
        const auto byte = static_cast<unsigned char>(c);
        text += kDigits[byte >> 4U];
        text += kDigits[byte & 0xFU];
    }
    return text;
}

// DuckDB writes years before our era with their mark in parentheses.
void mark_era(std::string& text) {
    constexpr std::string_view kMark = "(BC)";
    if (const std::size_t at = text.rfind(kMark); at != std::string::npos) {
        text.replace(at, kMark.size(), "BC");
    }
}

std::string number_text(double number) {
    if (std::isnan(number)) return "NaN";
    if (std::isinf(number)) return number < 0 ? "-Infinity" : "Infinity";
    std::array<char, 40> digits{};
    const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), number).ptr;
    return {digits.data(), end};
}

std::string real_text(float number) {
    if (!std::isfinite(number)) return number_text(number);
    std::array<char, 40> digits{};
    const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), number).ptr;
    return {digits.data(), end};
}

bool is_nested(LogicalTypeId id) {
    return id == LogicalTypeId::LIST || id == LogicalTypeId::ARRAY || id == LogicalTypeId::STRUCT ||
           id == LogicalTypeId::MAP;
}

bool is_number(LogicalTypeId id) {
    return duckdb::LogicalType(id).IsNumeric() || id == LogicalTypeId::DECIMAL;
}

bool is_list(LogicalTypeId id) {
    return id == LogicalTypeId::LIST || id == LogicalTypeId::ARRAY;
}

const duckdb::vector<Value>& elements_of(const Value& list) {
    return list.type().id() == LogicalTypeId::ARRAY ? duckdb::ArrayValue::GetChildren(list)
                                                    : duckdb::ListValue::GetChildren(list);
}

void append_json(std::string& to, const Value& value);

void append_json_key(std::string& to, const std::string& key) {
    append_json_string(to, key);
    to += ':';
}

void append_json_object(std::string& to, const Value& value) {
    const auto& parts = duckdb::StructValue::GetChildren(value);
    to += '{';
    for (std::size_t i = 0; i < parts.size(); ++i) {
        if (i > 0) to += ',';
        append_json_key(to, duckdb::StructType::GetChildName(value.type(), i));
        append_json(to, parts[i]);
    }
    to += '}';
}

void append_json_map(std::string& to, const Value& value) {
    to += '{';
    bool first = true;
    for (const Value& entry : duckdb::MapValue::GetChildren(value)) {
        const auto& parts = duckdb::StructValue::GetChildren(entry);
        if (!std::exchange(first, false)) to += ',';
        append_json_key(to, text_of(parts[0]));
        append_json(to, parts[1]);
    }
    to += '}';
}

void append_json(std::string& to, const Value& value) {
    const LogicalTypeId id = value.type().id();
    if (value.IsNull()) {
        to += "null";
    } else if (id == LogicalTypeId::STRUCT) {
        append_json_object(to, value);
    } else if (id == LogicalTypeId::MAP) {
        append_json_map(to, value);
    } else if (is_list(id)) {
        to += '[';
        bool first = true;
        for (const Value& element : elements_of(value)) {
            if (!std::exchange(first, false)) to += ',';
            append_json(to, element);
        }
        to += ']';
    } else if (id == LogicalTypeId::BOOLEAN) {
        to += value.GetValue<bool>() ? "true" : "false";
    } else if (value.type().IsJSONType()) {
        to += value.GetValue<std::string>();
    } else if (is_number(id)) {
        const std::string text = text_of(value);
        const bool finite = text != "NaN" && !text.ends_with("Infinity");
        to += finite ? text : '"' + text + '"';
    } else {
        append_json_string(to, text_of(value));
    }
}

// An element of an array is quoted if it could be read as anything else.
void append_element(std::string& to, const std::string& text) {
    const bool plain = !text.empty() &&
                       text.find_first_of("{}\",\\ \t\n\r\v\f") == std::string::npos &&
                       !equal_ignoring_case(text, "null");
    if (plain) {
        to += text;
        return;
    }
    to += '"';
    for (const char c : text) {
        if (c == '"' || c == '\\') to += '\\';
        to += c;
    }
    to += '"';
}

std::string array_text(const Value& value) {
    std::string text = "{";
    for (const Value& element : elements_of(value)) {
        if (text.size() > 1) text += ',';
        if (element.IsNull()) {
            text += "NULL";
        } else if (is_list(element.type().id())) {
            text += array_text(element);
        } else {
            append_element(text, text_of(element));
        }
    }
    return text + '}';
}

std::string text_of(const Value& value) {
    const duckdb::LogicalType& type = value.type();
    std::string text;
    switch (type.id()) {
        case LogicalTypeId::BOOLEAN:
            return value.GetValue<bool>() ? "t" : "f";
        case LogicalTypeId::FLOAT:
            return real_text(value.GetValue<float>());
        case LogicalTypeId::DOUBLE:
            return number_text(value.GetValue<double>());
        case LogicalTypeId::INTERVAL:
            return interval_text(value.GetValue<duckdb::interval_t>());
        case LogicalTypeId::BLOB:
            return blob_text(duckdb::StringValue::Get(value));
        case LogicalTypeId::LIST:
        case LogicalTypeId::ARRAY:
            return array_text(value);
        case LogicalTypeId::STRUCT:
        case LogicalTypeId::MAP:
            append_json(text, value);
            return text;
        case LogicalTypeId::DATE:
        case LogicalTypeId::TIMESTAMP:
        case LogicalTypeId::TIMESTAMP_SEC:
        case LogicalTypeId::TIMESTAMP_MS:
        case LogicalTypeId::TIMESTAMP_NS:
        case LogicalTypeId::TIMESTAMP_TZ:
            text = value.ToString();
            mark_era(text);
            return text;
        default:
            return value.ToString();
    }
}

// One column of a chunk, into one place of each row.
class Column {
public:
    Column(std::span<SqlRow> rows, std::size_t place, duckdb::Vector& vector)
        : rows_(rows), place_(place), vector_(vector) {}

    template <class From, class Convert>
    bool each(Convert convert) {
        vector_.Flatten(rows_.size());
        const auto* values = duckdb::FlatVector::GetData<From>(vector_);
        const auto& valid = duckdb::FlatVector::Validity(vector_);
        for (std::size_t i = 0; i < rows_.size(); ++i) {
            if (valid.RowIsValid(i) && !convert(rows_[i][place_], values[i])) return false;
        }
        return true;
    }

    template <class From>
    bool whole() {
        return each<From>([](SqlValue& to, From number) {
            to = static_cast<std::int64_t>(number);
            return true;
        });
    }

    bool texts() {
        return each<duckdb::string_t>([](SqlValue& to, const duckdb::string_t& text) {
            const std::string_view bytes(text.GetData(), text.GetSize());
            if (!is_plain_text(bytes)) return false;
            to = std::string(bytes);
            return true;
        });
    }

    // By DuckDB's own words, which are PostgreSQL's but for the era.
    bool cast(duckdb::ClientContext& context, bool calendar) {
        duckdb::Vector texts(duckdb::LogicalType::VARCHAR, rows_.size());
        duckdb::VectorOperations::Cast(context, vector_, texts, rows_.size());
        Column column(rows_, place_, texts);
        if (!column.texts()) return false;
        if (!calendar) return true;
        for (SqlRow& row : rows_) {
            auto* text = std::get_if<std::string>(&row[place_]);
            if (text != nullptr && text->ends_with(')')) mark_era(*text);
        }
        return true;
    }

    bool nested() {
        for (std::size_t i = 0; i < rows_.size(); ++i) {
            const Value value = vector_.GetValue(i);
            if (value.IsNull()) continue;
            std::string text = text_of(value);
            if (!is_plain_text(text)) return false;
            rows_[i][place_] = std::move(text);
        }
        return true;
    }

private:
    std::span<SqlRow> rows_;
    std::size_t place_;
    duckdb::Vector& vector_;
};

bool fill(Column column, const duckdb::LogicalType& type, duckdb::ClientContext& context) {
    switch (type.id()) {
        case LogicalTypeId::BOOLEAN:
            return column.whole<bool>();
        case LogicalTypeId::TINYINT:
            return column.whole<std::int8_t>();
        case LogicalTypeId::SMALLINT:
            return column.whole<std::int16_t>();
        case LogicalTypeId::INTEGER:
            return column.whole<std::int32_t>();
        case LogicalTypeId::BIGINT:
            return column.whole<std::int64_t>();
        case LogicalTypeId::UTINYINT:
            return column.whole<std::uint8_t>();
        case LogicalTypeId::USMALLINT:
            return column.whole<std::uint16_t>();
        case LogicalTypeId::UINTEGER:
            return column.whole<std::uint32_t>();
        case LogicalTypeId::FLOAT:
            return column.each<float>([](SqlValue& to, float number) {
                to = static_cast<double>(number);
                return true;
            });
        case LogicalTypeId::DOUBLE:
            return column.each<double>([](SqlValue& to, double number) {
                to = number;
                return true;
            });
        case LogicalTypeId::VARCHAR:
            return column.texts();
        case LogicalTypeId::BLOB:
            return column.each<duckdb::string_t>([](SqlValue& to, const duckdb::string_t& bytes) {
                to = blob_text({bytes.GetData(), bytes.GetSize()});
                return true;
            });
        case LogicalTypeId::INTERVAL:
            return column.each<duckdb::interval_t>(
                [](SqlValue& to, const duckdb::interval_t& interval) {
                    to = interval_text(interval);
                    return true;
                });
        default:
            if (is_nested(type.id())) return column.nested();
            return column.cast(context, type.IsTemporal());
    }
}

}  // namespace

Result<Done> append_rows(std::vector<SqlRow>& rows, duckdb::ClientContext& context,
                         duckdb::DataChunk& chunk, const duckdb::vector<duckdb::string>& names) {
    const std::size_t before = rows.size();
    const std::size_t columns = chunk.ColumnCount();
    rows.resize(before + chunk.size());
    const std::span<SqlRow> added(rows.data() + before, chunk.size());
    for (SqlRow& row : added) row.resize(columns);
    for (std::size_t i = 0; i < columns; ++i) {
        if (fill(Column(added, i, chunk.data[i]), chunk.data[i].GetType(), context)) continue;
        return Error{.code = ErrorCode::cannot_convert,
                     .message = "cannot show column " + in_quotes(names[i]) +
                                ": a text of it is not UTF-8, or has the character NUL"};
    }
    return Done{};
}

}  // namespace baton::duckdb_engine
