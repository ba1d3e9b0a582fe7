// Upload sends a large object in parts and puts them together, under a condition that the store
// judges at that moment. Nothing is left of an upload that failed, as far as the store can be
// reached.
//
// Stores exist that keep conditions of a plain put() and ignore those of a completion. Before the
// first conditional upload a trial finds that out, at a key of its own below the prefix; such a
// store gets conditional objects in one request, up to 5 GiB.
#pragma once

#include <cstdint>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "adapters/s3/requests.h"

namespace baton::s3 {

// The bytes of an object: in memory, or an open file.
using ObjectBody = std::variant<std::string_view, FileSlice>;

[[nodiscard]] std::uint64_t size_of(const ObjectBody& body);
// Hexadecimal digits; none: the file cannot be read in full, or the caller gave up.
[[nodiscard]] std::optional<std::string> sha256_of(const ObjectBody& body, const AttemptCall& call);

using PutReply = std::variant<PutOutcome, AttemptFailure>;

struct PutParts {
    std::string key;  // with the store's prefix
    ObjectBody body;
    PutCondition condition;
    std::string stamp;
};

// The headers of a put() or a completion, and of an object with a stamp.
[[nodiscard]] std::vector<HttpHeader> condition_headers(const PutCondition& condition);
[[nodiscard]] std::vector<HttpHeader> stamp_headers(const std::string& stamp);

// A put() that is over: the meaning of its status.
[[nodiscard]] PutReply put_reply(const Requests& requests, const PutCondition& condition,
                                 const HttpAnswer& answer);

class Upload {
public:
    explicit Upload(Requests& requests) : requests_(requests) {}

    [[nodiscard]] PutReply run(const PutParts& put, Attempt& attempt);

    // Whether the store judges a condition when parts are put together. Asked once.
    [[nodiscard]] std::variant<bool, AttemptFailure> judges_conditions(Attempt& attempt);

private:
    [[nodiscard]] std::variant<std::string, AttemptFailure> create(const PutParts& put,
                                                                   Attempt& attempt);
    [[nodiscard]] std::optional<AttemptFailure> send_parts(const PutParts& put,
                                                           const std::string& id,
                                                           std::vector<std::string>& etags,
                                                           Attempt& attempt);
    [[nodiscard]] std::variant<std::string, AttemptFailure> send_part(const std::string& key,
                                                                      const std::string& id,
                                                                      std::size_t number,
                                                                      const ObjectBody& part,
                                                                      Attempt& attempt);
    [[nodiscard]] PutReply complete(const PutParts& put, const std::string& id,
                                    std::span<const std::string> etags, Attempt& attempt);
    // The etag of an object that was just put together, where the completion does not say it.
    [[nodiscard]] PutReply look_for_etag(const PutParts& put, Attempt& attempt);
    void abort(const std::string& key, const std::string& id, Attempt& attempt);
    [[nodiscard]] std::variant<bool, AttemptFailure> try_condition(Attempt& attempt);

    Requests& requests_;
    std::mutex mutex_;  // held during the trial
    std::optional<bool> judges_;
};

}  // namespace baton::s3
