// Files that hold secrets, which no other user can read.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace baton::system {

// Fails with invalid_configuration if every user of this machine can read the file, by its own mode
// and those of the directories above it. A group may read it: so a service gets a file that belongs
// to root. The reader of the file reports if it is missing.
[[nodiscard]] Result<Done> require_private(std::string_view what, const std::string& path);

// None: there is no such file. Fails with unreadable_configuration, also if it belongs to another
// user, if others may read or write it, or if it is longer than such files are.
[[nodiscard]] Result<std::optional<std::string>> read_private_file(const std::string& path);

// Replaces it as a whole, durably. Fails with unreadable_configuration.
[[nodiscard]] Result<Done> write_private_file(const std::string& path, const std::string& text);

// The same if there is none yet; if another process is faster, its file stays.
[[nodiscard]] Result<Done> make_private_file(const std::string& path, const std::string& text);

}  // namespace baton::system
