#include "adapters/system/private_directory.h"

#include <filesystem>

#include <sys/stat.h>

#include "base/text.h"

namespace baton::system {

Result<Done> make_private_directory(const std::string& path, ErrorCode code) {
    std::error_code problem;
    const bool made = std::filesystem::create_directories(path, problem);
    if (problem) {
        return Error{
            .code = code,
            .message = "cannot create the data directory " + baton::in_quotes(path) + ": " +
                       problem.message(),
            .hint = "name one that may be written to, with --data (--data-dir of a worker)"};
    }
    if (made) (void)chmod(path.c_str(), S_IRWXU);
    return Done{};
}

}  // namespace baton::system
