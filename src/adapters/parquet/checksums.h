// A Parquet file has no checksum of its own: a flipped bit gives other rows without an error. So
// one is kept beside it, in `<file>.xxh3`: the XXH3 hash of the file's bytes, as 16 hexadecimal
// digits.
#pragma once

#include <string>

#include "adapters/file/allowed_files.h"
#include "adapters/system/open_file.h"
#include "base/result.h"

namespace baton::parquet {

[[nodiscard]] std::string checksum_path(const std::string& path);

// In all of these, `path` is the file as it was named. The hash of the file; cannot_read if there
// is a reason.
[[nodiscard]] Result<std::string> checksum_of(const system::OpenFile& file,
                                              const std::string& path);

// damaged_file if there is a checksum beside the file and it is another one; a file without one is
// accepted.
[[nodiscard]] Result<Done> verify_checksum(const files::AllowedFiles& files,
                                           const system::OpenFile& file, const std::string& path);

// The name of a file until it is complete.
[[nodiscard]] std::string part_of(const std::string& name);

// Makes the open file part_of(place.name) the file place.name, durably, with its checksum beside
// it. At no time is there a file with the checksum of another.
[[nodiscard]] Result<Done> publish_file(const files::AllowedFiles& files,
                                        const files::AllowedFiles::Place& place,
                                        const system::OpenFile& part, const std::string& path);

}  // namespace baton::parquet
