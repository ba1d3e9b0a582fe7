#include "core/tables/statistics.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <utility>

#include "base/overload.h"
#include "base/utf8.h"
#include "core/json/json.h"
#include "core/tables/values.h"

namespace baton::tables {

namespace {

using Kind = SqlType::Kind;

constexpr std::size_t kStatisticsBytesMax = 4ULL << 20U;
constexpr std::size_t kStatisticsDepthMax = 32;
constexpr std::size_t kTextBytesMax = 1'000;  // of one value
constexpr std::size_t kExactDigitsMax = 15;   // of a number with a point, in JSON
constexpr std::size_t kMillisecondsEnd = 23;  // of 2026-11-15T09:46:16.123456Z

bool is_timestamp(const SqlType& type) {
    return type.kind == Kind::timestamp || type.kind == Kind::timestamptz;
}

bool has_range(const SqlType& type) {
    return order_of(type) != Order::none && type.kind != Kind::boolean;
}

// The engines that read JSON take a number with a point as a DOUBLE.
bool is_exact_in_json(const SqlType& type, std::string_view text) {
    if (type.kind != Kind::decimal || type.scale == 0) return true;
    return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char c) {
               return c >= '0' && c <= '9';
           })) <= kExactDigitsMax;
}

template <class Number>
std::string fixed_text(Number number) {
    std::array<char, 400> digits{};
    const auto result = std::to_chars(digits.data(), digits.data() + digits.size(), number,
                                      std::chars_format::fixed);
    return {digits.data(), result.ptr};
}

// A value of the log in the text of values.h; none if it is none of this type.
std::optional<std::string> value_text(const SqlType& type, const json::Value& value) {
    const Order order = order_of(type);
    std::string text;
    const bool known =
        std::visit(Overload{
                       [&](std::monostate) { return false; },
                       [&](bool) { return false; },
                       [&](std::int64_t number) {
                           text = std::to_string(number);
                           return order != Order::text;
                       },
                       [&](std::uint64_t number) {
                           text = std::to_string(number);
                           return order != Order::text;
                       },
                       [&](double number) {
                           text = fixed_text(number);
                           return order == Order::floating ||
                                  (type.kind == Kind::decimal && is_exact_in_json(type, text));
                       },
                       [&](const std::string& words) {
                           text = words;
                           const bool number = order == Order::whole && type.kind != Kind::date &&
                                               !is_timestamp(type);
                           return !number && text.size() <= kTextBytesMax && is_valid_utf8(text);
                       },
                       [&](const json::Array&) { return false; },
                       [&](const json::Object&) { return false; },
                   },
                   value.value);
    if (!known) return std::nullopt;
    if (order == Order::text) return text;
    if (order == Order::floating) {
        const auto number = floating_of(type, text);
        return number ? std::optional(floating_text(type, *number)) : std::nullopt;
    }
    const auto number = whole_of(type, text);
    return number ? std::optional(whole_text(type, *number)) : std::nullopt;
}

json::Value value_json(const SqlType& type, const std::string& text) {
    if (order_of(type) == Order::text || type.kind == Kind::date) return {text};
    if (is_timestamp(type)) return {text.substr(0, kMillisecondsEnd) + "Z"};
    if (order_of(type) == Order::floating) {
        const auto number = floating_of(type, text);
        CHECK(number);
        if (std::isinf(*number)) return {text};
        // A REAL by its own digits: as a DOUBLE it would have many more.
        double value = 0;
        std::from_chars(text.data(), text.data() + text.size(), value);
        return {value};
    }
    if (type.kind == Kind::decimal && type.scale > 0) {
        double value = 0;
        std::from_chars(text.data(), text.data() + text.size(), value);
        return {value};
    }
    const auto number = whole_of(type, text);
    CHECK(number);
    return {*number};
}

std::optional<std::string> normalised_value(const SqlType& type, const std::string& text,
                                            bool is_max) {
    if (!has_range(type)) return std::nullopt;
    if (order_of(type) == Order::text) {
        if (!is_valid_utf8(text)) return std::nullopt;
        return is_max ? shortened_max(text) : shortened_min(text);
    }
    if (order_of(type) == Order::floating) {
        const auto number = floating_of(type, text);
        return number ? std::optional(floating_text(type, *number)) : std::nullopt;
    }
    auto number = whole_of(type, text);
    if (!number) return std::nullopt;
    if (is_timestamp(type)) {
        constexpr std::int64_t kMillisecond = 1'000;
        const std::int64_t part = ((*number % kMillisecond) + kMillisecond) % kMillisecond;
        *number -= part;
        if (is_max && part != 0) *number += kMillisecond;
    }
    const std::string exact = whole_text(type, *number);
    if (is_timestamp(type) && whole_of(type, exact) != number) return std::nullopt;  // year 10000
    return is_exact_in_json(type, exact) ? std::optional(exact) : std::nullopt;
}

