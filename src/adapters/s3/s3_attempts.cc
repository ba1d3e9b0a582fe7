#include "adapters/s3/s3_attempts.h"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <sys/stat.h>

#include "adapters/s3/answers.h"
#include "adapters/system/digest.h"
#include "adapters/system/open_file.h"
#include "base/overload.h"
#include "core/s3/documents.h"
#include "core/s3/encoding.h"

namespace baton::s3 {

namespace {

constexpr std::uint64_t kListBytesMax = 8ULL << 20U;
constexpr std::uint64_t kRemovalBytesMax = 8ULL << 20U;
constexpr std::uint64_t kWholePutBytesMax = 5ULL << 30U;  // S3 takes no more in one request
// Behind every key that begins with what stands before it.
constexpr std::string_view kLastCharacter = "\xf4\x8f\xbf\xbf";

std::optional<std::uint64_t> whole_number(std::string_view text) {
    std::uint64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
    return value;
}

struct ContentRange {
    std::uint64_t first = 0;
    std::uint64_t size = 0;  // of the whole object
};

// "bytes 0-9/443"
std::optional<ContentRange> content_range_of(std::string_view text) {
    constexpr std::string_view kUnit = "bytes ";
    const std::size_t dash = text.find('-');
    const std::size_t slash = text.find('/');
    if (!text.starts_with(kUnit) || dash == text.npos || slash == text.npos || slash < dash) {
        return std::nullopt;
    }
    const auto first = whole_number(text.substr(kUnit.size(), dash - kUnit.size()));
    const auto size = whole_number(text.substr(slash + 1));
    if (!first || !size) return std::nullopt;
    return ContentRange{*first, *size};
}

// Without a length, or with one beyond what there can be, to the end.
std::string range_header(const ByteRange& range) {
    std::string text = "bytes=" + std::to_string(range.offset) + "-";
    if (range.length && *range.length - 1 <= UINT64_MAX - range.offset) {
        text += std::to_string(range.offset + (*range.length - 1));
    }
    return text;
}

std::string stamp_of(const HttpAnswer& answer) {
    const std::string_view text = answer.header("x-amz-meta-baton-stamp");
    return decode_percent(text, Plus::is_plus).value_or(std::string(text));
}

template <class T, class Reply>
Attempted<T> attempted(Reply reply, const Attempt& attempt) {
    if (auto* failed = std::get_if<AttemptFailure>(&reply)) {
        failed->why.resize(std::min(failed->why.size(), AttemptFailure::kWhyBytesMax));
        return {.outcome = std::move(*failed), .cost = attempt.cost};
    }
    return {.outcome = std::get<T>(std::move(reply)), .cost = attempt.cost};
}

}  // namespace

S3Attempts::S3Attempts(std::unique_ptr<Requests> requests)
    : requests_(std::move(requests)), upload_(*requests_) {}

std::string S3Attempts::full_key(const std::string& key) const {
    const std::string& prefix = requests_->settings().prefix;
    return prefix.empty() ? key : prefix + "/" + key;
}

// None: it is none of this store's.
std::optional<std::string> S3Attempts::own_key(const std::string& key) const {
    const std::string& prefix = requests_->settings().prefix;
    if (prefix.empty()) return key;
    if (!key.starts_with(prefix + "/")) return std::nullopt;
    return key.substr(prefix.size() + 1);
}

AttemptFailure S3Attempts::strange(std::string_view why) const {
    return strange_answer(requests_->settings().bucket, why);
}

// --- get -----------------------------------------------------------------------------------------

Attempted<GotWithStamp> S3Attempts::get(const std::string& key, const GetOptions& options,
                                        const AttemptCall& call) {
    Attempt attempt = requests_->begin(call);
    const bool nothing = options.range && options.range->length == 0U;
    GotReply reply =
        nothing ? look(full_key(key), attempt) : get_range(full_key(key), options, attempt);
    return attempted<GotWithStamp>(std::move(reply), attempt);
}

S3Attempts::GotReply S3Attempts::get_range(const std::string& key, const GetOptions& options,
                                           Attempt& attempt) {
    S3Request request{.method = "GET",
                      .key = key,
                      .query = {},
                      .headers = {},
                      .body = {},
                      .payload_sha256 = "",
                      .body_max = options.bytes_max};
    if (options.range) request.headers.push_back({"range", range_header(*options.range)});
    if (!options.unless_etag.empty()) {
        request.headers.push_back({"if-none-match", "\"" + options.unless_etag + "\""});
    }
    S3Outcome outcome = requests_->send(request, attempt);
    if (auto* failed = std::get_if<AttemptFailure>(&outcome)) return std::move(*failed);
    auto& answer = std::get<HttpAnswer>(outcome);
    if (answer.status == 416 && options.range) return look(key, attempt);
    return object_of(answer, options);
}

S3Attempts::GotReply S3Attempts::object_of(HttpAnswer& answer, const GetOptions& options) const {
    if (answer.status == 304 && !options.unless_etag.empty()) {
        return GotWithStamp{.got = Unchanged{}, .stamp = ""};
    }
    // Proxies and wrong endpoints answer 404, too: only the store's own word counts.
    if (answer.status == 404 && read_error(answer.body).code == "NoSuchKey") {
        return GotWithStamp{.got = NoObject{}, .stamp = ""};
    }
    if (answer.status != 200 && answer.status != 206) return requests_->failure(answer);
    StoredObject object{.bytes = std::move(answer.body), .etag = bare_etag(answer.header("etag"))};
    if (object.etag.empty()) return strange("an object without an etag");
    object.size = object.bytes.size();
    if (answer.status == 206) {
        const auto range = content_range_of(answer.header("content-range"));
        const bool fits =
            options.range && range && range->first == options.range->offset &&
            object.bytes.size() <= range->size - range->first &&
            object.bytes.size() ==
                std::min(options.range->length.value_or(UINT64_MAX), range->size - range->first);
        if (!fits) return strange("another range than the one that was asked for");
        object.size = range->size;
    } else if (options.range) {  // it does not know ranges, which is allowed
        const std::uint64_t offset = std::min<std::uint64_t>(options.range->offset, object.size);
        object.bytes =
            object.bytes.substr(offset, options.range->length.value_or(std::string::npos));
    }
    return GotWithStamp{.got = std::move(object), .stamp = stamp_of(answer)};
}

S3Attempts::GotReply S3Attempts::look(const std::string& key, Attempt& attempt) {
    S3Outcome outcome = requests_->send(
        {.method = "HEAD", .key = key, .query = {}, .headers = {}, .body = {}}, attempt);
    if (auto* failed = std::get_if<AttemptFailure>(&outcome)) return std::move(*failed);
    const auto& answer = std::get<HttpAnswer>(outcome);
    // HEAD has no body that could say whether the key or the bucket is missing.
    if (answer.status == 404) return GotWithStamp{.got = NoObject{}, .stamp = ""};
    if (answer.status != 200) return requests_->failure(answer);
    const auto size = whole_number(answer.header("content-length"));
    StoredObject object{.bytes = "", .etag = bare_etag(answer.header("etag"))};
    if (object.etag.empty() || !size) return strange("an object without etag or size");
    object.size = *size;
    return GotWithStamp{.got = std::move(object), .stamp = stamp_of(answer)};
}

// --- put -----------------------------------------------------------------------------------------

Attempted<PutOutcome> S3Attempts::put(const std::string& key, const PutAttempt& put,
                                      const AttemptCall& call) {
    Attempt attempt = requests_->begin(call);
    PutParts parts{.key = full_key(key),
                   .body = std::string_view(),
                   .condition = put.condition,
                   .stamp = put.stamp};
    if (const auto* bytes = std::get_if<std::string_view>(&put.body)) {
        parts.body = *bytes;
        return attempted<PutOutcome>(put_body(parts, attempt), attempt);
    }
    const std::string& path = std::get<PutFile>(put.body).path;
    const system::OpenFile file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    struct stat status {};
    if (!file.is_open() || ::fstat(*file, &status) != 0 || !S_ISREG(status.st_mode)) {
        const std::string why = file.is_open() ? std::string("it is no regular file")
                                               : std::generic_category().message(errno);
        return {.outcome = AttemptFailure{AttemptTrouble::refused,
                                          "the file to send cannot be read: " + why, ""},
                .cost = attempt.cost};
    }
    parts.body = FileSlice{*file, 0, static_cast<std::uint64_t>(status.st_size)};
    return attempted<PutOutcome>(put_body(parts, attempt), attempt);
}

PutReply S3Attempts::put_body(const PutParts& put, Attempt& attempt) {
    const std::uint64_t size = size_of(put.body);
    if (size < requests_->settings().parts_from) return put_whole(put, attempt);
    if (std::holds_alternative<Always>(put.condition)) return upload_.run(put, attempt);
    auto judges = upload_.judges_conditions(attempt);
    if (auto* failed = std::get_if<AttemptFailure>(&judges)) return std::move(*failed);
    if (std::get<bool>(judges)) return upload_.run(put, attempt);
    if (size <= kWholePutBytesMax) return put_whole(put, attempt);
    return AttemptFailure{AttemptTrouble::too_large,
                          "this store keeps no conditions for objects beyond 5 GiB", ""};
}

PutReply S3Attempts::put_whole(const PutParts& put, Attempt& attempt) {
    const std::optional<std::string> digest = sha256_of(put.body, attempt.call);
    if (!digest) {
        const bool gave_up = attempt.call.given_up && attempt.call.given_up();
        return AttemptFailure{
            gave_up ? AttemptTrouble::given_up : AttemptTrouble::refused,
            gave_up ? "the caller gave up" : "the file to send cannot be read in full", ""};
    }
    S3Request request{.method = "PUT",
                      .key = put.key,
                      .query = {},
                      .headers = condition_headers(put.condition),
                      .body = {},
                      .payload_sha256 = *digest};
    for (HttpHeader& header : stamp_headers(put.stamp)) {
        request.headers.push_back(std::move(header));
    }
    std::visit([&](const auto& body) { request.body = body; }, put.body);
    S3Outcome outcome = requests_->send(request, attempt);
    if (auto* failed = std::get_if<AttemptFailure>(&outcome)) return std::move(*failed);
    return put_reply(*requests_, put.condition, std::get<HttpAnswer>(outcome));
}

// --- list ----------------------------------------------------------------------------------------

Attempted<ListPage> S3Attempts::list(const ListOptions& options, const AttemptCall& call) {
    Attempt attempt = requests_->begin(call);
    return attempted<ListPage>(list_page(options, attempt), attempt);
}

S3Attempts::ListReply S3Attempts::list_page(const ListOptions& options, Attempt& attempt) {
    const std::size_t entries = std::clamp<std::size_t>(options.entries_max, 1, 1'000);
    S3Request request{.method = "GET",
                      .key = "",
                      .query = {{"list-type", "2"},
                                {"encoding-type", "url"},
                                {"max-keys", std::to_string(entries)},
                                {"prefix", full_key(options.prefix)}},
                      .headers = {},
                      .body = {},
                      .payload_sha256 = "",
                      .body_max = kListBytesMax};
    if (options.folders) request.query.emplace_back("delimiter", "/");
    if (!options.after.empty()) {
        std::string after = full_key(options.after);
        // Behind a folder is behind all that is in it.
        if (options.folders && after.ends_with('/')) after += kLastCharacter;
        request.query.emplace_back("start-after", after);
    }
    S3Outcome outcome = requests_->send(request, attempt);
    if (auto* failed = std::get_if<AttemptFailure>(&outcome)) return std::move(*failed);
    const auto& answer = std::get<HttpAnswer>(outcome);
    if (answer.status != 200) return requests_->failure(answer);
    return page_of(answer, options);
}

S3Attempts::ListReply S3Attempts::page_of(const HttpAnswer& answer,
                                          const ListOptions& options) const {
    Result<Listing> listing = read_listing(answer.body);
    if (!listing) return strange(listing.error().message);
    ListPage page{.objects = {},
                  .folders = {},
                  .store_now = time_of_header(answer.header("date")),
                  .next = ""};
    std::string last;
    for (ListedKey& entry : listing->keys) {
        std::optional<std::string> key = own_key(entry.key);
        if (!key) return strange("a key that was not asked for");
        last = std::max(last, *key);
        if (key->empty() || key->ends_with('/')) continue;
        page.objects.push_back({.key = *std::move(key),
                                .etag = std::move(entry.etag),
                                .size = entry.size,
                                .modified = entry.modified});
    }
    for (const std::string& prefix : listing->prefixes) {
        std::optional<std::string> folder = own_key(prefix);
        if (!folder || !folder->ends_with('/')) return strange("a folder that was not asked for");
        last = std::max(last, *folder);
        page.folders.push_back(*std::move(folder));
    }
    if (!listing->truncated) return page;
    // Without progress a caller would ask for the same page for ever.
    if (last.empty() || last <= options.after) return strange("a list that does not go on");
    page.next = std::move(last);
    return page;
}

// --- remove --------------------------------------------------------------------------------------

Attempted<Done> S3Attempts::remove(std::span<const std::string> keys, const AttemptCall& call) {
    Attempt attempt = requests_->begin(call);
    std::optional<AttemptFailure> failed;
    if (keys.size() > 1 && removes_many_) {
        failed = remove_many(keys, attempt);
        if (!failed || removes_many_) keys = {};
    }
    for (const std::string& key : keys) {
        failed = remove_one(full_key(key), attempt);
        if (failed) break;
    }
    if (!failed) return {.outcome = Done{}, .cost = attempt.cost};
    return attempted<Done>(std::variant<Done, AttemptFailure>(*std::move(failed)), attempt);
}

std::optional<AttemptFailure> S3Attempts::remove_many(std::span<const std::string> keys,
                                                      Attempt& attempt) {
    std::vector<std::string> full;
    full.reserve(keys.size());
    for (const std::string& key : keys) full.push_back(full_key(key));
    const std::string text = removal_of(full);
    const std::string digest = system::md5_base64(text);
    S3Request request{.method = "POST",
                      .key = "",
                      .query = {{"delete", ""}},
                      .headers = {{"content-type", "application/xml"}},
                      .body = std::string_view(text),
                      .payload_sha256 = system::sha256_hex(text),
                      .body_max = kRemovalBytesMax};
    if (!digest.empty()) request.headers.push_back({"content-md5", digest});
    S3Outcome outcome = requests_->send(request, attempt);
    if (auto* failed = std::get_if<AttemptFailure>(&outcome)) return std::move(*failed);
    const auto& answer = std::get<HttpAnswer>(outcome);
    const bool unknown_here = answer.status == 405 || answer.status == 501 ||
                              read_error(answer.body).code == "NotImplemented";
    if (unknown_here) removes_many_ = false;
    if (answer.status != 200) return requests_->failure(answer);
    Result<std::vector<KeyError>> errors = read_removal(answer.body);
    if (!errors) return strange(errors.error().message);
    for (const KeyError& error : *errors) {
        if (error.error.code == "NoSuchKey") continue;
        const int status = error.error.code == "InternalError" ? 500 : 400;
        return failure_of(status, error.error, requests_->settings().bucket);
    }
    return std::nullopt;
}

std::optional<AttemptFailure> S3Attempts::remove_one(const std::string& key, Attempt& attempt) {
    S3Outcome outcome = requests_->send(
        {.method = "DELETE", .key = key, .query = {}, .headers = {}, .body = {}}, attempt);
    if (auto* failed = std::get_if<AttemptFailure>(&outcome)) return std::move(*failed);
    const auto& answer = std::get<HttpAnswer>(outcome);
    if (answer.status == 204 || answer.status == 200) return std::nullopt;
    if (answer.status == 404 && read_error(answer.body).code == "NoSuchKey") return std::nullopt;
    return requests_->failure(answer);
}

}  // namespace baton::s3
