// Settings of the daemon: their names, their values, and where each was set.
//
// Layers, each winning over those before it: defaults, the file, the environment, the command line.
// A key is words joined by dots (`http.listen`); in the environment it is BATON_HTTP_LISTEN, in the
// file `listen` below `http`. Pure: the caller reads files and the environment, and hands the texts
// in.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace baton::config {

enum class Type : std::uint8_t {
    text,
    number,
    flag,
    choice,
    list,  // texts, with commas between them
};

struct Setting {
    std::string_view key;
    Type type = Type::text;
    std::string_view fallback;
    std::string_view meaning;
    std::vector<std::string_view> choices = {};  // of a choice
    std::uint64_t least = 0;                     // of a number
    std::uint64_t most = UINT64_MAX;
};

// Everything that can be set, in the order it is shown.
[[nodiscard]] std::span<const Setting> known_settings();
// Whether there may be several of it.
[[nodiscard]] bool is_list(std::string_view key);
// BATON_HTTP_LISTEN
[[nodiscard]] std::string environment_name(std::string_view key);

class Settings {
public:
    Settings();  // the defaults

    // `origin` says where it was set: "baton.yaml:3". Fails with invalid_configuration, naming the
    // origin and, for a key that is not known, the nearest one that is.
    [[nodiscard]] Result<Done> set(const std::string& key, std::string value, std::string origin);
    // Reads the variables that are settings and ignores the others: Kubernetes sets BATON_PORT and
    // the like for a service named baton. Returns a warning for each that looks like a mistyped
    // one.
    [[nodiscard]] Result<std::vector<std::string>> set_from_environment(
        const std::map<std::string, std::string>& all);

    // Of a key that is known.
    [[nodiscard]] const std::string& text(std::string_view key) const;
    [[nodiscard]] std::uint64_t number(std::string_view key) const;
    [[nodiscard]] bool flag(std::string_view key) const;
    // Without blanks around them; none is empty.
    [[nodiscard]] std::vector<std::string> list(std::string_view key) const;

    // A value that is not the default carries the place where it was set: two columns of a person's
    // view.
    struct Shown {
        std::string key;
        std::string value;
        std::string origin;  // "default", ..
        std::string meaning;
    };
    [[nodiscard]] std::vector<Shown> all() const;

private:
    struct Value {
        std::string text;
        std::string origin;
    };
    std::map<std::string, Value, std::less<>> values_;
};

}  // namespace baton::config
