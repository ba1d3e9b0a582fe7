#include "adapters/system/epoch_file.h"

#include <cerrno>
#include <charconv>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <string_view>
#include <system_error>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/text.h"

namespace baton::system {

namespace {

Error file_error(const std::string& what, const std::string& path, const std::string& why) {
    return {.code = ErrorCode::unreadable_configuration,
            .message = "cannot " + what + " " + in_quotes(path) + ": " + why};
}

Error system_error(const std::string& what, const std::string& path) {
    return file_error(what, path, std::generic_category().message(errno));
}

constexpr std::size_t kCatalogMax = 64;
constexpr std::string_view kHexDigits = "0123456789abcdef";

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

Result<EpochFile> EpochFile::open(const std::string& directory) {
    const std::string path = directory + "/epoch.lock";
    const int lock = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, S_IRUSR | S_IWUSR);
    if (lock < 0) return system_error("lock", path);
    if (::flock(lock, LOCK_EX | LOCK_NB) == 0) return EpochFile(directory, lock);
    Error problem = system_error("lock", path);
    if (errno == EWOULDBLOCK) {
        problem = {.code = ErrorCode::unreadable_configuration,
                   .message = "cannot use the data directory " + in_quotes(directory) +
                              ": a worker runs on it",
                   .hint = "stop that worker first, or name another directory"};
    }
    ::close(lock);
    return problem;
}

EpochFile::~EpochFile() {
    if (lock_ >= 0) ::close(lock_);
}

// "EPOCH\n" or "EPOCH CATALOG\n"
Result<control::Allegiance> EpochFile::load() {
    std::ifstream in(path(), std::ios::binary);
    if (!in) {
        if (errno == ENOENT) return control::Allegiance{};
        return system_error("read", path());
    }
    const std::string text((std::istreambuf_iterator<char>(in)), {});
    std::uint64_t epoch = 0;
    const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), epoch);
    std::string_view rest(end, static_cast<std::size_t>(text.data() + text.size() - end));
    const bool ends = rest.ends_with('\n');
    if (ends) rest.remove_suffix(1);
    const bool bound = rest.starts_with(' ') && rest.size() > 1;
    if (bound) rest.remove_prefix(1);
    const bool fine = problem == std::errc() && ends && rest.empty() != bound &&
                      rest.size() <= kCatalogMax &&
                      rest.find_first_not_of(kHexDigits) == std::string_view::npos;
    if (!fine) {
        Error damaged = file_error("read the highest epoch from", path(),
                                   "it is not a number, perhaps the id of a catalog, and a line "
                                   "break");
        damaged.hint = "`baton worker release --data-dir " + directory_ + "` clears it";
        return damaged;
    }
    return control::Allegiance{.catalog = std::string(rest), .epoch = Epoch(epoch)};
}

Result<Done> EpochFile::forget() {
    if (::unlink(path().c_str()) != 0 && errno != ENOENT) return system_error("remove", path());
    return sync_directory(directory_);
}

Result<Done> EpochFile::keep(const control::Allegiance& allegiance) {
    const std::string next = path() + ".next";
    const int file =
        ::open(next.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, S_IRUSR | S_IWUSR);
    if (file < 0) return system_error("write", next);
    const std::string catalog = allegiance.catalog.empty() ? "" : " " + allegiance.catalog;
    const bool written = write_durably(file, to_string(allegiance.epoch) + catalog + "\n");
    const Error problem = system_error("write", next);
    ::close(file);
    if (!written) return problem;
    if (std::rename(next.c_str(), path().c_str()) != 0) return system_error("replace", path());
    return sync_directory(directory_);
}

}  // namespace baton::system
