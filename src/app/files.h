// Files that a command line names.
#pragma once

#include <string>

#include "base/error.h"
#include "base/result.h"

namespace baton::app {

// All of the file; "-" is the standard input. Fails with unreadable_configuration.
[[nodiscard]] Result<std::string> text_of_file(const std::string& file);

// Whether it is a deployment (YAML), not statements.
[[nodiscard]] bool is_deployment(const std::string& file);

[[nodiscard]] Error file_error(const std::string& what, const std::string& path,
                               const std::string& why,
                               ErrorCode code = ErrorCode::catalog_unavailable);

}  // namespace baton::app
