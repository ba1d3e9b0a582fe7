// Reading and writing the nodes of a tree as json_serialize_sql of DuckDB 1.4.4 writes them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/error.h"
#include "core/json/json.h"

namespace baton::questions {

// The limits of trees, for json::parse().
[[nodiscard]] json::Limits tree_limits();

// Empty if there is no such text.
[[nodiscard]] std::string_view text_of(const json::Value& object, std::string_view key);
[[nodiscard]] bool is_true(const json::Value& object, std::string_view key);
// null, false, "", [] and {}: a node without what the key is for.
[[nodiscard]] bool is_nothing(const json::Value& value);
[[nodiscard]] bool is_nothing(const json::Value& object, std::string_view key);
// None: the value is no list. The key has to be there.
[[nodiscard]] json::Array* list_of(json::Value& object, std::string_view key);
[[nodiscard]] const json::Array* list_of(const json::Value& object, std::string_view key);
void set(json::Value& object, std::string_view key, json::Value value);

// Where the node stands in the text.
[[nodiscard]] std::optional<std::uint32_t> offset_of(const json::Value& node);
// The place of an offset, with its line and column.
[[nodiscard]] Position position_at(std::string_view text, std::uint32_t offset);

// Nodes.
[[nodiscard]] json::Value text_constant(std::string value, std::string alias,
                                        const json::Value* at);

}  // namespace baton::questions