std::optional<std::uint64_t> count_of(const json::Value* value) {
    if (value == nullptr) return std::nullopt;
    const auto* count = std::get_if<std::uint64_t>(&value->value);
    return count == nullptr ? std::nullopt : std::optional(*count);
}

}  // namespace

std::string statistics_text(const TableObject& object, const Layout& layout) {
    json::Object mins;
    json::Object maxs;
    json::Object nulls;
    for (const SqlField& column : layout.columns) {
        const auto range = object.ranges.find(column.name);
        if (range == object.ranges.end()) continue;
        const auto put = [&](json::Object& to, const std::optional<std::string>& text) {
            if (!text) return;
            to.push_back({.key = column.name, .value = value_json(column.type, *text)});
        };
        put(mins, range->second.min);
        put(maxs, range->second.max);
        if (range->second.nulls) {
            nulls.push_back({.key = column.name, .value = {*range->second.nulls}});
        }
    }
    json::Object all;
    if (object.rows) all.push_back({.key = "numRecords", .value = {*object.rows}});
    const auto put = [&](const char* key, json::Object& values) {
        if (!values.empty()) all.push_back({.key = key, .value = {std::move(values)}});
    };
    put("minValues", mins);
    put("maxValues", maxs);
    put("nullCount", nulls);
    return json::to_text({std::move(all)});
}

void read_statistics(std::string_view text, const Layout& layout, TableObject& into) {
    const Result<json::Value> read = json::parse(text, {.bytes = kStatisticsBytesMax,
                                                        .depth = kStatisticsDepthMax,
                                                        .damaged = ErrorCode::damaged_table});
    if (!read) return;
    into.rows = count_of(json::find(*read, "numRecords"));
    // Without tight bounds null counts are those of the file before rows were deleted from it.
    const json::Value* tight = json::find(*read, "tightBounds");
    const bool exact = tight == nullptr || *tight == json::Value{true};
    const json::Value* const mins = json::find(*read, "minValues");
    const json::Value* const maxs = json::find(*read, "maxValues");
    const json::Value* const nulls = json::find(*read, "nullCount");
    for (const SqlField& column : layout.columns) {
        if (layout.is_partition(column.name)) continue;
        const auto value_in = [&](const json::Value* values) -> std::optional<std::string> {
            const json::Value* value =
                values == nullptr ? nullptr : json::find(*values, column.name);
            if (value == nullptr || !has_range(column.type)) return std::nullopt;
            return value_text(column.type, *value);
        };
        TableObject::Range range{.min = value_in(mins), .max = value_in(maxs)};
        if (nulls != nullptr && exact) range.nulls = count_of(json::find(*nulls, column.name));
        if (range != TableObject::Range{}) into.ranges.emplace(column.name, std::move(range));
    }
}

TableObject normalised(TableObject object, const Layout& layout) {
    std::map<std::string, TableObject::Range> ranges;
    for (const auto& [name, range] : object.ranges) {
        const SqlField* column = layout.find(name);
        if (column == nullptr || layout.is_partition(name)) continue;
        TableObject::Range kept{.nulls = range.nulls};
        if (range.min) kept.min = normalised_value(column->type, *range.min, false);
        if (range.max) kept.max = normalised_value(column->type, *range.max, true);
        if (kept != TableObject::Range{}) ranges.emplace(name, std::move(kept));
    }
    object.ranges = std::move(ranges);
    for (auto& [name, value] : object.partition) {
        const SqlField* column = layout.find(name);
        if (column == nullptr || !value || order_of(column->type) != Order::whole) continue;
        if (const auto number = whole_of(column->type, *value)) {
            value = whole_text(column->type, *number);
        }
    }
    object.modified = std::chrono::floor<std::chrono::milliseconds>(object.modified);
    return object;
}

}  // namespace baton::tables
