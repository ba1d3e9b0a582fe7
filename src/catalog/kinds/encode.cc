#include "catalog/kinds/encode.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdio>

#include <nlohmann/json.hpp>

#include "base/overload.h"
#include "base/text.h"

namespace baton::kinds {

namespace {

Error damaged(const std::string& what) {
    return Error{.code = ErrorCode::catalog_corrupt,
                 .message = "the catalog holds a damaged " + what,
                 .hint = "run `baton check` on the catalog"};
}

std::string number_text(double value) {
    std::array<char, 40> text{};
    const auto [end, problem] = std::to_chars(text.data(), text.data() + text.size(), value);
    std::string result(text.data(), end);
    // A number without a point or an exponent would be read back as an integer.
    if (result.find_first_of(".eEn") == std::string::npos) result += ".0";
    return result;
}

}  // namespace

std::string json_string(std::string_view text) {
    std::string result;
    append_json_string(result, text);
    return result;
}

std::string to_json(const Schema& schema) {
    std::string text = "[";
    for (const Column& column : schema.columns) {
        if (text.size() > 1) text += ',';
        append_json_string(text, column.name);
        text.pop_back();  // the quote: names and types need no escape together
        text += ' ';
        text += to_string(column.type);
        if (!column.nullable) text += " NOT NULL";
        text += '"';
    }
    text += ']';
    return text;
}

Result<Schema> schema_from_json(const std::string& text) {
    constexpr std::string_view kNotNull = " NOT NULL";
    const auto json = nlohmann::json::parse(text, nullptr, false);
    if (!json.is_array()) return damaged("schema: " + text);
    Schema schema;
    for (const auto& item : json) {
        if (!item.is_string()) return damaged("schema: " + text);
        std::string entry = item.get<std::string>();
        Column column;
        if (entry.ends_with(kNotNull)) {
            column.nullable = false;
            entry.resize(entry.size() - kNotNull.size());
        }
        const std::size_t space = entry.rfind(' ');
        if (space == std::string::npos) return damaged("schema: " + text);
        const auto type = data_type_of(std::string_view(entry).substr(space + 1));
        if (!type) return damaged("schema: " + text);
        column.type = *type;
        column.name = entry.substr(0, space);
        schema.columns.push_back(std::move(column));
    }
    return schema;
}

std::string to_json(const SqlColumns& columns) {
    std::string text = "[";
    for (const SqlField& column : columns) {
        text += text.size() > 1 ? ",{\"name\":" : "{\"name\":";
        append_json_string(text, column.name);
        text += ",\"type\":";
        append_json_string(text, to_string(column.type));
        text += column.nullable ? ",\"nullable\":true}" : ",\"nullable\":false}";
    }
    text += ']';
    return text;
}

Result<SqlColumns> sql_columns_from_json(const std::string& text) {
    const auto json = nlohmann::json::parse(text, nullptr, false);
    const auto refused = [&] { return damaged("list of columns: " + text); };
    if (!json.is_array()) return refused();
    SqlColumns columns;
    for (const auto& item : json) {
        if (!item.is_object() || !item.contains("name") || !item["name"].is_string() ||
            !item.contains("type") || !item["type"].is_string() || !item.contains("nullable") ||
            !item["nullable"].is_boolean()) {
            return refused();
        }
        auto type = table_type_of(item["type"].get<std::string>());
        if (!type) return refused();
        columns.push_back({.name = item["name"].get<std::string>(),
                           .type = *std::move(type),
                           .nullable = item["nullable"].get<bool>()});
    }
    return columns;
}

std::string to_json(const Config& config) {
    std::string text = "{";
    for (const auto& [key, value] : config) {
        if (text.size() > 1) text += ',';
        append_json_string(text, key);
        text += ':';
        std::visit(Overload{
                       [&](bool v) { text += v ? "true" : "false"; },
                       [&](std::int64_t v) { text += std::to_string(v); },
                       [&](double v) { text += number_text(v); },
                       [&](const std::string& v) { append_json_string(text, v); },
                   },
                   value);
    }
    text += '}';
    return text;
}

Result<Config> config_from_json(const std::string& text) {
    const auto json = nlohmann::json::parse(text, nullptr, false);
    if (!json.is_object()) return damaged("configuration");  // the text may hold secrets
    Config config;
    for (const auto& [key, value] : json.items()) {
        if (value.is_boolean()) {
            config[key] = value.get<bool>();
        } else if (value.is_number_integer()) {
            config[key] = value.get<std::int64_t>();
        } else if (value.is_number()) {
            config[key] = value.get<double>();
        } else if (value.is_string()) {
            config[key] = value.get<std::string>();
        } else {
            return damaged("configuration");
        }
    }
    return config;
}

std::string to_json(const std::vector<std::string>& texts) {
    std::string json = "[";
    for (const std::string& text : texts) {
        if (json.size() > 1) json += ',';
        append_json_string(json, text);
    }
    json += ']';
    return json;
}

Result<std::vector<std::string>> texts_from_json(const std::string& text) {
    if (text == "[]") return std::vector<std::string>();
    const auto json = nlohmann::json::parse(text, nullptr, false);
    if (!json.is_array()) return damaged("list: " + text);
    std::vector<std::string> texts;
    for (const auto& item : json) {
        if (!item.is_string()) return damaged("list: " + text);
        texts.push_back(item.get<std::string>());
    }
    return texts;
}

std::string fingerprint(std::string_view text) {
    constexpr std::uint64_t kPrime = 0x100000001b3ULL;
    const auto hash = [&](std::uint64_t state) {
        for (const char c : text) state = (state ^ static_cast<unsigned char>(c)) * kPrime;
        state = (state ^ (state >> 30U)) * 0xbf58476d1ce4e5b9ULL;
        return state ^ (state >> 31U);
    };
    std::array<char, 40> digits{};
    (void)std::snprintf(digits.data(), digits.size(), "%016llx%016llx",
                        static_cast<unsigned long long>(hash(0xcbf29ce484222325ULL)),
                        static_cast<unsigned long long>(hash(0x9e3779b97f4a7c15ULL)));
    return digits.data();
}

std::string plan_fingerprint(const std::string& plan, WallTime created) {
    return fingerprint(to_string(created) + " " + plan);
}

}  // namespace baton::kinds
