#include "adapters/sqlite/files.h"

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/text.h"

namespace baton::sqlite {

namespace {

constexpr mode_t kPrivate = S_IRUSR | S_IWUSR;

class Descriptor {
public:
    Descriptor(const std::string& path, int flags, mode_t mode = 0)
        : value_(::open(path.c_str(), flags | O_CLOEXEC, mode)) {}
    Descriptor(const Descriptor&) = delete;
    Descriptor& operator=(const Descriptor&) = delete;
    ~Descriptor() {
        if (value_ >= 0) ::close(value_);
    }

    [[nodiscard]] int get() const { return value_; }
    [[nodiscard]] int release() { return std::exchange(value_, -1); }

private:
    int value_;
};

void remove_files(const std::string& database) {
    for (const char* suffix : {"", "-journal", "-wal", "-shm"}) {
        ::unlink((database + suffix).c_str());
    }
}

Result<Done> sync(const std::string& path, int flags) {
    const Descriptor file(path, flags);
    if (file.get() < 0) return system_error("open", path, errno);
    if (::fsync(file.get()) != 0) return system_error("sync", path, errno);
    return Done{};
}

std::string pid_in(int descriptor) {
    std::array<char, 32> text{};
    const ssize_t read = ::pread(descriptor, text.data(), text.size(), 0);
    const std::string_view all(text.data(), read > 0 ? static_cast<std::size_t>(read) : 0);
    return std::string(all.substr(0, all.find_first_not_of("0123456789")));
}

}  // namespace

Error system_error(std::string_view what, const std::string& path, int number) {
    const bool full = number == ENOSPC || number == EDQUOT || number == EFBIG;
    return {.code = full ? ErrorCode::catalog_full : ErrorCode::catalog_unavailable,
            .message = "cannot " + std::string(what) + " " + baton::in_quotes(path) + ": " +
                       std::strerror(number),
            .hint = full ? "free space on its disk, then try again"
                         : "check the path, its directory and their permissions"};
}

bool exists(const std::string& path) {
    struct stat found {};
    return ::lstat(path.c_str(), &found) == 0;
}

std::string absolute(const std::string& path) {
    std::error_code failure;  // only if there is no current directory any more
    const auto result = std::filesystem::absolute(path, failure);
    return failure ? "./" + path : result.string();
}

Result<Done> sync_directory_of(const std::string& path) {
    const auto directory = std::filesystem::path(absolute(path)).parent_path();
    return sync(directory.string(), O_RDONLY | O_DIRECTORY);
}

Result<ProcessLock> ProcessLock::take(const std::string& path, const std::string& database) {
    Descriptor file(path, O_RDWR | O_CREAT, kPrivate);
    if (file.get() < 0) return system_error("lock", path, errno);
    if (::flock(file.get(), LOCK_EX | LOCK_NB) != 0) {
        if (errno != EWOULDBLOCK) return system_error("lock", path, errno);
        const std::string pid = pid_in(file.get());
        return Error{.code = ErrorCode::catalog_in_use,
                     .message = "cannot open catalog " + baton::in_quotes(database) + ": " +
                                (pid.empty() ? "another process" : "process " + pid) + " holds it",
                     .hint = "stop that process first, or give this one another catalog"};
    }
    // Only for the message above: without space for it, the lock still holds.
    const std::string pid = std::to_string(::getpid()) + "\n";
    [[maybe_unused]] const bool written =
        ::ftruncate(file.get(), 0) == 0 && ::pwrite(file.get(), pid.data(), pid.size(), 0) > 0;
    return ProcessLock(file.release());
}

ProcessLock::~ProcessLock() {
    if (descriptor_ >= 0) ::close(descriptor_);
}

Result<Draft> Draft::create(const std::string& path) {
    remove_files(path);
    const Descriptor file(path, O_RDWR | O_CREAT | O_EXCL, kPrivate);
    if (file.get() < 0) return system_error("create", path, errno);
    return Draft(path);
}

Draft::~Draft() {
    if (!path_.empty()) remove_files(path_);
}

Result<Done> Draft::publish_as(const std::string& name) {
    TRY(sync(path_, O_RDONLY));
    if (::renameat2(AT_FDCWD, path_.c_str(), AT_FDCWD, name.c_str(), RENAME_NOREPLACE) != 0) {
        if (errno != EINVAL) return system_error("create", name, errno);
        // A file system that cannot promise it: the caller has looked before.
        if (exists(name)) return system_error("create", name, EEXIST);
        if (::rename(path_.c_str(), name.c_str()) != 0) return system_error("create", name, errno);
    }
    path_.clear();
    return sync_directory_of(name);
}

}  // namespace baton::sqlite
