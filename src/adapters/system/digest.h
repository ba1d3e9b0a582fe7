// Digests and random bytes, from the library that is trusted with them.
#pragma once

#include <string>
#include <string_view>

namespace baton::system {

// The SHA-256 of the bytes, in hexadecimal digits.
[[nodiscard]] std::string sha256_hex(std::string_view bytes);

// The HMAC-SHA-256 of the text under the key: its 32 bytes, or in hexadecimal digits.
[[nodiscard]] std::string hmac_sha256(std::string_view key, std::string_view text);
[[nodiscard]] std::string hmac_sha256_hex(std::string_view key, std::string_view text);

// The SHA-256 of bytes that come in parts.
class Sha256Stream {
public:
    Sha256Stream();
    ~Sha256Stream();
    Sha256Stream(const Sha256Stream&) = delete;
    Sha256Stream& operator=(const Sha256Stream&) = delete;

    void add(std::string_view bytes);
    [[nodiscard]] std::string hex();  // once, at the end

private:
    void* context_;
};

// The MD5 of the bytes in base64, as a check against damage on the way; empty where the system
// forbids this digest.
[[nodiscard]] std::string md5_base64(std::string_view bytes);

// Takes the same time wherever they differ.
[[nodiscard]] bool equal_in_constant_time(std::string_view a, std::string_view b);

// So many unpredictable bytes, from the system.
[[nodiscard]] std::string random_bytes(std::size_t count);

[[nodiscard]] std::string hex_of(std::string_view bytes);

}  // namespace baton::system
