#include "core/s3/profiles.h"

#include <algorithm>

#include "base/text.h"

namespace baton::s3 {

namespace {

std::string_view trimmed(std::string_view text) {
    constexpr std::string_view kSpace = " \t\r";
    const std::size_t begin = std::min(text.find_first_not_of(kSpace), text.size());
    text.remove_prefix(begin);
    return text.substr(0, text.find_last_not_of(kSpace) + 1);
}

// The name of the profile that the section is; empty: it is something else, such as [services x].
std::string profile_named(std::string_view section, ProfileFile file) {
    const std::string_view name = trimmed(section);
    if (file == ProfileFile::credentials || name == "default") return std::string(name);
    constexpr std::string_view kPrefix = "profile";
    if (!name.starts_with(kPrefix) || name.size() == kPrefix.size()) return "";
    if (name[kPrefix.size()] != ' ' && name[kPrefix.size()] != '\t') return "";
    return std::string(trimmed(name.substr(kPrefix.size())));
}

// A comment behind a value needs a space before it: secrets may have a # within.
std::string_view without_comment(std::string_view value) {
    for (std::size_t i = 1; i < value.size(); ++i) {
        const bool space = value[i - 1] == ' ' || value[i - 1] == '\t';
        if (space && (value[i] == '#' || value[i] == ';')) return trimmed(value.substr(0, i));
    }
    return value;
}

}  // namespace

Profiles read_profiles(std::string_view text, ProfileFile file) {
    Profiles profiles;
    Profile* current = nullptr;
    while (!text.empty()) {
        const std::size_t end = std::min(text.find('\n'), text.size());
        const std::string_view line = text.substr(0, end);
        text.remove_prefix(std::min(end + 1, text.size()));
        const std::string_view words = trimmed(line);
        if (words.empty() || words.front() == '#' || words.front() == ';') continue;
        if (words.front() == '[') {
            const std::size_t close = words.find(']');
            const std::string name = close == std::string_view::npos
                                         ? ""
                                         : profile_named(words.substr(1, close - 1), file);
            current = name.empty() ? nullptr : &profiles[name];
            continue;
        }
        const bool indented = line.front() == ' ' || line.front() == '\t';
        const std::size_t equals = words.find('=');
        if (indented || current == nullptr || equals == std::string_view::npos) continue;
        const std::string key = to_lower(trimmed(words.substr(0, equals)));
        (*current)[key] = without_comment(trimmed(words.substr(equals + 1)));
    }
    return profiles;
}

}  // namespace baton::s3
