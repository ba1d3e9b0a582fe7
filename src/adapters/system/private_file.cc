#include "adapters/system/private_file.h"

#include <filesystem>

#include <sys/stat.h>

#include "base/text.h"

namespace baton {

namespace {

bool others_may(const std::filesystem::path& path, mode_t what) {
    struct stat found {};
    return ::stat(path.c_str(), &found) == 0 && (found.st_mode & what) == what;
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

}  // namespace baton
