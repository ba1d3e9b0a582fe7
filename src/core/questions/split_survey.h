// The parts of split() that only look: reasons against it, and kinds of nodes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "core/json/json.h"
#include "core/questions/split.h"

namespace baton::questions {

// The mentions of a tree in which no node stands against a split.
[[nodiscard]] std::variant<std::vector<const json::Value*>, Whole> surveyed(json::Value& tree);

// A row of the join is of one row of the shared table: no outer join extends it.
[[nodiscard]] bool drives(const json::Value& table, const json::Value* shared);
// Why the modifiers cannot be split; empty: they can.
[[nodiscard]] std::string trouble_with(const json::Array& modifiers);
[[nodiscard]] bool is_distinct(const json::Array& modifiers);

[[nodiscard]] bool same(const json::Value& a, const json::Value& b);  // but for places and aliases
[[nodiscard]] std::optional<std::string> bare_name(const json::Value& node);  // in lower case
[[nodiscard]] std::optional<std::uint64_t> whole_literal(const json::Value& node);
[[nodiscard]] bool is_aggregate(const json::Value& node);
[[nodiscard]] bool has_aggregate(const json::Value& value);  // in any node below, too

}  // namespace baton::questions
