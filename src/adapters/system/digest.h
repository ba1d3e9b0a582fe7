// Digests and random bytes, from the library that is trusted with them.
#pragma once

#include <string>
#include <string_view>

namespace baton::system {

// The SHA-256 of the bytes, in hexadecimal digits.
[[nodiscard]] std::string sha256_hex(std::string_view bytes);

// The HMAC-SHA-256 of the text under the key, in hexadecimal digits.
[[nodiscard]] std::string hmac_sha256_hex(std::string_view key, std::string_view text);

// Takes the same time wherever they differ.
[[nodiscard]] bool equal_in_constant_time(std::string_view a, std::string_view b);

// So many unpredictable bytes, from the system.
[[nodiscard]] std::string random_bytes(std::size_t count);

[[nodiscard]] std::string hex_of(std::string_view bytes);

}  // namespace baton::system
