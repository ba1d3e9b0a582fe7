// Json is a JSON text as a tree, for reading what a machine wrote: strict, bounded, without
// comments or trailing commas. Bytes of strings are taken as they are, escapes are decoded.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/result.h"

namespace baton::plan_format {

struct Json {
    using Array = std::vector<Json>;
    struct Field;
    using Object = std::vector<Field>;  // in the order written, no key twice
    // A number without fraction or exponent is an integer; one below zero is signed.
    std::variant<std::monostate, bool, std::int64_t, std::uint64_t, double, std::string, Array,
                 Object>
        value;
};

struct Json::Field {
    std::string key;
    Json value;
};

struct JsonLimits {
    std::size_t bytes = 0;
    std::size_t depth = 0;
};

// Fails with catalog_corrupt, saying at which byte and why, never what stands there: it may be a
// secret.
[[nodiscard]] Result<Json> parse_json(std::string_view text, const JsonLimits& limits);

void append_json_number(std::string& to, double value);  // "NaN", "Infinity", "-Infinity" as text

}  // namespace baton::plan_format
