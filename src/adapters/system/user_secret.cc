#include "adapters/system/user_secret.h"

#include <cstdlib>
#include <filesystem>
#include <optional>

#include <pwd.h>
#include <sys/stat.h>
#include <unistd.h>

#include "adapters/system/digest.h"
#include "adapters/system/private_directory.h"
#include "adapters/system/private_file.h"
#include "base/text.h"

namespace baton::system {

namespace {

namespace fs = std::filesystem;

std::optional<std::string> variable(const char* name) {
    const char* const value = std::getenv(name);  // NOLINT(concurrency-mt-unsafe)
    if (value == nullptr || *value == '\0') return std::nullopt;
    return value;
}

// Where programs of this user keep what outlives them; none: it has no home.
std::optional<fs::path> state_directory() {
    if (const auto state = variable("XDG_STATE_HOME"); state && fs::path(*state).is_absolute()) {
        return *state;
    }
    std::optional<std::string> home = variable("HOME");
    if (!home) {
        const passwd* const entry = getpwuid(geteuid());  // NOLINT(concurrency-mt-unsafe)
        if (entry != nullptr && entry->pw_dir != nullptr) home = entry->pw_dir;
    }
    if (!home || home->empty() || *home == "/") return std::nullopt;
    const fs::path state = fs::path(*home) / ".local" / "state";
    // One that was made before is read also where nothing can be written any more.
    const bool there = ::access((state / "baton" / "secret").c_str(), R_OK) == 0;
    if (!there && ::access(home->c_str(), W_OK) != 0) return std::nullopt;
    return state;
}

Result<Done> check_own_directory(const std::string& path) {
    struct stat status {};
    const bool ours = ::lstat(path.c_str(), &status) == 0 && S_ISDIR(status.st_mode) &&
                      status.st_uid == ::geteuid() && (status.st_mode & S_IWOTH) == 0;
    if (ours) return Done{};
    return Error{.code = ErrorCode::unreadable_configuration,
                 .message = "cannot keep a secret in " + in_quotes(path) +
                            ": it is not a directory of this user alone",
                 .at = {},
                 .hint = "name a file in one that is, with BATON_USER_SECRET"};
}

}  // namespace

std::string user_secret_path() {
    if (const auto named = variable("BATON_USER_SECRET")) return *named;
    if (const auto state = state_directory()) return *state / "baton" / "secret";
    return "/tmp/baton-" + std::to_string(::geteuid()) + "/secret";
}

Result<std::string> user_secret(const std::string& path) {
    constexpr std::size_t kBytes = 32;
    constexpr std::size_t kLeast = 32;  // characters
    TRY_ASSIGN(there, read_private_file(path));
    if (!there) {
        const std::string directory = fs::path(path).parent_path().string();
        if (!directory.empty()) {
            TRY(make_private_directory(directory, ErrorCode::unreadable_configuration));
            TRY(check_own_directory(directory));
        }
        TRY(make_private_file(path, hex_of(random_bytes(kBytes)) + "\n"));
        TRY_ASSIGN(made, read_private_file(path));
        there = std::move(made);
    }
    if (!there || there->size() < kLeast) {
        return Error{.code = ErrorCode::unreadable_configuration,
                     .message = "cannot use " + in_quotes(path) + ": it holds no secret",
                     .at = {},
                     .hint = "remove it, and it is made again"};
    }
    return *std::move(there);
}

}  // namespace baton::system
