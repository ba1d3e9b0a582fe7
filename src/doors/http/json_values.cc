#include "doors/http/json_values.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

#include "base/overload.h"
#include "base/text.h"

namespace baton::http {

namespace {

constexpr std::int64_t kExactMax = std::int64_t{1} << 53U;

void append_integer(std::string& to, std::int64_t number) {
    const bool exact = number >= -kExactMax && number <= kExactMax;
    if (!exact) to += '"';
    to += std::to_string(number);
    if (!exact) to += '"';
}

void append_real(std::string& to, double number, bool single) {
    if (std::isnan(number)) {
        to += "\"NaN\"";
    } else if (std::isinf(number)) {
        to += number > 0 ? "\"Infinity\"" : "\"-Infinity\"";
    } else {
        std::array<char, 64> digits{};
        char* const end = digits.data() + digits.size();
        const auto written = single ? std::to_chars(digits.data(), end, static_cast<float>(number))
                                    : std::to_chars(digits.data(), end, number);
        to.append(digits.data(), written.ptr);
    }
}

std::string member_name(const std::string& column) {
    const bool has_small =
        std::any_of(column.begin(), column.end(), [](char c) { return c >= 'a' && c <= 'z'; });
    if (has_small) return column;
    std::string name = column;
    for (char& c : name) {
        if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    }
    return name;
}

void append_table(std::string& to, const views::Table& table) {
    to += ",\"columns\":";
    append_columns(to, table.columns);
    to += ",\"rows\":[";
    for (const SqlRow& row : table.rows) {
        if (&row != &table.rows.front()) to += ',';
        append_array(to, row, table.columns);
    }
    to += ']';
}

}  // namespace

std::string_view to_string(kinds::ViewType type) {
    switch (type) {
        case kinds::ViewType::text:
            return "text";
        case kinds::ViewType::integer:
            return "integer";
        case kinds::ViewType::boolean:
            return "boolean";
        case kinds::ViewType::time:
            return "time";
        case kinds::ViewType::json:
            return "json";
        case kinds::ViewType::unsigned_integer:
            return "unsigned";
        case kinds::ViewType::float32:
            return "float32";
        case kinds::ViewType::float64:
            return "float64";
    }
    return "text";
}

void append_value(std::string& to, const SqlValue& value, kinds::ViewType type) {
    std::visit(
        Overload{
            [&](std::monostate) { to += "null"; },
            [&](std::int64_t number) {
                if (type == kinds::ViewType::boolean) {
                    to += number != 0 ? "true" : "false";
                } else {
                    append_integer(to, number);
                }
            },
            [&](double number) { append_real(to, number, type == kinds::ViewType::float32); },
            [&](const std::string& text) {
                if (type == kinds::ViewType::json && !text.empty()) {
                    to += text;
                } else {
                    append_json_string(to, text);
                }
            },
        },
        value);
}

void append_columns(std::string& to, const std::vector<views::TableColumn>& columns) {
    to += '[';
    for (const views::TableColumn& column : columns) {
        if (&column != &columns.front()) to += ',';
        to += "{\"name\":";
        append_json_string(to, column.name);
        to += ",\"type\":\"" + std::string(to_string(column.type)) + "\"}";
    }
    to += ']';
}

void append_array(std::string& to, const SqlRow& row,
                  const std::vector<views::TableColumn>& columns) {
    to += '[';
    for (std::size_t i = 0; i < row.size(); ++i) {
        if (i > 0) to += ',';
        append_value(to, row[i], columns[i].type);
    }
    to += ']';
}

void append_object(std::string& to, const SqlRow& row,
                   const std::vector<views::TableColumn>& columns) {
    to += '{';
    for (std::size_t i = 0; i < row.size(); ++i) {
        if (i > 0) to += ',';
        append_json_string(to, member_name(columns[i].name));
        to += ':';
        append_value(to, row[i], columns[i].type);
    }
    to += '}';
}

void append_result(std::string& to, const coordinator::StatementResult& result) {
    to += "{\"tag\":";
    append_json_string(to, result.tag);
    if (const auto* answer = std::get_if<catalog::Answer>(&result.value)) {
        if (!answer->name.empty()) {
            to += ",\"name\":";
            append_json_string(to, answer->name);
        }
        if (answer->id) {
            to += ",\"id\":";
            append_integer(to, static_cast<std::int64_t>(*answer->id));
        }
        const bool changed =
            answer->did == catalog::Did::created || answer->did == catalog::Did::dropped ||
            answer->did == catalog::Did::accepted || answer->did == catalog::Did::changed;
        to += changed ? ",\"changed\":true" : ",\"changed\":false";
    }
    if (const auto* table = std::get_if<views::Table>(&result.value)) {
        append_table(to, *table);
        if (table->stale) {
            const auto age =
                std::chrono::duration_cast<std::chrono::milliseconds>(table->stale->age);
            to += ",\"stale\":{\"revision\":" + to_string(table->stale->revision) +
                  ",\"age_ms\":" + std::to_string(age.count()) + "}";
        }
    }
    if (result.revision) to += ",\"revision\":" + to_string(*result.revision);
    to += '}';
}

}  // namespace baton::http
