// The file systems on which a folder cannot keep the promises of a store: those of a network, where
// caches hide the writes of others and locks of one machine do not hold on another.
#pragma once

#include <optional>
#include <string_view>

namespace baton::folder {

// The name of the file system of this type (statfs), if it is one of those.
[[nodiscard]] std::optional<std::string_view> unfit_file_system(unsigned long type);

}  // namespace baton::folder
