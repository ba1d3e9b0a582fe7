#include "adapters/system/private_file.h"

#include <array>
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <system_error>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "adapters/system/digest.h"
#include "base/text.h"

namespace baton::system {

namespace {

bool others_may(const std::filesystem::path& path, mode_t what) {
    struct stat found {};
    return ::stat(path.c_str(), &found) == 0 && (found.st_mode & what) == what;
}

constexpr std::size_t kPrivateBytesMax = 1 << 20;

Error private_error(const std::string& what, const std::string& path, const std::string& why,
                    const std::string& hint = {}) {
    return {.code = ErrorCode::unreadable_configuration,
            .message = "cannot " + what + " " + in_quotes(path) + ": " + why,
            .at = {},
            .hint = hint};
}

Error private_system_error(const std::string& what, const std::string& path) {
    return private_error(what, path, std::generic_category().message(errno));
}

class Descriptor {
public:
    explicit Descriptor(int number) : number_(number) {}
    ~Descriptor() {
        if (number_ >= 0) ::close(number_);
    }
    Descriptor(const Descriptor&) = delete;
    Descriptor& operator=(const Descriptor&) = delete;
    [[nodiscard]] int number() const { return number_; }

private:
    int number_;
};

Result<Done> sync_parent(const std::string& path) {
    const std::string parent = std::filesystem::path(path).parent_path().string();
    const Descriptor directory(
        ::open(parent.empty() ? "." : parent.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (directory.number() < 0 || ::fsync(directory.number()) != 0) {
        return private_system_error("sync the directory of", path);
    }
    return Done{};
}

// Under a name that nobody else uses; the name.
Result<std::string> write_beside(const std::string& path, const std::string& text) {
    constexpr std::size_t kUnique = 8;
    std::string beside = path + "." + hex_of(random_bytes(kUnique));
    const Descriptor file(
        ::open(beside.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, S_IRUSR | S_IWUSR));
    if (file.number() < 0) return private_system_error("write", path);
    const bool written =
        ::write(file.number(), text.data(), text.size()) == static_cast<ssize_t>(text.size()) &&
        ::fsync(file.number()) == 0;
    if (written) return beside;
    const Error problem = private_system_error("write", path);
    ::unlink(beside.c_str());
    return problem;
}

}  // namespace

Result<Done> require_private(std::string_view what, const std::string& path) {
    std::error_code failed;
    const auto whole = std::filesystem::canonical(path, failed);  // what links lead to
    if (failed || !others_may(whole, S_IROTH)) return Done{};
    if (!std::filesystem::is_regular_file(whole, failed)) return Done{};
    for (auto above = whole.parent_path(); above.has_relative_path(); above = above.parent_path()) {
        if (!others_may(above, S_IXOTH)) return Done{};
    }
    return Error{.code = ErrorCode::invalid_configuration,
                 .message = std::string(what) + ", " + in_quotes(path) +
                            ", holds secrets, and every user of this machine can read it",
                 .hint =
                     "chmod 600 it, or 640 for a group; in Kubernetes give the volume of the "
                     "secret a defaultMode of 0440 and the pod an fsGroup"};
}

Result<std::optional<std::string>> read_private_file(const std::string& path) {
    const Descriptor file(::open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
    if (file.number() < 0) {
        if (errno == ENOENT) return std::optional<std::string>();
        return private_system_error("read", path);
    }
    struct stat status {};
    if (::fstat(file.number(), &status) != 0) return private_system_error("read", path);
    if (!S_ISREG(status.st_mode)) return private_error("read", path, "it is not a file");
    if (status.st_uid != ::geteuid()) {
        return private_error("trust", path, "it belongs to another user",
                             "run this process as that user, or remove the file");
    }
    if ((status.st_mode & (S_IRWXG | S_IRWXO)) != 0) {
        return private_error("trust", path, "other users may read or write it",
                             "make it private (chmod 600) if no other user knows what is in it; "
                             "else remove it");
    }
    std::string text;
    std::array<char, 4096> buffer{};
    while (true) {
        const ssize_t got = ::read(file.number(), buffer.data(), buffer.size());
        if (got < 0) return private_system_error("read", path);
        if (got == 0) return std::optional(std::move(text));
        text.append(buffer.data(), static_cast<std::size_t>(got));
        if (text.size() > kPrivateBytesMax) return private_error("read", path, "it is too long");
    }
}

Result<Done> write_private_file(const std::string& path, const std::string& text) {
    TRY_ASSIGN(beside, write_beside(path, text));
    if (std::rename(beside.c_str(), path.c_str()) != 0) {
        const Error problem = private_system_error("replace", path);
        ::unlink(beside.c_str());
        return problem;
    }
    return sync_parent(path);
}

Result<Done> make_private_file(const std::string& path, const std::string& text) {
    TRY_ASSIGN(beside, write_beside(path, text));
    const bool linked = ::link(beside.c_str(), path.c_str()) == 0 || errno == EEXIST;
    const Error problem = private_system_error("make", path);
    ::unlink(beside.c_str());
    if (!linked) return problem;
    return sync_parent(path);
}

}  // namespace baton::system
