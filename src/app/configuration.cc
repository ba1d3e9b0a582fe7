// From files, the environment and the command line to settings.
#include <algorithm>
#include <iostream>

#include <unistd.h>

#include "adapters/system/digest.h"
#include "adapters/system/private_file.h"
#include "app/catalogs.h"
#include "app/counterparts.h"
#include "app/files.h"
#include "app/serve_command.h"
#include "base/text.h"
#include "doors/pg/wire/scram.h"
#include "doors/yaml/settings_file.h"

namespace baton::app {

namespace {

std::map<std::string, std::string> environment() {
    std::map<std::string, std::string> all;
    for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
        const std::string_view text = *entry;
        const std::size_t equals = text.find('=');
        if (equals == std::string_view::npos) continue;
        all.emplace(text.substr(0, equals), text.substr(equals + 1));
    }
    return all;
}

std::string place(const std::string& file, const Position& at) {
    return file + ":" + std::to_string(at.line);
}

Error refused(const std::string& where, const std::string& message, std::string hint = {}) {
    return Error{.code = ErrorCode::invalid_configuration,
                 .message = where + ": " + message,
                 .hint = std::move(hint)};
}

Result<desk::Role> role_in(const std::string& where, const std::string& name) {
    const auto role = role_of(name);
    if (role) return *role;
    return refused(where, in_quotes(name) + " is no role", "the roles are reader, writer, admin");
}

Result<desk::Access> access_of(const std::string& file, const yaml::SettingsFile& read) {
    std::vector<desk::Access::User> users;
    for (const auto& account : read.users) {
        const std::string where = place(file, account.at);
        TRY_ASSIGN(role, role_in(where, account.role));
        if (const auto verifier = pgwire::verifier_of(account.secret); !verifier) {
            return refused(where, "the verifier of user " + in_quotes(account.name) + " is none",
                           "`baton config user NAME` makes one");
        }
        users.push_back({.name = account.name,
                         .role = role,
                         .files = account.files,
                         .verifier = account.secret});
    }
    std::vector<desk::Access::Token> tokens;
    constexpr std::size_t kDigits = 64;
    for (const auto& account : read.tokens) {
        const std::string where = place(file, account.at);
        TRY_ASSIGN(role, role_in(where, account.role));
        if (account.secret.size() != kDigits ||
            account.secret.find_first_not_of("0123456789abcdef") != std::string::npos) {
            return refused(where, "the sha256 of token " + in_quotes(account.name) + " is none",
                           "`baton config token NAME` makes a token");
        }
        tokens.push_back(
            {.name = account.name, .role = role, .files = account.files, .sha256 = account.secret});
    }
    return desk::Access(std::move(users), std::move(tokens), system::sha256_hex);
}

// Who reads these can try passwords against them, or use them.
bool holds_secrets(const yaml::SettingsFile& read) {
    return !read.users.empty() || !read.tokens.empty() ||
           std::any_of(read.entries.begin(), read.entries.end(), [](const auto& entry) {
               return entry.key == "catalog" && shown_place(entry.value) != entry.value;
           });
}

Result<Done> read_file(const std::string& file, Configuration& configuration) {
    TRY_ASSIGN(text, text_of_file(file));
    auto read = yaml::read_settings(text);
    if (!read) {
        Error error = read.error();
        if (error.at) error.message = place(file, *error.at) + ": " + error.message;
        error.at.reset();
        return error;
    }
    if (holds_secrets(*read)) TRY(system::require_private("the file of settings", file));
    for (const auto& entry : read->entries) {
        if (entry.is_list && !config::is_list(entry.key)) {
            return refused(place(file, entry.at), entry.key + " is no list");
        }
        TRY(configuration.settings.set(entry.key, entry.value, place(file, entry.at)));
    }
    TRY_ASSIGN(access, access_of(file, *read));
    configuration.access = std::move(access);
    return Done{};
}

std::string in_yaml(const std::string& value) {
    std::string text = "'";
    for (const char c : value) text += c == '\'' ? std::string("''") : std::string(1, c);
    return text + "'";
}

Result<std::string> password_from_stdin() {
    std::string password;
    if (isatty(STDIN_FILENO) != 0) std::cerr << "password (it is shown): " << std::flush;
    if (!std::getline(std::cin, password) || password.empty()) {
        return refused("standard input", "a password is needed, on one line");
    }
    return password;
}

// A variable of a script that was not set, most likely: this one would lead a catalog of its own.
Error empty_catalog(const std::string& origin) {
    return Error{.code = ErrorCode::invalid_configuration,
                 .message = origin + ": the catalog is empty",
                 .hint = "leave it out for a file in the data directory"};
}

}  // namespace

