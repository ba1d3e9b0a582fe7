#include "adapters/folder/places.h"

#include <array>
#include <charconv>
#include <system_error>

#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace baton::folder {

namespace {

void append_hex(std::string& to, std::uint64_t number) {
    std::array<char, 16> text{};
    to.append(text.data(), std::to_chars(text.data(), text.data() + text.size(), number, 16).ptr);
}

std::string name_in(const std::string& key) {
    const std::size_t slash = key.rfind('/');
    return slash == std::string::npos ? key : key.substr(slash + 1);
}

}  // namespace

bool is_private(std::string_view key) {
    return key.starts_with(kPrivate) &&
           (key.size() == kPrivate.size() || key[kPrivate.size()] == '/');
}

system::OpenFile open_beneath(int folder, const std::string& path, int flags) {
    open_how how{};
    how.flags = static_cast<std::uint64_t>(flags | O_CLOEXEC);
    how.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS;
    const char* const name = path.empty() ? "." : path.c_str();
    long number = -1;
    for (int i = 0; i < 100; ++i) {  // EAGAIN: something was renamed meanwhile
        number = ::syscall(SYS_openat2, folder, name, &how, sizeof how);
        if (number >= 0 || (errno != EAGAIN && errno != EINTR)) break;
    }
    return system::OpenFile(static_cast<int>(number));
}

std::string parent_of(const std::string& key) {
    const std::size_t slash = key.rfind('/');
    return slash == std::string::npos ? "" : key.substr(0, slash);
}

Place place_of(int folder, const std::string& key) {
    return {.directory = open_beneath(folder, parent_of(key), O_RDONLY | O_DIRECTORY),
            .name = name_in(key)};
}

int make_place(int folder, const std::string& key, Place& place) {
    constexpr mode_t kMode = 0777;  // less the mask of the process
    place = place_of(folder, key);
    if (place.directory.is_open()) return 0;
    if (errno != ENOENT) return errno;
    const std::string path = parent_of(key);
    std::size_t end = 0;
    while (end != std::string::npos) {
        end = path.find('/', end == 0 ? 0 : end + 1);
        const Place part = place_of(folder, path.substr(0, end));
        if (!part.directory.is_open()) return errno;
        if (::mkdirat(*part.directory, part.name.c_str(), kMode) != 0 && errno != EEXIST) {
            return errno;
        }
    }
    place = place_of(folder, key);
    return place.directory.is_open() ? 0 : errno;
}

std::string etag_of(const struct stat& file) {
    std::string etag;
    append_hex(etag, file.st_ino);
    etag += '-';
    append_hex(etag, static_cast<std::uint64_t>(file.st_mtim.tv_sec));
    etag += '.';
    append_hex(etag, static_cast<std::uint64_t>(file.st_mtim.tv_nsec));
    etag += '-';
    append_hex(etag, static_cast<std::uint64_t>(file.st_size));
    return etag;
}

WallTime modified_of(const struct stat& file) {
    return WallTime(std::chrono::seconds(file.st_mtim.tv_sec) +
                    Duration(file.st_mtim.tv_nsec / 1000));
}

std::string text_of(int error) {
    return std::generic_category().message(error);
}

AttemptFailure failure_of(int error, const std::string& what) {
    AttemptFailure failure{.trouble = AttemptTrouble::not_sent,
                           .why = what + ": " + text_of(error)};
    switch (error) {
        case ENOSPC:
        case EDQUOT:
            failure.trouble = AttemptTrouble::full;
            failure.hint = "make room on the file system of the folder";
            break;
        case EFBIG:
            failure.trouble = AttemptTrouble::too_large;
            break;
        case EACCES:
        case EPERM:
        case EROFS:
            failure.trouble = AttemptTrouble::refused;
            failure.hint = "this process needs the right to read and write the folder";
            break;
        case ENOTDIR:
        case EISDIR:
            failure.trouble = AttemptTrouble::refused;
            failure.hint = "in a folder no key can lie below another one";
            break;
        case ELOOP:
            failure.trouble = AttemptTrouble::refused;
            failure.hint = "symbolic links within the folder are not followed";
            break;
        case ENAMETOOLONG:
        case EXDEV:
        case EINVAL:
            failure.trouble = AttemptTrouble::refused;
            break;
        default:
            break;
    }
    return failure;
}

}  // namespace baton::folder
