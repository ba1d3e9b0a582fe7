#include "app/files.h"

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <sstream>
#include <system_error>

#include "base/text.h"

namespace baton::app {

namespace fs = std::filesystem;

bool is_deployment(const std::string& file) {
    return file.ends_with(".yaml") || file.ends_with(".yml");
}

Error file_error(const std::string& what, const std::string& path, const std::string& why,
                 ErrorCode code) {
    return Error{.code = code,
                 .message = "cannot " + what + " " + baton::in_quotes(path) + ": " + why};
}

Result<std::string> text_of_file(const std::string& file) {
    std::ostringstream text;
    if (file == "-") {
        text << std::cin.rdbuf();
        return text.str();
    }
    const auto refuse = [&](const std::string& why) {
        return file_error("read", file, why, ErrorCode::unreadable_configuration);
    };
    if (fs::is_directory(file)) return refuse("it is a directory");
    std::ifstream in(file, std::ios::binary);
    if (!in) return refuse(std::generic_category().message(errno));
    text << in.rdbuf();
    if (in.bad()) return refuse(std::generic_category().message(errno));
    return text.str();
}

}  // namespace baton::app
