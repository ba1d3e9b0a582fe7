// New nodes of a tree, in the form of DuckDB's serializer.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "core/json/json.h"

namespace baton::questions {

[[nodiscard]] json::Value column_node(std::string name, std::string alias);
[[nodiscard]] json::Value number_node(std::uint64_t number);
[[nodiscard]] json::Value function_node(std::string name, json::Array arguments);
[[nodiscard]] json::Value or_zero_node(json::Value number);  // coalesce(number, 0)
[[nodiscard]] json::Value cast_node(json::Value child, std::string type);
[[nodiscard]] json::Value table_node(std::string name);
[[nodiscard]] json::Value distinct_node();  // a modifier
[[nodiscard]] json::Value select_node(json::Array list, json::Value from);
[[nodiscard]] json::Value statement_node(json::Value node);

}  // namespace baton::questions
