#include "core/questions/column_names.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/text.h"
#include "core/questions/tree.h"

namespace baton::questions {

namespace {

constexpr std::string_view kNoName = "?column?";

using Word = std::pair<std::string_view, std::string_view>;

// The names of types as PostgreSQL's catalog has them.
constexpr std::array<Word, 13> kTypes = {{{"BIGINT", "int8"},
                                          {"BLOB", "bytea"},
                                          {"BOOLEAN", "bool"},
                                          {"DECIMAL", "numeric"},
                                          {"DOUBLE", "float8"},
                                          {"FLOAT", "float4"},
                                          {"INTEGER", "int4"},
                                          {"SMALLINT", "int2"},
                                          {"TIMESTAMP WITH TIME ZONE", "timestamptz"},
                                          {"TIMESTAMP_TZ", "timestamptz"},
                                          {"TIME WITH TIME ZONE", "timetz"},
                                          {"TINYINT", "int2"},
                                          {"VARCHAR", "text"}}};

// Where the parser has another name than the client wrote.
constexpr std::array<Word, 4> kFunctions = {{{"array_agg", "array_agg"},
                                             {"count_star", "count"},
                                             {"list_value", "array"},
                                             {"struct_extract", kNoName}}};

template <std::size_t N>
std::string renamed(const std::array<Word, N>& words, std::string_view name) {
    const auto* const found = std::find_if(words.begin(), words.end(),
                                           [&](const Word& word) { return word.first == name; });
    return found == words.end() ? to_lower(name) : std::string(found->second);
}

std::optional<std::string> name_of(const json::Value& node, int depth);

// The name of the only column of a query within.
std::string subquery_name(const json::Value& node, int depth) {
    if (text_of(node, "subquery_type") == "EXISTS") return "exists";
    if (text_of(node, "subquery_type") != "SCALAR") return std::string(kNoName);
    const json::Value* statement = json::find(node, "subquery");
    const json::Value* query = statement == nullptr ? nullptr : json::find(*statement, "node");
    const json::Array* list = query == nullptr ? nullptr : list_of(*query, "select_list");
    if (list == nullptr || list->size() != 1) return std::string(kNoName);
    const json::Value& column = list->front();
    if (const auto alias = text_of(column, "alias"); !alias.empty()) return std::string(alias);
    return name_of(column, depth + 1).value_or(std::string(kNoName));
}

std::optional<std::string> inner_name(const json::Value& node, std::string_view key, int depth) {
    const json::Value* inner = json::find(node, key);
    if (inner == nullptr) return std::nullopt;
    return name_of(*inner, depth + 1);
}

std::string cast_name(const json::Value& node, int depth) {
    const auto inner = inner_name(node, "child", depth);
    if (inner && *inner != kNoName) return *inner;
    const json::Value* type = json::find(node, "cast_type");
    const std::string_view id = type == nullptr ? "" : text_of(*type, "id");
    return id.empty() ? std::string(kNoName) : renamed(kTypes, id);
}

// None: it has a name by itself.
std::optional<std::string> name_of(const json::Value& node, int depth) {
    constexpr int kDepthMax = 100;
    const std::string_view kind = text_of(node, "class");
    if (depth > kDepthMax) return std::string(kNoName);
    if (kind == "COLUMN_REF") {
        if (depth == 0) return std::nullopt;
        const json::Array* names = list_of(node, "column_names");
        const auto* last = names == nullptr || names->empty()
                               ? nullptr
                               : std::get_if<std::string>(&names->back().value);
        return last == nullptr ? std::string(kNoName) : *last;
    }
    if (kind == "STAR") return std::nullopt;
    if (kind == "FUNCTION" || kind == "WINDOW") {
        if (is_true(node, "is_operator")) return std::string(kNoName);
        const std::string_view name = text_of(node, "function_name");
        const bool word = !name.empty() && (name[0] == '_' || (name[0] >= 'a' && name[0] <= 'z'));
        return word ? renamed(kFunctions, name) : std::string(kNoName);
    }
    if (kind == "CAST") return cast_name(node, depth);
    if (kind == "SUBQUERY") return subquery_name(node, depth);
    if (kind == "COLLATE") return inner_name(node, "child", depth);
    if (kind == "CASE") {
        const auto otherwise = inner_name(node, "else_expr", depth);
        return otherwise && *otherwise != kNoName ? *otherwise : "case";
    }
    if (kind == "OPERATOR") {
        const std::string_view type = text_of(node, "type");
        if (type == "OPERATOR_COALESCE") return "coalesce";
        if (type == "OPERATOR_NULLIF") return "nullif";
        if (type == "ARRAY_CONSTRUCTOR") return "array";
    }
    return std::string(kNoName);
}

// Whether its columns are as many as the expression's results, or fewer: columns(*), unnest of a
// structure.
bool spreads(const json::Value& node) {
    return text_of(node, "function_name") == "unnest";
}

}  // namespace

void name_columns(json::Value& tree) {
    constexpr int kUnionsMax = 1'000;
    json::Value* query = json::find(tree, "node");
    for (int i = 0; query != nullptr && i < kUnionsMax; ++i) {
        if (text_of(*query, "type") != "SET_OPERATION_NODE") break;
        query = json::find(*query, "left");
    }
    if (query == nullptr || text_of(*query, "type") != "SELECT_NODE") return;
    json::Array* list = list_of(*query, "select_list");
    if (list == nullptr) return;
    for (json::Value& column : *list) {
        if (!text_of(column, "alias").empty()) continue;
        if (spreads(column)) continue;
        if (auto name = name_of(column, 0)) set(column, "alias", {*std::move(name)});
    }
}

}  // namespace baton::questions
