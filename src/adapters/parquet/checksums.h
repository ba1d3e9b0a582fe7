// A Parquet file has no checksum of its own: a flipped bit gives other rows without an error. So
// one is kept beside it, in `<file>.xxh3`: the XXH3 hash of the file's bytes, as 16 hexadecimal
// digits.
#pragma once

#include <string>

#include "base/result.h"

namespace baton {

[[nodiscard]] std::string checksum_path(const std::string& path);

// The hash of the file; cannot_read if there is a reason.
[[nodiscard]] Result<std::string> checksum_of(const std::string& path);

// damaged_file if there is a checksum beside the file and it is another one; what has none is taken
// as it is.
[[nodiscard]] Result<Done> verify_checksum(const std::string& path);

// Makes `part` the file `path`, durably, with its checksum beside it. At no time is there a file
// with the checksum of another.
[[nodiscard]] Result<Done> publish_file(const std::string& part, const std::string& path);

}  // namespace baton
