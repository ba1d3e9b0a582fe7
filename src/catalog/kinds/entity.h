// Entity is a kind of thing that the catalog holds and whose changes are in its feed.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace baton::kinds {

enum class Entity : std::uint8_t {
    worker,
    link,
    logical_source,
    physical_source,
    sink,
    query,
    fragment,
    task_list,
    partition,
    table,
};

// As the feed names them, in the order of the enumerators.
inline constexpr std::array<std::string_view, 10> kEntityWords = {
    "worker", "link",     "logical_source", "physical_source", "sink",
    "query",  "fragment", "task_list",      "partition",       "table"};
inline constexpr std::size_t kEntityCount = kEntityWords.size();
static_assert(static_cast<std::size_t>(Entity::table) + 1 == kEntityCount);

[[nodiscard]] constexpr std::string_view to_string(Entity entity) {
    return kEntityWords.at(static_cast<std::size_t>(entity));
}

[[nodiscard]] constexpr std::optional<Entity> entity_of(std::string_view word) {
    for (std::size_t i = 0; i < kEntityCount; ++i) {
        if (kEntityWords.at(i) == word) return static_cast<Entity>(i);
    }
    return std::nullopt;
}

}  // namespace baton::kinds
