// `baton serve`: the coordinator as a daemon, with its doors; and `baton config`.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "config/settings.h"
#include "doors/desk/access.h"

namespace baton::app {

struct ServeCommand {
    std::optional<std::string> file;  // --config
    // Of the command line: the option as it was written, the key and the value.
    struct Flag {
        std::string option;
        std::string key;
        std::string value;
    };
    std::vector<Flag> flags;
};

struct Configuration {
    config::Settings settings;
    desk::Access access;
    std::vector<std::string> warnings;
    std::optional<std::string> file;  // that it was read from
};

// All layers. Fails with 1xxx errors that name the place.
[[nodiscard]] Result<Configuration> configuration_of(const ServeCommand& command);

[[nodiscard]] int run_serve(const ServeCommand& command);
// Says what is set and by whom, as a file of settings; or only whether it could be started with it.
[[nodiscard]] int run_config_show(const ServeCommand& command);
[[nodiscard]] int run_config_check(const ServeCommand& command);
// The lines for the settings file, for a user, whose password is read, or for a new token.
[[nodiscard]] int run_config_user(const std::string& name, const std::string& role, bool files);
[[nodiscard]] int run_config_token(const std::string& name, const std::string& role, bool files);

}  // namespace baton::app
