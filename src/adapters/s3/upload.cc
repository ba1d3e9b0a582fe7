#include "adapters/s3/upload.h"

#include <algorithm>
#include <array>
#include <chrono>

#include <unistd.h>

#include "adapters/s3/answers.h"
#include "adapters/system/digest.h"
#include "base/overload.h"
#include "core/s3/documents.h"
#include "core/s3/encoding.h"

namespace baton::s3 {

namespace {

constexpr std::size_t kPartsMax = 10'000;
constexpr int kTriesOfPart = 3;
constexpr Duration kAbortPatience = std::chrono::seconds(5);

// A step before the completion: the object itself was not touched by it.
AttemptFailure before_completion(AttemptFailure failed) {
    const bool may_have_happened =
        failed.trouble == AttemptTrouble::unknown || failed.trouble == AttemptTrouble::server;
    if (may_have_happened) failed.trouble = AttemptTrouble::not_sent;
    return failed;
}

bool helps_to_repeat(AttemptTrouble trouble) {
    return trouble == AttemptTrouble::not_sent || trouble == AttemptTrouble::server ||
           trouble == AttemptTrouble::unknown;
}

ObjectBody slice_of(const ObjectBody& body, std::uint64_t offset, std::uint64_t size) {
    if (const auto* bytes = std::get_if<std::string_view>(&body)) {
        return bytes->substr(offset, size);
    }
    FileSlice slice = std::get<FileSlice>(body);
    slice.offset += offset;
    slice.size = size;
    return slice;
}

std::variant<std::monostate, std::string_view, FileSlice> to_send(const ObjectBody& body) {
    if (const auto* bytes = std::get_if<std::string_view>(&body)) return *bytes;
    return std::get<FileSlice>(body);
}

S3Request completion_request(const PutParts& put, const std::string& id, const std::string& text) {
    return {.method = "POST",
            .key = put.key,
            .query = {{"uploadId", id}},
            .headers = condition_headers(put.condition),
            .body = std::string_view(text),
            .payload_sha256 = system::sha256_hex(text)};
}

}  // namespace

std::uint64_t size_of(const ObjectBody& body) {
    if (const auto* bytes = std::get_if<std::string_view>(&body)) return bytes->size();
    return std::get<FileSlice>(body).size;
}

std::optional<std::string> sha256_of(const ObjectBody& body, const AttemptCall& call) {
    if (const auto* bytes = std::get_if<std::string_view>(&body)) {
        return system::sha256_hex(*bytes);
    }
    const auto& slice = std::get<FileSlice>(body);
    system::Sha256Stream digest;
    std::vector<char> part(std::size_t{1} << 20U);
    for (std::uint64_t done = 0; done < slice.size;) {
        if (call.given_up && call.given_up()) return std::nullopt;
        const auto room =
            static_cast<std::size_t>(std::min<std::uint64_t>(part.size(), slice.size - done));
        const auto place = static_cast<off_t>(slice.offset + done);
        const ssize_t got = ::pread(slice.file, part.data(), room, place);
        if (got <= 0) return std::nullopt;
        digest.add({part.data(), static_cast<std::size_t>(got)});
        done += static_cast<std::uint64_t>(got);
    }
    return digest.hex();
}

std::vector<HttpHeader> condition_headers(const PutCondition& condition) {
    return std::visit(Overload{[](const Always&) { return std::vector<HttpHeader>(); },
                               [](const IfAbsent&) {
                                   return std::vector<HttpHeader>{{"if-none-match", "*"}};
                               },
                               // Without quotes: AWS takes both, radosgw compares as it is written.
                               [](const IfUnchanged& unchanged) {
                                   return std::vector<HttpHeader>{{"if-match", unchanged.etag}};
                               }},
                      condition);
}

std::vector<HttpHeader> stamp_headers(const std::string& stamp) {
    if (stamp.empty()) return {};
    return {{"x-amz-meta-baton-stamp", encode_query(stamp)}};
}

PutReply put_reply(const Requests& requests, const PutCondition& condition,
                   const HttpAnswer& answer) {
    const bool conditional = !std::holds_alternative<Always>(condition);
    if (answer.status == 412 && conditional) return PutOutcome(ConditionFailed{});
    // If-Match against an object that is no longer there.
    if (answer.status == 404 && std::holds_alternative<IfUnchanged>(condition) &&
        read_error(answer.body).code == "NoSuchKey") {
        return PutOutcome(ConditionFailed{});
    }
    if (answer.status != 200) return requests.failure(answer);
    std::string etag = bare_etag(answer.header("etag"));
    if (etag.empty()) {
        return strange_answer(requests.settings().bucket, "a stored object without an etag");
    }
    return PutOutcome(Stored{std::move(etag)});
}

std::variant<std::string, AttemptFailure> Upload::create(const PutParts& put, Attempt& attempt) {
    S3Outcome outcome = requests_.send({.method = "POST",
                                        .key = put.key,
                                        .query = {{"uploads", ""}},
                                        .headers = stamp_headers(put.stamp),
                                        .body = std::string_view()},
                                       attempt);
    if (auto* failed = std::get_if<AttemptFailure>(&outcome)) return std::move(*failed);
    const auto& answer = std::get<HttpAnswer>(outcome);
    if (answer.status != 200) return requests_.failure(answer);
    Result<std::string> id = read_upload_id(answer.body);
    if (!id) return strange_answer(requests_.settings().bucket, id.error().message);
    return *std::move(id);
}

std::variant<std::string, AttemptFailure> Upload::send_part(const std::string& key,
                                                            const std::string& id,
                                                            std::size_t number,
                                                            const ObjectBody& part,
                                                            Attempt& attempt) {
    const std::optional<std::string> digest = sha256_of(part, attempt.call);
    if (!digest) {
        const bool gave_up = attempt.call.given_up && attempt.call.given_up();
        return AttemptFailure{
            gave_up ? AttemptTrouble::given_up : AttemptTrouble::refused,
            gave_up ? "the caller gave up" : "the file to send cannot be read in full", ""};
    }
    S3Outcome outcome =
        requests_.send({.method = "PUT",
                        .key = key,
                        .query = {{"partNumber", std::to_string(number)}, {"uploadId", id}},
                        .headers = {},
                        .body = to_send(part),
                        .payload_sha256 = *digest},
                       attempt);
    if (auto* failed = std::get_if<AttemptFailure>(&outcome)) return std::move(*failed);
    const auto& answer = std::get<HttpAnswer>(outcome);
    if (answer.status != 200) return requests_.failure(answer);
    std::string etag = bare_etag(answer.header("etag"));
    if (etag.empty()) return strange_answer(requests_.settings().bucket, "a part without an etag");
    return etag;
}

std::optional<AttemptFailure> Upload::send_parts(const PutParts& put, const std::string& id,
                                                 std::vector<std::string>& etags,
                                                 Attempt& attempt) {
    const std::uint64_t size = size_of(put.body);
    const std::uint64_t part_bytes =
        std::max(requests_.settings().part_bytes, (size + kPartsMax - 1) / kPartsMax);
    for (std::uint64_t offset = 0; offset < size; offset += part_bytes) {
        const ObjectBody part = slice_of(put.body, offset, std::min(part_bytes, size - offset));
        for (int tries = 1;; ++tries) {
            auto sent = send_part(put.key, id, etags.size() + 1, part, attempt);
            if (auto* etag = std::get_if<std::string>(&sent)) {
                etags.push_back(std::move(*etag));
                break;
            }
            auto& failed = std::get<AttemptFailure>(sent);
            if (tries == kTriesOfPart || !helps_to_repeat(failed.trouble)) {
                return before_completion(std::move(failed));
            }
        }
    }
    return std::nullopt;
}

PutReply Upload::complete(const PutParts& put, const std::string& id,
                          std::span<const std::string> etags, Attempt& attempt) {
    const std::string text = completion_of(etags);
    S3Outcome outcome = requests_.send(completion_request(put, id, text), attempt);
    if (auto* failed = std::get_if<AttemptFailure>(&outcome)) return std::move(*failed);
    auto& answer = std::get<HttpAnswer>(outcome);
    if (answer.status != 200) return put_reply(requests_, put.condition, answer);
    Result<std::string> etag = read_completion(answer.body);
    if (etag && etag->empty()) return look_for_etag(put, attempt);
    if (etag) return PutOutcome(Stored{*std::move(etag)});
    // A completion takes long: the status is sent first, and the failure may come behind it.
    const StoreError error = read_error(answer.body);
    if (error.code == "PreconditionFailed") return PutOutcome(ConditionFailed{});
    if (!error.code.empty()) return failure_of(500, error, requests_.settings().bucket);
    return strange_answer(requests_.settings().bucket, etag.error().message);
}

PutReply Upload::look_for_etag(const PutParts& put, Attempt& attempt) {
    S3Outcome outcome = requests_.send(
        {.method = "HEAD", .key = put.key, .query = {}, .headers = {}, .body = {}}, attempt);
    const auto* answer = std::get_if<HttpAnswer>(&outcome);
    std::string etag = answer == nullptr ? "" : bare_etag(answer->header("etag"));
    const bool ours = answer != nullptr && answer->status == 200 &&
                      answer->header("x-amz-meta-baton-stamp") == encode_query(put.stamp);
    if (ours && !etag.empty()) return PutOutcome(Stored{std::move(etag)});
    return AttemptFailure{AttemptTrouble::unknown,
                          "the object was put together, and could not be seen afterwards", ""};
}

void Upload::abort(const std::string& key, const std::string& id, Attempt& attempt) {
    // Also for a caller that has given up, or has no time left: parts cost money until they go.
    Attempt last = requests_.begin({.connect_max = attempt.call.connect_max,
                                    .silence_max = attempt.call.silence_max,
                                    .time_max = kAbortPatience,
                                    .given_up = nullptr});
    (void)requests_.send(
        {.method = "DELETE", .key = key, .query = {{"uploadId", id}}, .headers = {}, .body = {}},
        last);
    attempt.cost.requests += last.cost.requests;
}

PutReply Upload::run(const PutParts& put, Attempt& attempt) {
    auto created = create(put, attempt);
    if (auto* failed = std::get_if<AttemptFailure>(&created)) {
        return before_completion(std::move(*failed));
    }
    const auto& id = std::get<std::string>(created);
    std::vector<std::string> etags;
    if (auto failed = send_parts(put, id, etags, attempt)) {
        abort(put.key, id, attempt);
        return *std::move(failed);
    }
    PutReply reply = complete(put, id, etags, attempt);
    const auto* outcome = std::get_if<PutOutcome>(&reply);
    const bool stored = outcome != nullptr && std::holds_alternative<Stored>(*outcome);
    if (!stored) abort(put.key, id, attempt);
    return reply;
}

std::variant<bool, AttemptFailure> Upload::try_condition(Attempt& attempt) {
    const std::string& prefix = requests_.settings().prefix;
    const std::string name = ".baton-probe-" + system::hex_of(system::random_bytes(8));
    constexpr std::string_view kBytes = "a trial of conditions";
    const PutParts put{.key = prefix.empty() ? name : prefix + "/" + name,
                       .body = kBytes,
                       .condition = IfAbsent{},
                       .stamp = ""};
    S3Outcome first = requests_.send({.method = "PUT",
                                      .key = put.key,
                                      .query = {},
                                      .headers = {},
                                      .body = kBytes,
                                      .payload_sha256 = system::sha256_hex(kBytes)},
                                     attempt);
    if (auto* failed = std::get_if<AttemptFailure>(&first)) return std::move(*failed);
    if (std::get<HttpAnswer>(first).status != 200) {
        return requests_.failure(std::get<HttpAnswer>(first));
    }
    PutReply reply = run(put, attempt);
    S3Outcome removed = requests_.send(
        {.method = "DELETE", .key = put.key, .query = {}, .headers = {}, .body = {}}, attempt);
    if (auto* failed = std::get_if<AttemptFailure>(&removed)) return std::move(*failed);
    if (const auto* outcome = std::get_if<PutOutcome>(&reply)) {
        return std::holds_alternative<ConditionFailed>(*outcome);
    }
    const auto& failed = std::get<AttemptFailure>(reply);
    if (failed.trouble == AttemptTrouble::refused) return false;  // 501: it does not know of them
    return failed;
}

std::variant<bool, AttemptFailure> Upload::judges_conditions(Attempt& attempt) {
    const std::lock_guard lock(mutex_);
    if (judges_) return *judges_;
    auto found = try_condition(attempt);
    if (auto* failed = std::get_if<AttemptFailure>(&found)) {
        return before_completion(std::move(*failed));
    }
    judges_ = std::get<bool>(found);
    return *judges_;
}

}  // namespace baton::s3
