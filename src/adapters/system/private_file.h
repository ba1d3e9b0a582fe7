// Files that hold secrets.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace baton {

// Fails with invalid_configuration if every user of this machine can read the file: it says so, and
// the directories above it let everybody through. A group may read it: so a service gets a file
// that belongs to root. A file that is not there is for whoever reads it to complain of.
[[nodiscard]] Result<Done> require_private(std::string_view what, const std::string& path);

}  // namespace baton
