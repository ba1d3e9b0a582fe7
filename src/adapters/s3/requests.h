// Requests signs requests to one bucket, sends them, and sees to what an answer says about the
// signature: the region that the bucket is in, the time that it is there, keys that have ended.
// Each of these is tried once more, at once; every other answer is the caller's.
//
// Time:    requests are signed by our clock, until a store says that it is wrong; from then on by
//          the store's.
// Region:  the URL's is final. Another one, from the environment or a profile, gives way to the one
//          that the bucket names; without any the bucket is asked first.
// Calls block; any thread, many at once.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "adapters/s3/credentials.h"
#include "adapters/s3/http_client.h"
#include "adapters/s3/s3_settings.h"
#include "ports/clock.h"
#include "ports/store_attempts.h"

namespace baton::s3 {

// One attempt of a caller: its deadline, and the price so far.
struct Attempt {
    AttemptCall call;  // as it began
    Instant until;
    AttemptCost cost;
};

struct S3Request {
    std::string method;
    std::string key;  // with the store's prefix; empty: the bucket itself
    std::vector<std::pair<std::string, std::string>> query;
    std::vector<HttpHeader> headers;
    std::variant<std::monostate, std::string_view, FileSlice> body;
    std::string payload_sha256;  // empty: there is no body
    std::uint64_t body_max = 64 << 10;
};

using S3Outcome = std::variant<HttpAnswer, AttemptFailure>;

class Requests {
public:
    // `region` is the one to begin with; empty: the bucket is asked. The clock outlives it.
    Requests(S3Settings settings, std::string region, CredentialSource source,
             std::string authorities, const Clock& clock);

    // Any status: an answer is a failure only where no whole one came.
    [[nodiscard]] S3Outcome send(const S3Request& request, Attempt& attempt);

    [[nodiscard]] Attempt begin(const AttemptCall& call) const;
    [[nodiscard]] const S3Settings& settings() const { return settings_; }
    // The failure that an answer of this status is.
    [[nodiscard]] AttemptFailure failure(const HttpAnswer& answer) const;

private:
    struct Signing {
        std::string region;
        Duration store_ahead = Duration::zero();
    };
    enum class Mend : std::uint8_t { none, again };

    [[nodiscard]] S3Outcome send_once(const S3Request& request, const Signing& signing,
                                      const Keys& keys, Attempt& attempt);
    [[nodiscard]] S3Outcome send_plain(const HttpRequest& request, Attempt& attempt);
    [[nodiscard]] std::optional<AttemptFailure> find_region(Attempt& attempt);
    // Keeps the word of an answer about the signature for the next one.
    [[nodiscard]] Mend mend(const HttpAnswer& answer, const Signing& signing, std::uint64_t number);
    [[nodiscard]] Signing signing() const;

    const S3Settings settings_;
    const Clock& clock_;
    HttpClient http_;
    Credentials credentials_;
    mutable std::mutex mutex_;
    Signing signing_;
};

}  // namespace baton::s3
