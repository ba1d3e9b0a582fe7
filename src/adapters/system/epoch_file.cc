#include "adapters/system/epoch_file.h"

#include <cerrno>
#include <charconv>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <system_error>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/text.h"

namespace baton {

namespace {

Error file_error(const std::string& what, const std::string& path, const std::string& why) {
    return {.code = ErrorCode::unreadable_configuration,
            .message = "cannot " + what + " " + in_quotes(path) + ": " + why};
}

Error system_error(const std::string& what, const std::string& path) {
    return file_error(what, path, std::generic_category().message(errno));
}

// Writes and syncs; false with errno if it cannot.
bool write_durably(int file, const std::string& text) {
    return ::write(file, text.data(), text.size()) == static_cast<ssize_t>(text.size()) &&
           ::fsync(file) == 0;
}

Result<Done> sync_directory(const std::string& path) {
    const int directory = ::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (directory < 0) return system_error("open the directory", path);
    const bool synced = ::fsync(directory) == 0;
    const Error problem = system_error("sync the directory", path);
    ::close(directory);
    if (!synced) return problem;
    return Done{};
}

}  // namespace

Result<Epoch> EpochFile::load() {
    std::ifstream in(path(), std::ios::binary);
    if (!in) {
        if (errno == ENOENT) return Epoch(0);
        return system_error("read", path());
    }
    const std::string text((std::istreambuf_iterator<char>(in)), {});
    std::uint64_t epoch = 0;
    const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), epoch);
    if (problem != std::errc() || std::string_view(end) != "\n") {
        return file_error("read the highest epoch from", path(),
                          "it is not a number and a line break");
    }
    return Epoch(epoch);
}

Result<Done> EpochFile::keep(Epoch epoch) {
    const std::string next = path() + ".next";
    const int file =
        ::open(next.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, S_IRUSR | S_IWUSR);
    if (file < 0) return system_error("write", next);
    const bool written = write_durably(file, to_string(epoch) + "\n");
    const Error problem = system_error("write", next);
    ::close(file);
    if (!written) return problem;
    if (std::rename(next.c_str(), path().c_str()) != 0) return system_error("replace", path());
    return sync_directory(directory_);
}

}  // namespace baton
