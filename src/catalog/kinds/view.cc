#include "catalog/kinds/view.h"

#include <algorithm>
#include <array>
#include <charconv>

#include <nlohmann/json.hpp>

#include "base/check.h"
#include "base/overload.h"
#include "base/text.h"

namespace baton::kinds {

std::size_t View::own_columns() const {
    return static_cast<std::size_t>(
        std::count_if(columns.begin(), columns.end(), [](const auto& c) { return !c.derived; }));
}

std::optional<std::size_t> View::column(std::string_view column_name) const {
    for (std::size_t i = 0; i < columns.size(); ++i) {
        if (columns[i].name == column_name) return i;
    }
    return std::nullopt;
}

namespace {

// The shortest that is read back as the same number.
std::string number_text(double value, ViewType type) {
    std::array<char, 32> text{};
    char* const end = text.data() + text.size();
    const auto written = type == ViewType::float32
                             ? std::to_chars(text.data(), end, static_cast<float>(value))
                             : std::to_chars(text.data(), end, value);
    return {text.data(), written.ptr};
}

}  // namespace

std::string shown(const SqlValue& value, ViewType type) {
    return std::visit(Overload{
                          [](std::monostate) { return std::string(); },
                          [&](std::int64_t v) -> std::string {
                              if (type == ViewType::boolean) return v != 0 ? "true" : "false";
                              return std::to_string(v);
                          },
                          [&](double v) { return number_text(v, type); },
                          [](const std::string& v) { return v; },
                      },
                      value);
}

std::string key_of(const View& view, const SqlRow& row) {
    std::string key;
    for (std::size_t i = 0; i < view.key_columns; ++i) {
        if (i > 0) key += " -> ";
        key += shown(row.at(i), view.columns.at(i).type);
    }
    return key;
}

std::string row_to_json(const View& view, const SqlRow& row) {
    CHECK(row.size() <= view.columns.size());
    std::string text = "{";
    for (std::size_t i = 0; i < row.size(); ++i) {
        if (i > 0) text += ',';
        const ViewColumn& column = view.columns[i];
        text += '"';
        text += column.name;
        text += "\":";
        if (std::holds_alternative<std::monostate>(row[i])) {
            text += "null";
        } else if (const auto* string = std::get_if<std::string>(&row[i])) {
            if (column.type == ViewType::json) {
                text += *string;
            } else {
                append_json_string(text, *string);
            }
        } else {
            text += shown(row[i], column.type);
        }
    }
    text += '}';
    return text;
}

Result<SqlRow> row_from_json(const View& view, const std::string& text) {
    const auto parsed = nlohmann::json::parse(text, nullptr, false);
    if (!parsed.is_object()) {
        return Error{.code = ErrorCode::catalog_corrupt,
                     .message = "the change feed holds a damaged row: " + text,
                     .hint = "run `baton check` on the catalog"};
    }
    SqlRow row;
    for (const ViewColumn& column : view.columns) {
        const auto found = parsed.find(std::string(column.name));
        if (column.derived) break;
        if (found == parsed.end() || found->is_null()) {
            row.emplace_back(std::monostate{});
        } else if (found->is_boolean()) {
            row.emplace_back(std::int64_t{found->get<bool>() ? 1 : 0});
        } else if (found->is_number_integer()) {
            row.emplace_back(found->get<std::int64_t>());
        } else if (found->is_string()) {
            row.emplace_back(found->get<std::string>());
        } else {
            row.emplace_back(found->dump());
        }
    }
    return row;
}

}  // namespace baton::kinds
