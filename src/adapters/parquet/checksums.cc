#include "adapters/parquet/checksums.h"

#include <array>
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <memory>
#include <system_error>
#include <vector>

#include <fcntl.h>
#include <unistd.h>
#include <xxhash.h>

#include "base/text.h"

namespace baton {

namespace {

constexpr std::size_t kPart = std::size_t{1} << 20U;

Error failed(ErrorCode code, const std::string& what, const std::string& path) {
    return {.code = code,
            .message = "cannot " + what + " " + baton::in_quotes(path) + ": " +
                       std::generic_category().message(errno)};
}

Result<Done> sync(const std::string& path, int flags) {
    const int descriptor = ::open(path.c_str(), flags | O_CLOEXEC);
    if (descriptor < 0) return failed(ErrorCode::cannot_write, "sync", path);
    const bool synced = ::fsync(descriptor) == 0;
    Error error = failed(ErrorCode::cannot_write, "sync", path);
    ::close(descriptor);
    if (synced) return Done{};
    return error;
}

Result<Done> rename(const std::string& from, const std::string& to) {
    if (std::rename(from.c_str(), to.c_str()) == 0) return Done{};
    return failed(ErrorCode::cannot_write, "write", to);
}

}  // namespace

std::string checksum_path(const std::string& path) {
    return path + ".xxh3";
}

Result<std::string> checksum_of(const std::string& path) {
    const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "rbe"),
                                                               std::fclose);
    if (!file) return failed(ErrorCode::cannot_read, "read", path);
    const std::unique_ptr<XXH3_state_t, XXH_errorcode (*)(XXH3_state_t*)> state(XXH3_createState(),
                                                                                XXH3_freeState);
    XXH3_64bits_reset(state.get());
    std::vector<char> part(kPart);
    while (const std::size_t count = std::fread(part.data(), 1, part.size(), file.get())) {
        XXH3_64bits_update(state.get(), part.data(), count);
    }
    if (std::ferror(file.get()) != 0) return failed(ErrorCode::cannot_read, "read", path);
    std::array<char, 20> digits{};
    std::snprintf(digits.data(), digits.size(), "%016llx",
                  static_cast<unsigned long long>(XXH3_64bits_digest(state.get())));
    return std::string(digits.data());
}

Result<Done> verify_checksum(const std::string& path) {
    std::ifstream file(checksum_path(path));
    std::string expected;
    if (!file || !(file >> expected)) return Done{};
    TRY_ASSIGN(actual, checksum_of(path));
    if (actual == expected) return Done{};
    return Error{.code = ErrorCode::damaged_file,
                 .message = "cannot read " + baton::in_quotes(path) + ": its bytes have the hash " +
                            actual + ", not " + expected + " as when it was written",
                 .hint = "restore the file; if it was replaced on purpose, remove " +
                         baton::in_quotes(checksum_path(path))};
}

Result<Done> publish_file(const std::string& part, const std::string& path) {
    TRY(sync(part, O_RDONLY));
    TRY_ASSIGN(checksum, checksum_of(part));
    const std::string checksum_part = checksum_path(part);
    {
        std::ofstream file(checksum_part, std::ios::trunc);
        file << checksum << "\n";
        if (!file.flush()) return failed(ErrorCode::cannot_write, "write", checksum_part);
    }
    TRY(sync(checksum_part, O_RDONLY));
    const std::string parent = std::filesystem::path(path).parent_path().string();
    const std::string directory = parent.empty() ? "." : parent;
    std::error_code error;
    std::filesystem::remove(checksum_path(path), error);
    TRY(sync(directory, O_RDONLY | O_DIRECTORY));
    TRY(rename(part, path));
    TRY(rename(checksum_part, checksum_path(path)));
    return sync(directory, O_RDONLY | O_DIRECTORY);
}

}  // namespace baton
