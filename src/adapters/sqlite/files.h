// Files around a database: the lock of its process, and how a file gets its name.
//
// A file that SQLite has open is never opened here: closing any descriptor of it would drop the
// locks that SQLite holds on it in this process.
#pragma once

#include <string>
#include <string_view>
#include <utility>

#include "base/result.h"

namespace baton::sqlite {

// `cannot <what> <path>: <why>`, as catalog_full where space is lacking, else catalog_unavailable.
[[nodiscard]] Error system_error(std::string_view what, const std::string& path, int number);

// An exclusive lock on a file that holds the pid of its owner. It ends with the process, however
// that ends; the file itself stays, because removing it would let two processes lock two files.
class ProcessLock {
public:
    // catalog_in_use if another holds it, in this process or another.
    [[nodiscard]] static Result<ProcessLock> take(const std::string& path,
                                                  const std::string& database);

    ProcessLock(ProcessLock&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}
    ProcessLock& operator=(ProcessLock&&) = delete;
    ~ProcessLock();

private:
    explicit ProcessLock(int descriptor) : descriptor_(descriptor) {}

    int descriptor_;
};

// A database under a name of its own, until it is published. Otherwise its files are removed.
class Draft {
public:
    // Creates an empty file of mode 0600; one left behind under this name is replaced.
    [[nodiscard]] static Result<Draft> create(const std::string& path);

    Draft(Draft&& other) noexcept : path_(std::exchange(other.path_, {})) {}
    Draft& operator=(Draft&&) = delete;
    ~Draft();

    [[nodiscard]] const std::string& path() const { return path_; }
    // Makes the content durable, then the name. Fails if the name is taken. No connection may be
    // open.
    [[nodiscard]] Result<Done> publish_as(const std::string& name);

private:
    explicit Draft(std::string path) : path_(std::move(path)) {}

    std::string path_;  // empty once published
};

// Makes the names in the directory of `path` durable.
[[nodiscard]] Result<Done> sync_directory_of(const std::string& path);

[[nodiscard]] bool exists(const std::string& path);  // a link counts, wherever it leads
// So that a path is never taken for a URI, and does not depend on the current directory later.
[[nodiscard]] std::string absolute(const std::string& path);

}  // namespace baton::sqlite
