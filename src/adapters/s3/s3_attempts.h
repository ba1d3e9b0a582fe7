// S3Attempts is StoreAttempts over a bucket of S3, or of a store that speaks its protocol.
//
// Calls:    GET with Range and If-None-Match; PUT with If-None-Match: * or If-Match, in parts where
//           it is large (upload.h); ListObjectsV2; DeleteObjects, or single DELETEs where the store
//           does not know that.
// Stamps:   x-amz-meta-baton-stamp, percent-encoded.
// Limits:   pages of lists 8 MB, errors 64 KB, headers 64 KB, objects as the caller says.
// Keys that end in a slash, which consoles make as folders, are left out of lists.
#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "adapters/s3/requests.h"
#include "adapters/s3/upload.h"
#include "ports/store_attempts.h"

namespace baton::s3 {

class S3Attempts final : public StoreAttempts {
public:
    explicit S3Attempts(std::unique_ptr<Requests> requests);

    Attempted<GotWithStamp> get(const std::string& key, const GetOptions& options,
                                const AttemptCall& call) override;
    Attempted<PutOutcome> put(const std::string& key, const PutAttempt& put,
                              const AttemptCall& call) override;
    Attempted<ListPage> list(const ListOptions& options, const AttemptCall& call) override;
    Attempted<Done> remove(std::span<const std::string> keys, const AttemptCall& call) override;

    [[nodiscard]] std::optional<std::string> path_of(const std::string& /*key*/) const override {
        return std::nullopt;
    }
    [[nodiscard]] std::string url() const override { return requests_->settings().url; }

private:
    using GotReply = std::variant<GotWithStamp, AttemptFailure>;
    using ListReply = std::variant<ListPage, AttemptFailure>;

    [[nodiscard]] std::string full_key(const std::string& key) const;
    [[nodiscard]] std::optional<std::string> own_key(const std::string& key) const;
    [[nodiscard]] AttemptFailure strange(std::string_view why) const;
    [[nodiscard]] GotReply get_range(const std::string& key, const GetOptions& options,
                                     Attempt& attempt);
    [[nodiscard]] GotReply object_of(HttpAnswer& answer, const GetOptions& options) const;
    // Of an object whose end lies before the range: its size and etag, without bytes.
    [[nodiscard]] GotReply look(const std::string& key, Attempt& attempt);
    [[nodiscard]] PutReply put_body(const PutParts& put, Attempt& attempt);
    [[nodiscard]] PutReply put_whole(const PutParts& put, Attempt& attempt);
    [[nodiscard]] ListReply list_page(const ListOptions& options, Attempt& attempt);
    [[nodiscard]] ListReply page_of(const HttpAnswer& answer, const ListOptions& options) const;
    [[nodiscard]] std::optional<AttemptFailure> remove_many(std::span<const std::string> keys,
                                                            Attempt& attempt);
    [[nodiscard]] std::optional<AttemptFailure> remove_one(const std::string& key,
                                                           Attempt& attempt);

    const std::unique_ptr<Requests> requests_;
    Upload upload_;
    std::atomic<bool> removes_many_ = true;  // until the store says that it cannot
};

}  // namespace baton::s3
