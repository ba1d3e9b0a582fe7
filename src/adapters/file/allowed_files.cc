#include "adapters/file/allowed_files.h"

#include <array>
#include <cerrno>
#include <climits>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <memory>
#include <optional>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <linux/magic.h>
#include <linux/openat2.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/text.h"

namespace baton::files {

namespace {

namespace fs = std::filesystem;

constexpr mode_t kMode = 0644;
constexpr int kAlways = O_CLOEXEC | O_NONBLOCK | O_NOCTTY;

Error refused(std::string_view what, const std::string& path, const std::string& why,
              std::string hint = {}) {
    return {.code = ErrorCode::not_permitted,
            .message = "cannot " + std::string(what) + " " + baton::in_quotes(path) + ": " + why,
            .hint = std::move(hint)};
}

Error cannot_open(std::string_view what, const std::string& path, int number) {
    std::string hint;
    if (number == ENOENT) hint = "the path is that of the worker's machine";
    if (number == EACCES || number == EPERM) hint = "see what the worker's user may do";
    return {.code = ErrorCode::cannot_open,
            .message = "cannot " + std::string(what) + " " + baton::in_quotes(path) + ": " +
                       std::generic_category().message(number),
            .hint = std::move(hint)};
}

Error not_opened(std::string_view what, const std::string& path, int number) {
    if (number == EXDEV || number == ELOOP) {
        return refused(what, path, "it leads out of the directories that its worker allows",
                       "put the file there, or start the worker with --files DIR");
    }
    if (number == ENOSYS) {
        return refused(what, path, "this kernel cannot keep a path beneath a directory",
                       "Linux 5.6 or later is needed");
    }
    return cannot_open(what, path, number);
}

// Never waits, and never becomes a terminal. -1: see errno.
system::OpenFile open_beneath(int directory, const std::string& path, int flags, bool is_whole) {
    open_how how{};
    how.flags = static_cast<std::uint64_t>(flags | O_CLOEXEC);
    // Beneath / there is everything: absolute links lead to where they always do.
    how.resolve = RESOLVE_NO_MAGICLINKS | (is_whole ? RESOLVE_IN_ROOT : RESOLVE_BENEATH);
    long number = -1;
    for (int i = 0; i < 100; ++i) {  // EAGAIN: somebody renamed something meanwhile
        number = ::syscall(SYS_openat2, directory, path.c_str(), &how, sizeof how);
        if (number >= 0 || (errno != EAGAIN && errno != EINTR)) break;
    }
    return system::OpenFile(static_cast<int>(number));
}

bool is_same(const struct stat& a, const struct stat& b) {
    return a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

// Whether the file is one of those, or one of those within them, by whatever name.
bool is_within(const struct stat& file, const std::vector<std::string>& never) {
    for (const std::string& path : never) {
        struct stat own {};
        if (::stat(path.c_str(), &own) != 0) continue;
        if (is_same(own, file)) return true;
        if (!S_ISDIR(own.st_mode)) continue;
        std::error_code error;
        fs::recursive_directory_iterator each(path, fs::directory_options::skip_permission_denied,
                                              error);
        for (; !error && each != fs::recursive_directory_iterator(); each.increment(error)) {
            if (::stat(each->path().c_str(), &own) == 0 && is_same(own, file)) return true;
        }
        if (error) return true;  // nobody knows
    }
    return false;
}

// Whether the file of this name is one of them, though it may not be there yet.
bool is_named(const system::OpenFile& directory, const std::string& name,
              const std::vector<std::string>& never) {
    struct stat here {};
    if (::fstat(*directory, &here) != 0) return true;  // nobody knows
    for (const std::string& one : never) {
        const fs::path path(one);
        if (path.filename() != name) continue;
        const std::string above = path.has_parent_path() ? path.parent_path().string() : ".";
        struct stat there {};
        if (::stat(above.c_str(), &there) == 0 && is_same(there, here)) return true;
    }
    return false;
}

// Whether one of those is the directory, or above it.
Result<bool> is_below(const system::OpenFile& directory, const std::vector<std::string>& never,
                      std::string_view what, const std::string& path) {
    constexpr int kDepthMax = 4096;
    struct stat here {};
    if (::fstat(*directory, &here) != 0) return cannot_open(what, path, errno);
    system::OpenFile above;
    for (int depth = 0; depth < kDepthMax; ++depth) {
        for (const std::string& one : never) {
            struct stat own {};
            if (::stat(one.c_str(), &own) == 0 && is_same(own, here)) return true;
        }
        const int from = depth == 0 ? *directory : *above;
        system::OpenFile next(::openat(from, "..", O_PATH | O_DIRECTORY | O_CLOEXEC));
        struct stat there {};
        if (!next.is_open() || ::fstat(*next, &there) != 0) return cannot_open(what, path, errno);
        if (is_same(here, there)) return false;
        here = there;
        above = std::move(next);
    }
    return true;
}

// A catalog of Baton or a log of SQLite: the first bytes say so.
bool is_catalog(int file) {
    constexpr std::size_t kHeader = 72;
    constexpr std::size_t kApplication = 68;
    constexpr std::string_view kSqlite("SQLite format 3\0", 16);
    constexpr std::string_view kBaton("Bato", 4);
    constexpr std::string_view kLog("\x37\x7f\x06", 3);  // then 0x82 or 0x83
    // A descriptor for writing alone cannot be read.
    const system::OpenFile own(
        ::open(("/proc/self/fd/" + std::to_string(file)).c_str(), O_RDONLY | kAlways));
    std::array<char, kHeader> header{};
    const auto count = ::pread(own.is_open() ? *own : file, header.data(), header.size(), 0);
    if (count < 4) return false;
    const std::string_view text(header.data(), static_cast<std::size_t>(count));
    if (text.starts_with(kLog)) return (static_cast<unsigned char>(text[3]) & 0xfeU) == 0x82U;
    return text.size() == kHeader && text.starts_with(kSqlite) &&
           text.substr(kApplication) == kBaton;
}

bool is_of_the_kernel(int file) {
    struct statfs where {};
    if (::fstatfs(file, &where) != 0) return true;
    constexpr std::array<unsigned long, 6> kKernel = {PROC_SUPER_MAGIC,    SYSFS_MAGIC,
                                                      DEBUGFS_MAGIC,       TRACEFS_MAGIC,
                                                      CGROUP2_SUPER_MAGIC, BPF_FS_MAGIC};
    for (const unsigned long magic : kKernel) {
        if (static_cast<unsigned long>(where.f_type) == magic) return true;
    }
    return false;
}

std::string absolute(const std::string& path) {
    std::error_code error;
    const fs::path whole = fs::absolute(path, error);
    std::string text = error ? path : whole.lexically_normal().string();
    while (text.size() > 1 && text.ends_with('/')) text.pop_back();
    return text;
}

// What follows the directory's name; none if the path does not begin with it.
std::optional<std::string> after(const std::string& directory, const std::string& path) {
    if (directory == "/") return path.substr(1);
    if (!path.starts_with(directory)) return std::nullopt;
    if (path.size() == directory.size()) return std::string(".");
    if (path[directory.size()] != '/') return std::nullopt;
    return path.substr(directory.size() + 1);
}

std::string without_slashes(std::string path) {
    const std::size_t first = path.find_first_not_of('/');
    return first == std::string::npos ? std::string(".") : path.substr(first);
}

}  // namespace

Result<AllowedFiles> AllowedFiles::of(const FileRules& rules) {
    AllowedFiles files;
    for (const std::string& given : rules.directories) {
        Root root{.directory = system::OpenFile(::open(given.empty() ? "." : given.c_str(),
                                                       O_PATH | O_DIRECTORY | O_CLOEXEC)),
                  .names = {absolute(given)}};
        if (!root.directory.is_open()) {
            return Error{.code = ErrorCode::invalid_configuration,
                         .message = "cannot allow the files in " + baton::in_quotes(given) + ": " +
                                    std::generic_category().message(errno),
                         .hint = "--files names a directory that is there"};
        }
        const std::unique_ptr<char, void (*)(void*)> real(::realpath(given.c_str(), nullptr),
                                                          std::free);
        if (real && real.get() != root.names.front()) root.names.emplace_back(real.get());
        files.roots_.push_back(std::move(root));
    }
    for (const std::string& path : rules.never) files.never_.push_back(absolute(path));
    return files;
}

Result<AllowedFiles::Found> AllowedFiles::find(const std::string& path,
                                               std::string_view what) const {
    if (roots_.empty()) {
        return refused(what, path, "its worker opens no files",
                       "start the worker with --files DIR, or set files of the daemon, and put "
                       "the file there");
    }
    if (path.empty() || path.find('\0') != std::string::npos || path.ends_with('/')) {
        return cannot_open(what, path, EINVAL);
    }
    if (path.front() != '/') {
        const Root& first = roots_.front();
        if (first.names.back() != "/") return Found{.root = &first, .rest = path};
        return Found{.root = &first, .rest = without_slashes(absolute(".") + "/" + path)};
    }
    for (const Root& root : roots_) {
        for (const std::string& name : root.names) {
            if (const auto rest = after(name, path)) {
                return Found{.root = &root, .rest = without_slashes(*rest)};
            }
        }
    }
    return refused(what, path, "it is not in the directories that its worker allows",
                   "put the file into " + baton::in_quotes(roots_.front().names.front()) +
                       ", or start the worker with --files DIR");
}

Result<AllowedFiles::Opened> AllowedFiles::checked(system::OpenFile file, const std::string& path,
                                                   std::string_view what) const {
    Opened opened{.file = std::move(file)};
    if (::fstat(*opened.file, &opened.state) != 0) return cannot_open(what, path, errno);
    if (S_ISDIR(opened.state.st_mode)) return cannot_open(what, path, EISDIR);
    if (!S_ISREG(opened.state.st_mode) && !S_ISFIFO(opened.state.st_mode)) {
        return refused(what, path, "it is neither a file nor a pipe");
    }
    if (is_of_the_kernel(*opened.file)) return refused(what, path, "it is a file of the kernel");
    const bool own = is_within(opened.state, never_) ||
                     (S_ISREG(opened.state.st_mode) && is_catalog(*opened.file));
    if (own) return refused(what, path, "it belongs to Baton itself");
    return opened;
}

Result<AllowedFiles::Opened> AllowedFiles::read(const std::string& path) const {
    TRY_ASSIGN(found, find(path, "read"));
    system::OpenFile file = open_beneath(*found.root->directory, found.rest, O_RDONLY | kAlways,
                                         found.root->names.back() == "/");
    if (!file.is_open()) return not_opened("read", path, errno);
    return checked(std::move(file), path, "read");
}

Result<AllowedFiles::Place> AllowedFiles::place_of(const std::string& path,
                                                   std::string_view what) const {
    TRY_ASSIGN(found, find(path, what));
    const std::size_t slash = found.rest.rfind('/');
    const bool nested = slash != std::string::npos;
    Place place{.directory = {}, .name = nested ? found.rest.substr(slash + 1) : found.rest};
    if (place.name == "." || place.name == "..") return cannot_open(what, path, EISDIR);
    const std::string above = nested ? found.rest.substr(0, slash) : ".";
    place.directory = open_beneath(*found.root->directory, above.empty() ? "." : above,
                                   O_PATH | O_DIRECTORY, found.root->names.back() == "/");
    if (!place.directory.is_open()) return not_opened(what, path, errno);
    TRY_ASSIGN(own, is_below(place.directory, never_, what, path));
    if (own || is_named(place.directory, place.name, never_)) {
        return refused(what, path, "it belongs to Baton itself");
    }
    // A sink may replace the file that is there now by another of its name.
    system::OpenFile there(
        ::openat(*place.directory, place.name.c_str(), O_RDONLY | O_NOFOLLOW | kAlways));
    if (there.is_open()) TRY(checked(std::move(there), path, what));
    return place;
}

Result<AllowedFiles::Place> AllowedFiles::place(const std::string& path) const {
    return place_of(path, "write");
}

Result<AllowedFiles::Opened> AllowedFiles::write_at(const system::OpenFile& directory,
                                                    const std::string& name,
                                                    const std::string& path) const {
    constexpr int kTries = 10;
    for (int i = 0; i < kTries; ++i) {
        const int number = ::openat(*directory, name.c_str(), O_WRONLY | O_NOFOLLOW | kAlways);
        if (number >= 0) return checked(system::OpenFile(number), path, "write");
        if (errno != ENOENT) return not_opened("write", path, errno);
        const int made = ::openat(*directory, name.c_str(),
                                  O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | kAlways, kMode);
        if (made >= 0) return checked(system::OpenFile(made), path, "write");
        if (errno != EEXIST) return not_opened("write", path, errno);
    }
    return not_opened("write", path, EBUSY);
}

Result<AllowedFiles::Opened> AllowedFiles::write(const std::string& path) const {
    TRY_ASSIGN(found, find(path, "write"));
    system::OpenFile file = open_beneath(*found.root->directory, found.rest, O_WRONLY | kAlways,
                                         found.root->names.back() == "/");
    if (file.is_open()) return checked(std::move(file), path, "write");
    if (errno != ENOENT) return not_opened("write", path, errno);
    TRY_ASSIGN(place, place_of(path, "write"));
    return write_at(place.directory, place.name, path);
}

}  // namespace baton::files
