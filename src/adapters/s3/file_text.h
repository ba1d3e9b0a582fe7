// A small file of the user's, such as ~/.aws/credentials, read as a whole.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "base/result.h"

namespace baton::s3 {

// Fails with unreadable_configuration, also where it is longer.
[[nodiscard]] Result<std::string> read_text_file(const std::string& path, std::size_t bytes_max);

// The same; none where there is no such file.
[[nodiscard]] Result<std::optional<std::string>> read_text_file_if_any(const std::string& path,
                                                                       std::size_t bytes_max);

}  // namespace baton::s3
