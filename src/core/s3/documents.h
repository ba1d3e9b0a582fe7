// The documents of S3 and STS that Baton reads, as values, and those that it writes.
//
// Every reader fails with malformed_message if the document is another one, or lacks what it must
// have. Texts of the store are returned as they are, and are hostile.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "base/time.h"

namespace baton::s3 {

// <Error>, also in STS' <ErrorResponse>.
struct StoreError {
    std::string code;  // "NoSuchBucket"; empty: none was given
    std::string message;
    std::string region;  // where the bucket is, if the store says so
};
// Empty fields if the body is no such document: errors of proxies are HTML.
[[nodiscard]] StoreError read_error(std::string_view body);

struct ListedKey {
    std::string key;
    std::string etag;  // without quotes
    std::uint64_t size = 0;
    WallTime modified;
};
struct Listing {
    std::vector<ListedKey> keys;
    std::vector<std::string> prefixes;  // common ones
    bool truncated = false;
};
// <ListBucketResult> of ListObjectsV2, keys decoded where they are encoded.
[[nodiscard]] Result<Listing> read_listing(std::string_view body);

struct KeyError {
    std::string key;
    StoreError error;
};
// <DeleteResult>: the objects that were not removed.
[[nodiscard]] Result<std::vector<KeyError>> read_removal(std::string_view body);
[[nodiscard]] std::string removal_of(std::span<const std::string> keys);

// <InitiateMultipartUploadResult>: the id of the upload.
[[nodiscard]] Result<std::string> read_upload_id(std::string_view body);
// The etags of parts 1, 2, ..
[[nodiscard]] std::string completion_of(std::span<const std::string> etags);
// <CompleteMultipartUploadResult>: the etag of the object; empty: radosgw leaves it out.
[[nodiscard]] Result<std::string> read_completion(std::string_view body);

// Without the quotes that a header has around it.
[[nodiscard]] std::string bare_etag(std::string_view etag);

// "2013-05-24T00:00:00Z", with any fraction of a second.
[[nodiscard]] std::optional<WallTime> time_of_document(std::string_view text);
// "Fri, 24 May 2013 00:00:00 GMT", of a Date header.
[[nodiscard]] std::optional<WallTime> time_of_header(std::string_view text);
// "20130524T000000Z", as a signature needs it.
[[nodiscard]] std::string time_for_signature(WallTime time);

}  // namespace baton::s3
