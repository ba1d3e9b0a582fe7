// StoreUrl names an object store:
//
//     ./folder  /folder  file:///folder        a folder of this machine
//     s3://bucket/prefix?endpoint=https://host:9000&region=eu-west-1
//                       &access_key_id=..&secret_access_key=..&session_token=..
//
// A path is taken as it is; in file:// and s3:// URLs, %20 and the like stand for bytes. The prefix
// goes before every key, with a slash between. Input is hostile: at most kUrlBytesMax bytes of
// printable UTF-8, no parameter twice or unknown, and no `..` as a part of a prefix.
#pragma once

#include <string>
#include <string_view>
#include <variant>

#include "base/result.h"

namespace baton::stores {

inline constexpr std::size_t kUrlBytesMax = 4'000;

struct FolderUrl {
    std::string path;

    friend bool operator==(const FolderUrl&, const FolderUrl&) = default;
};
struct S3Url {
    std::string bucket;
    std::string prefix;    // without a slash at either end; may be empty
    std::string endpoint;  // empty: AWS; else http:// or https://
    std::string region;
    // Empty: as the environment says.
    std::string access_key_id;
    std::string secret_access_key;
    std::string session_token;

    friend bool operator==(const S3Url&, const S3Url&) = default;
};
using StoreUrl = std::variant<FolderUrl, S3Url>;

// Fails with invalid_configuration; the message shows no value of a parameter.
[[nodiscard]] Result<StoreUrl> parse_store_url(std::string_view text);

// For people and for other programs, without keys and tokens: "s3://b/p?endpoint=..".
[[nodiscard]] std::string shown(const StoreUrl& url);
// With them: parse_store_url() reads the same URL again. A path stays as it is, so that it can be
// one from the working directory.
[[nodiscard]] std::string whole_text(const StoreUrl& url);

// The URL of an absolute path: "file:///a%20b".
[[nodiscard]] std::string url_of_path(std::string_view path);

}  // namespace baton::stores
