// A Role is the set of statements that a user may run. Each role includes the roles before it; the
// table of statements (sql/vocabulary.h) says which role each statement needs.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

namespace baton {

enum class Role : std::uint8_t {
    reader,  // reads the catalog, and sources that are declared
    writer,  // sources, also inline ones, sinks, queries; files with the right to them
    admin,   // workers
};

inline constexpr std::array<std::string_view, 3> kRoleNames = {"reader", "writer", "admin"};

[[nodiscard]] constexpr std::string_view to_string(Role role) {
    return kRoleNames.at(static_cast<std::size_t>(role));
}

[[nodiscard]] constexpr std::optional<Role> role_of(std::string_view name) {
    for (std::size_t i = 0; i < kRoleNames.size(); ++i) {
        if (kRoleNames.at(i) == name) return static_cast<Role>(i);
    }
    return std::nullopt;
}

}  // namespace baton