Result<Configuration> configuration_of(const ServeCommand& command) {
    Configuration configuration;
    configuration.file = command.file;
    if (command.file) TRY(read_file(*command.file, configuration));
    const auto variables = environment();
    if (const auto catalog = variables.find("BATON_CATALOG");
        catalog != variables.end() && catalog->second.empty()) {
        return empty_catalog(catalog->first);
    }
    TRY_ASSIGN(warnings, configuration.settings.set_from_environment(variables));
    configuration.warnings = std::move(warnings);
    for (const ServeCommand::Flag& flag : command.flags) {
        if (flag.key == "catalog" && flag.value.empty()) return empty_catalog(flag.option);
        TRY(configuration.settings.set(flag.key, flag.value, flag.option));
    }
    for (const std::string key : {"tls.key", "workers.tls_key"}) {
        if (const std::string& path = configuration.settings.text(key); !path.empty()) {
            TRY(system::require_private(key, path));
        }
    }
    return configuration;
}

int run_config_show(const ServeCommand& command) {
    const auto configuration = configuration_of(command);
    if (!configuration) return fail(configuration.error());
    for (const auto& warning : configuration->warnings) std::cerr << "warning: " << warning << "\n";
    std::string group;
    for (const auto& shown : configuration->settings.all()) {
        const std::size_t dot = shown.key.find('.');
        const std::string above = dot == std::string::npos ? "" : shown.key.substr(0, dot);
        if (above != group && !above.empty()) std::cout << above << ":\n";
        group = above;
        const std::string indent = above.empty() ? "" : "  ";
        std::cout << indent << shown.key.substr(dot == std::string::npos ? 0 : dot + 1) << ": "
                  << in_yaml(shown_place(shown.value)) << "  # " << shown.origin << ": "
                  << shown.meaning << "\n";
    }
    return 0;
}

int run_config_check(const ServeCommand& command) {
    const auto configuration = configuration_of(command);
    if (!configuration) return fail(configuration.error());
    for (const auto& warning : configuration->warnings) std::cerr << "warning: " << warning << "\n";
    std::cout << "the configuration is well\n";
    return 0;
}

int run_config_user(const std::string& name, const std::string& role, bool files) {
    const auto password = password_from_stdin();
    if (!password) return fail(password.error());
    constexpr std::size_t kSalt = 16;
    const auto verifier = pgwire::make_verifier(*password, system::random_bytes(kSalt));
    std::cout << "users:\n  - {name: " << name << ", role: " << role
              << (files ? ", files: true" : "") << ", verifier: '" << pgwire::to_string(verifier)
              << "'}\n";
    return 0;
}

int run_config_token(const std::string& name, const std::string& role, bool files) {
    constexpr std::size_t kBytes = 32;
    const std::string token = system::hex_of(system::random_bytes(kBytes));
    std::cerr << "the token, which is shown only now: " << token << "\n";
    std::cout << "tokens:\n  - {name: " << name << ", role: " << role
              << (files ? ", files: true" : "") << ", sha256: '" << system::sha256_hex(token)
              << "'}\n";
    return 0;
}

}  // namespace baton::app
