#include "adapters/parquet/checksums.h"

#include <array>
#include <cerrno>
#include <cstdio>
#include <memory>
#include <string_view>
#include <system_error>
#include <vector>

#include <fcntl.h>
#include <unistd.h>
#include <xxhash.h>

#include "base/text.h"

namespace baton::parquet {

namespace {

constexpr std::size_t kPart = std::size_t{1} << 20U;
constexpr std::size_t kDigits = 16;

Error failed(ErrorCode code, const std::string& what, const std::string& path) {
    return {.code = code,
            .message = "cannot " + what + " " + baton::in_quotes(path) + ": " +
                       std::generic_category().message(errno)};
}

Result<Done> sync(const system::OpenFile& file, const std::string& path) {
    if (::fsync(*file) == 0) return Done{};
    return failed(ErrorCode::cannot_write, "sync", path);
}

Result<Done> sync_directory(const system::OpenFile& directory, const std::string& path) {
    // The descriptor itself is only a place.
    const system::OpenFile readable(::openat(*directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (!readable.is_open()) return failed(ErrorCode::cannot_write, "sync", path);
    return sync(readable, path);
}

Result<Done> rename(const system::OpenFile& directory, const std::string& from,
                    const std::string& to, const std::string& path) {
    if (::renameat(*directory, from.c_str(), *directory, to.c_str()) == 0) return Done{};
    return failed(ErrorCode::cannot_write, "write", path);
}

Result<Done> write_all(const system::OpenFile& file, std::string_view bytes,
                       const std::string& path) {
    if (::ftruncate(*file, 0) != 0) return failed(ErrorCode::cannot_write, "write", path);
    while (!bytes.empty()) {
        const auto count = ::write(*file, bytes.data(), bytes.size());
        if (count < 0 && errno == EINTR) continue;
        if (count < 0) return failed(ErrorCode::cannot_write, "write", path);
        bytes.remove_prefix(static_cast<std::size_t>(count));
    }
    return Done{};
}

}  // namespace

std::string checksum_path(const std::string& path) {
    return path + ".xxh3";
}

std::string part_of(const std::string& name) {
    return name + ".part";
}

Result<std::string> checksum_of(const system::OpenFile& file, const std::string& path) {
    const std::unique_ptr<XXH3_state_t, XXH_errorcode (*)(XXH3_state_t*)> state(XXH3_createState(),
                                                                                XXH3_freeState);
    XXH3_64bits_reset(state.get());
    std::vector<char> part(kPart);
    off_t at = 0;
    while (true) {
        const auto count = ::pread(*file, part.data(), part.size(), at);
        if (count < 0 && errno == EINTR) continue;
        if (count < 0) return failed(ErrorCode::cannot_read, "read", path);
        if (count == 0) break;
        XXH3_64bits_update(state.get(), part.data(), static_cast<std::size_t>(count));
        at += count;
    }
    std::array<char, 20> digits{};
    std::snprintf(digits.data(), digits.size(), "%016llx",
                  static_cast<unsigned long long>(XXH3_64bits_digest(state.get())));
    return std::string(digits.data());
}

Result<Done> verify_checksum(const files::AllowedFiles& files, const system::OpenFile& file,
                             const std::string& path) {
    const auto beside = files.read(checksum_path(path));
    if (!beside && beside.error().code == ErrorCode::cannot_open) return Done{};
    if (!beside) return beside.error();
    std::array<char, kDigits> digits{};
    const auto count = ::pread(*beside->file, digits.data(), digits.size(), 0);
    if (count != static_cast<ssize_t>(kDigits)) return Done{};
    const std::string expected(digits.data(), kDigits);
    TRY_ASSIGN(actual, checksum_of(file, path));
    if (actual == expected) return Done{};
    return Error{.code = ErrorCode::damaged_file,
                 .message = "cannot read " + baton::in_quotes(path) + ": its bytes have the hash " +
                            actual + ", not " + baton::in_quotes(expected) +
                            " as when it was written",
                 .hint = "restore the file; if it was replaced on purpose, remove " +
                         baton::in_quotes(checksum_path(path))};
}

Result<Done> publish_file(const files::AllowedFiles& files, const files::AllowedFiles::Place& place,
                          const system::OpenFile& part, const std::string& path) {
    TRY(sync(part, path));
    // What is being written may be readable by nobody else; the descriptor is for writing.
    const system::OpenFile readable(
        ::openat(*place.directory, part_of(place.name).c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC));
    if (!readable.is_open()) return failed(ErrorCode::cannot_read, "read", path);
    TRY_ASSIGN(checksum, checksum_of(readable, path));
    const std::string beside = checksum_path(place.name);
    const std::string beside_part = checksum_path(part_of(place.name));
    TRY_ASSIGN(opened, files.write_at(place.directory, beside_part, checksum_path(path)));
    TRY(write_all(opened.file, checksum + "\n", checksum_path(path)));
    TRY(sync(opened.file, checksum_path(path)));
    if (::unlinkat(*place.directory, beside.c_str(), 0) != 0 && errno != ENOENT) {
        return failed(ErrorCode::cannot_write, "write", checksum_path(path));
    }
    TRY(sync_directory(place.directory, path));
    TRY(rename(place.directory, part_of(place.name), place.name, path));
    TRY(rename(place.directory, beside_part, beside, checksum_path(path)));
    return sync_directory(place.directory, path);
}

}  // namespace baton::parquet
