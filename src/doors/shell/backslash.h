// The commands of the shell itself, which begin with a backslash.
//
// Pure: they are only read here.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "base/result.h"
#include "doors/shell/render.h"

namespace baton::shell {

struct Leave {};
struct Help {};
struct Describe {
    std::string name;  // as the catalog has it: in upper case unless it was quoted
};
struct RunStatement {
    std::string text;
};
struct RunFile {
    std::string path;
};
struct SetFormat {
    Format format = Format::text;
};
struct ToggleTiming {};
using Backslash =
    std::variant<Leave, Help, Describe, RunStatement, RunFile, SetFormat, ToggleTiming>;

// A line as it was typed where a statement could begin: none if it is not a command. Fails with
// syntax, naming the nearest command.
[[nodiscard]] Result<std::optional<Backslash>> backslash_of(std::string_view line);

[[nodiscard]] std::string_view help_text();

}  // namespace baton::shell
