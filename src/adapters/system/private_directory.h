// A directory for the files of one process.
#pragma once

#include <string>

#include "base/result.h"

namespace baton::system {

// If it is not there, it is made, for its owner alone. Fails with `code`.
[[nodiscard]] Result<Done> make_private_directory(const std::string& path, ErrorCode code);

}  // namespace baton::system
