// Where a store in S3 is, and how it is reached.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/result.h"
#include "core/s3/credential_choice.h"

namespace baton::s3 {

struct S3Settings {
    std::string bucket;
    std::string prefix;        // of all keys, without a slash at either end; may be empty
    std::string endpoint;      // "http://127.0.0.1:9000"; empty: AWS
    std::string region;        // as the URL says; empty: found out
    std::optional<Keys> keys;  // of the URL; none: found out
    std::string url;           // for messages, without secrets
    std::size_t connections_max = 32;
    std::uint64_t parts_from = 64ULL << 20U;  // bytes of an object that is sent in parts
    std::uint64_t part_bytes = 16ULL << 20U;  // of a part; more where 10,000 would not do
};

// The place that requests go to.
struct S3Place {
    std::string scheme;  // "https"
    std::string host;    // with a port that is not the scheme's own
    std::string path;    // of the bucket, encoded: "/bucket", or nothing for a virtual host
};

// Fails with invalid_configuration for a bucket or an endpoint that cannot be one.
[[nodiscard]] Result<Done> check_settings(const S3Settings& settings);
// Of settings that are checked.
[[nodiscard]] S3Place place_of(const S3Settings& settings, const std::string& region);

}  // namespace baton::s3
