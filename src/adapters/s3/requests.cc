#include "adapters/s3/requests.h"

#include <chrono>

#include "adapters/s3/answers.h"
#include "core/s3/documents.h"
#include "core/s3/encoding.h"

namespace baton::s3 {

namespace {

// Below this a clock is right: S3 itself allows 15 minutes.
constexpr Duration kClockTolerance = std::chrono::minutes(1);
constexpr int kMendsMax = 3;

std::string url_of(const S3Place& place, const std::string& path, const std::string& query) {
    std::string url = place.scheme + "://" + place.host + path;
    if (!query.empty()) url += "?" + query;
    return url;
}

std::string path_of(const S3Place& place, const std::string& key) {
    if (key.empty()) return place.path.empty() ? "/" : place.path;
    return place.path + "/" + encode_path(key);
}

// A store may repeat what was sent to it in its words, which end up in logs. Shorter texts than
// any secret are found everywhere.
bool repeats_secret(std::string_view body, const Keys& keys) {
    const auto holds = [&](std::string_view secret) {
        return secret.size() >= 8 && body.find(secret) != std::string_view::npos;
    };
    return holds(keys.secret) || holds(keys.token);
}

std::string seconds_of(Duration time) {
    return std::to_string(std::chrono::abs(std::chrono::round<std::chrono::seconds>(time)).count());
}

}  // namespace

Requests::Requests(S3Settings settings, std::string region, CredentialSource source,
                   std::string authorities, const Clock& clock)
    : settings_(std::move(settings)),
      clock_(clock),
      http_(settings_.connections_max, std::move(authorities)),
      credentials_(std::move(source), http_, clock) {
    signing_.region = std::move(region);
}

Attempt Requests::begin(const AttemptCall& call) const {
    return {.call = call, .until = clock_.now() + call.time_max, .cost = {}};
}

Requests::Signing Requests::signing() const {
    const std::lock_guard lock(mutex_);
    return signing_;
}

AttemptFailure Requests::failure(const HttpAnswer& answer) const {
    StoreError error = read_error(answer.body);
    if (error.region.empty()) error.region = answer.header("x-amz-bucket-region");
    AttemptFailure failed = failure_of(answer.status, error, settings_.bucket);
    const auto date = time_of_header(answer.header("date"));
    if (error.code == "RequestTimeTooSkewed" && date) {
        const Duration ahead = clock_.wall_now() - *date;
        failed.why += "; the clock of this machine is " + seconds_of(ahead) + " s " +
                      (ahead < Duration::zero() ? "behind" : "ahead of") + " the store's";
    }
    return failed;
}

S3Outcome Requests::send_plain(const HttpRequest& request, Attempt& attempt) {
    AttemptCall rest = attempt.call;
    rest.time_max = attempt.until - clock_.now();
    if (rest.time_max <= Duration::zero()) {
        return AttemptFailure{AttemptTrouble::not_sent, "no time was left for the request", ""};
    }
    HttpOutcome outcome = http_.exchange(request, rest);
    ++attempt.cost.requests;
    if (auto* failed = std::get_if<HttpFailure>(&outcome)) {
        attempt.cost.bytes_in += failed->bytes_in;
        attempt.cost.bytes_out += failed->bytes_out;
        return std::move(failed->failure);
    }
    auto& answer = std::get<HttpAnswer>(outcome);
    attempt.cost.bytes_in += answer.bytes_in;
    attempt.cost.bytes_out += answer.bytes_out;
    return std::move(answer);
}

S3Outcome Requests::send_once(const S3Request& request, const Signing& signing, const Keys& keys,
                              Attempt& attempt) {
    const S3Place place = place_of(settings_, signing.region);
    UnsignedRequest to_sign{.method = request.method,
                            .host = place.host,
                            .path = path_of(place, request.key),
                            .query = request.query,
                            .headers = request.headers,
                            .payload_sha256 = request.payload_sha256};
    if (to_sign.payload_sha256.empty()) to_sign.payload_sha256 = kEmptySha256;
    HttpRequest http{
        .method = request.method,
        .url = url_of(place, to_sign.path, canonical_query(request.query)),
        .headers = sign(to_sign, keys, {.region = signing.region},
                        clock_.wall_now() + signing.store_ahead),
        .body = request.body,
        .body_max = request.body_max,
    };
    http.headers.push_back({"host", place.host});
    return send_plain(http, attempt);
}

// An answer of any kind names the region, also to a request without a signature.
std::optional<AttemptFailure> Requests::find_region(Attempt& attempt) {
    const S3Place place = place_of(settings_, "us-east-1");
    S3Outcome outcome = send_plain(
        {.method = "HEAD", .url = url_of(place, path_of(place, ""), ""), .headers = {}, .body = {}},
        attempt);
    if (auto* failed = std::get_if<AttemptFailure>(&outcome)) return std::move(*failed);
    std::string region(std::get<HttpAnswer>(outcome).header("x-amz-bucket-region"));
    if (!is_region(region)) region = "us-east-1";
    const std::lock_guard lock(mutex_);
    if (signing_.region.empty()) signing_.region = std::move(region);
    return std::nullopt;
}

Requests::Mend Requests::mend(const HttpAnswer& answer, const Signing& signing,
                              std::uint64_t number) {
    if (answer.status < 300 || answer.status >= 500 || answer.status == 404) return Mend::none;
    const StoreError error = read_error(answer.body);
    if (error.code == "RequestTimeTooSkewed") {
        const auto date = time_of_header(answer.header("date"));
        if (!date) return Mend::none;
        const Duration ahead = *date - clock_.wall_now();
        if (std::chrono::abs(ahead - signing.store_ahead) < kClockTolerance) return Mend::none;
        const std::lock_guard lock(mutex_);
        signing_.store_ahead = ahead;
        return Mend::again;
    }
    if (rejects_keys(error)) return credentials_.rejected(number) ? Mend::again : Mend::none;
    const std::string_view header = answer.header("x-amz-bucket-region");
    const std::string region = header.empty() ? error.region : std::string(header);
    const bool elsewhere = is_region(region) && region != signing.region;
    const bool about_region = answer.status == 301 || answer.status == 307 ||
                              error.code == "AuthorizationHeaderMalformed";
    if (!elsewhere || !about_region || !settings_.region.empty()) return Mend::none;
    const std::lock_guard lock(mutex_);
    signing_.region = region;
    return Mend::again;
}

S3Outcome Requests::send(const S3Request& request, Attempt& attempt) {
    if (signing().region.empty()) {
        if (auto failed = find_region(attempt)) return *std::move(failed);
    }
    for (int mends = 0;; ++mends) {
        AttemptCall rest = attempt.call;
        rest.time_max = attempt.until - clock_.now();
        auto keys = credentials_.get(rest);
        if (auto* failed = std::get_if<AttemptFailure>(&keys)) return std::move(*failed);
        const auto& numbered = std::get<NumberedKeys>(keys);
        const Signing by = signing();
        S3Outcome outcome = send_once(request, by, numbered.keys, attempt);
        auto* answer = std::get_if<HttpAnswer>(&outcome);
        if (answer == nullptr) return outcome;
        if (answer->status >= 300 && repeats_secret(answer->body, numbered.keys)) {
            answer->body.clear();
        }
        if (mends == kMendsMax || mend(*answer, by, numbered.number) == Mend::none) return outcome;
    }
}

}  // namespace baton::s3
