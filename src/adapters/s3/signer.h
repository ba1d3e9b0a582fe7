// Signatures of AWS, version 4, in the header Authorization: a pure function of the request, the
// keys and the time.
//
// All headers that the request has here are signed, with host, x-amz-date, x-amz-content-sha256 and
// the token of a session; headers that libcurl adds by itself are not. S3 signs a path as it is
// sent, without normalising it; STS has the path "/", for which that is the same.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/time.h"
#include "core/s3/credential_choice.h"

namespace baton::s3 {

struct HttpHeader {
    std::string name;  // in lower case
    std::string value;

    friend bool operator==(const HttpHeader&, const HttpHeader&) = default;
};

struct UnsignedRequest {
    std::string method;
    std::string host;  // with its port, where that is not the scheme's own
    std::string path;  // encoded
    std::vector<std::pair<std::string, std::string>> query;  // not encoded, in any order
    std::vector<HttpHeader> headers;
    std::string payload_sha256;  // in hexadecimal digits, or kUnsignedPayload
};

inline constexpr std::string_view kUnsignedPayload = "UNSIGNED-PAYLOAD";
// Of no bytes.
inline constexpr std::string_view kEmptySha256 =
    "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";

// Encoded and sorted, as it is signed and has to be sent: "max-keys=2&prefix=J".
[[nodiscard]] std::string canonical_query(
    const std::vector<std::pair<std::string, std::string>>& query);

struct SigningScope {
    std::string region;
    std::string service = "s3";
};

// The headers to send, Authorization among them, host left out.
[[nodiscard]] std::vector<HttpHeader> sign(const UnsignedRequest& request, const Keys& keys,
                                           const SigningScope& scope, WallTime now);

}  // namespace baton::s3
