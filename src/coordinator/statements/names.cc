#include "coordinator/statements/names.h"

#include "base/text.h"

namespace baton::coordinator {

namespace {

bool has_control_character(std::string_view name) {
    for (std::size_t i = 0; i < name.size(); ++i) {
        const auto byte = static_cast<unsigned char>(name[i]);
        if (byte < 0x20 || byte == 0x7f) return true;
        // U+0080 to U+009F, in UTF-8.
        const bool later = i + 1 < name.size() && static_cast<unsigned char>(name[i + 1]) < 0xa0;
        if (byte == 0xc2 && later) return true;
    }
    return false;
}

// As a message can show it.
std::string visible(std::string_view name) {
    std::string shown;
    for (const char c : name) {
        const auto byte = static_cast<unsigned char>(c);
        shown += byte < 0x20 || byte == 0x7f ? '?' : c;
    }
    return in_quotes(shown);
}

}  // namespace

Result<Done> check_new_name(std::string_view what, std::string_view name) {
    const auto refused = [&](std::string_view why) {
        return Error{.code = ErrorCode::invalid_configuration,
                     .message = std::string(what) + ", " + visible(name) + ", " + std::string(why),
                     .hint =
                         "give a name without blanks at its ends and without control "
                         "characters"};
    };
    if (has_control_character(name)) return refused("has a control character");
    if (name.starts_with(' ')) return refused("begins with a blank");
    if (name.ends_with(' ')) return refused("ends with a blank");
    return Done{};
}

}  // namespace baton::coordinator
