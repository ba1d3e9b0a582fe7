// Target is what a request is about: the path and the parameters of its URL, decoded.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"

namespace baton::http {

struct Target {
    std::vector<std::string> path;                                // "/v1/a%2Fb" is {"v1", "a/b"}
    std::vector<std::pair<std::string, std::string>> parameters;  // no name twice

    [[nodiscard]] const std::string* parameter(std::string_view name) const {
        for (const auto& [known, value] : parameters) {
            if (known == name) return &value;
        }
        return nullptr;
    }
};

// Fails with malformed_message: not a path, a wrong escape, text that is not UTF-8, a parameter
// that is given twice.
[[nodiscard]] Result<Target> parse_target(std::string_view text);

// As a segment of a path or a value of a parameter.
[[nodiscard]] std::string percent_encoded(std::string_view text);

}  // namespace baton::http
