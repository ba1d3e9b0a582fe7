// Percent-encoding as S3 signs it: every byte but A-Z a-z 0-9 - . _ ~ becomes %XX in capitals.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace baton::s3 {

// Of a query's names and values, and of a path, whose slashes stay.
[[nodiscard]] std::string encode_query(std::string_view text);
[[nodiscard]] std::string encode_path(std::string_view path);

enum class Plus : bool { is_plus, is_space };

// The reverse. None if a percent sign is not followed by two hexadecimal digits.
[[nodiscard]] std::optional<std::string> decode_percent(std::string_view text, Plus plus);

}  // namespace baton::s3
