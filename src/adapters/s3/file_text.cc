#include "adapters/s3/file_text.h"

#include <array>
#include <cerrno>
#include <system_error>

#include <fcntl.h>
#include <unistd.h>

#include "adapters/system/open_file.h"
#include "base/text.h"

namespace baton::s3 {

namespace {

Error unreadable(const std::string& path, const std::string& why) {
    return {.code = ErrorCode::unreadable_configuration,
            .message = "cannot read " + in_quotes(path) + ": " + why};
}

std::string reason_of(int error) {
    return std::generic_category().message(error);
}

}  // namespace

Result<std::optional<std::string>> read_text_file_if_any(const std::string& path,
                                                         std::size_t bytes_max) {
    // A pipe without a writer would block for ever.
    const system::OpenFile file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
    if (!file.is_open()) {
        if (errno == ENOENT || errno == ENOTDIR) return std::optional<std::string>();
        return unreadable(path, reason_of(errno));
    }
    std::string text;
    std::array<char, 4096> part{};
    while (true) {
        const ssize_t got = ::read(*file, part.data(), part.size());
        if (got < 0) return unreadable(path, reason_of(errno));
        if (got == 0) return std::optional(std::move(text));
        text.append(part.data(), static_cast<std::size_t>(got));
        if (text.size() > bytes_max) return unreadable(path, "it is longer than such files are");
    }
}

Result<std::string> read_text_file(const std::string& path, std::size_t bytes_max) {
    TRY_ASSIGN(text, read_text_file_if_any(path, bytes_max));
    if (!text) return unreadable(path, reason_of(ENOENT));
    return *std::move(text);
}

}  // namespace baton::s3
