#include "adapters/s3/answers.h"

#include <algorithm>
#include <array>

#include "base/one_line.h"
#include "base/text.h"
#include "base/utf8.h"

namespace baton::s3 {

namespace {

struct KnownCode {
    std::string_view code;
    AttemptTrouble trouble;
    std::string_view hint;
};

// Codes that say more than their status.
constexpr std::array kKnownCodes = {
    KnownCode{"SlowDown", AttemptTrouble::throttled, ""},
    KnownCode{"ServiceUnavailable", AttemptTrouble::throttled, ""},
    KnownCode{"RequestLimitExceeded", AttemptTrouble::throttled, ""},
    KnownCode{"TooManyRequests", AttemptTrouble::throttled, ""},
    KnownCode{"Throttling", AttemptTrouble::throttled, ""},
    KnownCode{"QuotaExceeded", AttemptTrouble::full, "give the bucket a larger quota"},
    KnownCode{"XMinioStorageFull", AttemptTrouble::full, "make room in the store"},
    KnownCode{"XMinioAdminBucketQuotaExceeded", AttemptTrouble::full,
              "give the bucket a larger quota"},
    KnownCode{"EntityTooLarge", AttemptTrouble::too_large, ""},
    KnownCode{"RequestTimeout", AttemptTrouble::server, ""},
    KnownCode{"IncompleteBody", AttemptTrouble::server, ""},
    KnownCode{"BadDigest", AttemptTrouble::server, ""},
    KnownCode{"XAmzContentSHA256Mismatch", AttemptTrouble::server,
              "no other program may change a file while it is sent"},
    KnownCode{"InternalError", AttemptTrouble::server, ""},
    KnownCode{"OperationAborted", AttemptTrouble::server, ""},
    KnownCode{"ConditionalRequestConflict", AttemptTrouble::server, ""},
    KnownCode{"NoSuchUpload", AttemptTrouble::server, ""},
    KnownCode{"NoSuchBucket", AttemptTrouble::refused, "create the bucket, or correct the URL"},
    KnownCode{"AccessDenied", AttemptTrouble::refused,
              "the user of these keys needs the permissions in docs/STORES.md"},
    KnownCode{"SignatureDoesNotMatch", AttemptTrouble::refused,
              "the secret key does not belong to the access key"},
    KnownCode{"InvalidAccessKeyId", AttemptTrouble::refused,
              "the store does not know the access key"},
    KnownCode{"ExpiredToken", AttemptTrouble::refused, "get new keys of a session"},
    KnownCode{"InvalidToken", AttemptTrouble::refused, "get new keys of a session"},
    KnownCode{"RequestTimeTooSkewed", AttemptTrouble::refused, "set the clock of this machine"},
    KnownCode{"AuthorizationHeaderMalformed", AttemptTrouble::refused,
              "say the region of the bucket: ?region=.."},
    KnownCode{"PermanentRedirect", AttemptTrouble::refused,
              "say the region or the endpoint of the bucket in the URL"},
    KnownCode{"TemporaryRedirect", AttemptTrouble::refused,
              "say the region or the endpoint of the bucket in the URL"},
    KnownCode{"InvalidObjectState", AttemptTrouble::refused, "the object is archived: restore it"},
};

AttemptTrouble trouble_of(int status) {
    if (status == 429 || status == 503) return AttemptTrouble::throttled;
    if (status == 507) return AttemptTrouble::full;
    if (status == 413) return AttemptTrouble::too_large;
    if (status == 501) return AttemptTrouble::refused;
    if (status >= 500 || status == 409 || status == 408) return AttemptTrouble::server;
    if (status >= 300) return AttemptTrouble::refused;
    return AttemptTrouble::unknown;
}

}  // namespace

std::string cleaned(std::string_view text, std::size_t bytes_max) {
    std::string clean;
    const std::string line = one_line(text.substr(0, std::min(text.size(), 4 * bytes_max)));
    for (std::string_view rest = line; !rest.empty();) {
        const std::size_t size = utf8_character_size(rest);
        const auto lead = static_cast<unsigned char>(rest.front());
        const bool control = size == 0 || lead < 0x20 || lead == 0x7f ||
                             (lead == 0xc2 && static_cast<unsigned char>(rest[1]) < 0xa0);
        const std::string_view shown = control ? std::string_view("?") : rest.substr(0, size);
        if (clean.size() + shown.size() > bytes_max) break;
        clean += shown;
        rest.remove_prefix(std::max<std::size_t>(size, 1));
    }
    return clean;
}

bool rejects_keys(const StoreError& error) {
    constexpr std::array<std::string_view, 4> kCodes = {"ExpiredToken", "TokenRefreshRequired",
                                                        "InvalidToken", "InvalidAccessKeyId"};
    return std::find(kCodes.begin(), kCodes.end(), error.code) != kCodes.end();
}

AttemptFailure failure_of(int status, const StoreError& error, const std::string& bucket) {
    AttemptFailure failure{.trouble = trouble_of(status), .why = "", .hint = ""};
    failure.why = "bucket " + in_quotes(bucket) + " answers " + std::to_string(status);
    if (!error.code.empty()) failure.why += " " + cleaned(error.code, 64);
    if (!error.message.empty()) failure.why += ": " + cleaned(error.message, 200);
    const auto* const known =
        std::find_if(kKnownCodes.begin(), kKnownCodes.end(),
                     [&](const KnownCode& entry) { return entry.code == error.code; });
    if (known != kKnownCodes.end()) {
        failure.trouble = known->trouble;
        failure.hint = known->hint;
    } else if (status / 100 == 3) {
        failure.hint = "redirections are not followed: say the endpoint or region in the URL";
    } else if (error.code.empty() && (status == 404 || status == 405)) {
        failure.hint = "see whether the endpoint is that of a store";
    }
    if (!error.region.empty() && is_region(error.region)) {
        failure.why += "; it is in region " + error.region;
    }
    return failure;
}

AttemptFailure strange_answer(const std::string& bucket, std::string_view why) {
    return {
        .trouble = AttemptTrouble::unknown,
        .why = "the answer of bucket " + in_quotes(bucket) + " is none of S3: " + cleaned(why, 200),
        .hint = "see whether the endpoint is that of a store"};
}

}  // namespace baton::s3
