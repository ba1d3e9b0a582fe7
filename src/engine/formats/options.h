// Options out of a configuration. An absent option has its default: a plan may come from an older
// coordinator, whose descriptors did not know the option.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "model/config.h"

namespace baton::formats {

template <class T>
[[nodiscard]] T option_or(const Config& config, std::string_view key, T otherwise) {
    const auto found = config.find(std::string(key));
    if (found == config.end()) return otherwise;
    const T* const value = std::get_if<T>(&found->second);
    return value == nullptr ? otherwise : *value;
}

[[nodiscard]] inline std::string text_or(const Config& config, std::string_view key,
                                         std::string_view otherwise) {
    return option_or<std::string>(config, key, std::string(otherwise));
}

[[nodiscard]] inline bool flag_or(const Config& config, std::string_view key, bool otherwise) {
    return option_or<bool>(config, key, otherwise);
}

[[nodiscard]] inline std::int64_t number_or(const Config& config, std::string_view key,
                                            std::int64_t otherwise) {
    return option_or<std::int64_t>(config, key, otherwise);
}

}  // namespace baton::formats
