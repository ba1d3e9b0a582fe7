// Files below the folder of a store, by their keys. No path leads out of the folder, whatever is
// renamed meanwhile: the kernel resolves it beneath, and symbolic links are not followed at all.
#pragma once

#include <cerrno>
#include <string>
#include <string_view>

#include <sys/stat.h>

#include "adapters/system/open_file.h"
#include "base/time.h"
#include "ports/store_attempts.h"

namespace baton::folder {

// For what belongs to no object: writers' temporary files, and the lock.
inline constexpr std::string_view kPrivate = ".baton";

[[nodiscard]] bool is_private(std::string_view key);

// Not open: see errno. An empty path is the folder itself.
[[nodiscard]] system::OpenFile open_beneath(int folder, const std::string& path, int flags);

// "a/b" of "a/b/c"; empty: the folder.
[[nodiscard]] std::string parent_of(const std::string& key);

struct Place {
    system::OpenFile directory;
    std::string name;
};
// Where the file of a key is, or is to be. Not open: see errno.
[[nodiscard]] Place place_of(int folder, const std::string& key);
// The same; directories that are not there are made. 0, or the errno of a failure.
[[nodiscard]] int make_place(int folder, const std::string& key, Place& place);

// A file has another one after each write: see FolderStore.
[[nodiscard]] std::string etag_of(const struct stat& file);
[[nodiscard]] WallTime modified_of(const struct stat& file);

[[nodiscard]] std::string text_of(int error);
// A failure before anything has happened to an object.
[[nodiscard]] AttemptFailure failure_of(int error, const std::string& what);

}  // namespace baton::folder
