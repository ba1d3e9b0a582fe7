// StoreAttempts makes one attempt of each call against a store: an S3 client, a folder, or a fake
// with faults. It neither repeats nor waits; stores/sure_store.h makes an ObjectStore of it.
//
// Input:    keys and options as ObjectStore has them (ports/object_store.h), already checked.
// Output:   the answer, or a failure by the one thing that the caller has to know: whether a
//           repeat can help, and whether the store may have done it.
// Rules:    success is never claimed unless the store said so, in a whole answer. In doubt a
//           failure is `unknown`, not `not_sent`.
//           A large object may be sent in parts, and a part may be repeated within an attempt.
//           The condition of a put() is then judged when the parts are put together.
// Stamps:   a put() gives the object a stamp, which get() returns with the object, unless the store
//           cannot keep one: then it is empty for every object. SureStore settles puts of unknown
//           outcome by it. In S3 it is the header x-amz-meta-baton-stamp.
// Texts:    `why` and `hint` hold no secret, no line break and at most kWhyBytesMax bytes.
// Calls block; any thread, many at once.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>

#include "base/result.h"
#include "base/time.h"
#include "ports/object_store.h"

namespace baton {

// The deadlines of one attempt. One that ends before anything was sent is `not_sent`, and
// `unknown` otherwise.
struct AttemptCall {
    static constexpr std::uint64_t kBytesPerSecondMin = 1'024;

    Duration connect_max = std::chrono::seconds(2);
    // No answer, and fewer bytes than kBytesPerSecondMin in both directions, for this long.
    Duration silence_max = std::chrono::seconds(5);
    Duration time_max = std::chrono::seconds(30);  // for the whole attempt
    // Asked at least four times a second; true ends the attempt. Empty: never.
    std::function<bool()> given_up;
};

enum class AttemptTrouble : std::uint8_t {
    // A repeat may help:
    not_sent,   // no connection, no name, no credentials yet: the store has seen nothing of it
    throttled,  // 429, 503: it wants fewer requests
    server,     // another 5xx, or 409 (contention): it may have happened
    unknown,    // sent, but no whole answer came: it may have happened
    // A repeat will not:
    refused,    // 400, 401, 403, a bucket that is not there, ..: nothing happened
    too_large,  // more bytes than the caller allows, or than the store takes: nothing happened
    full,       // no space is left, or no quota: nothing happened
    given_up,   // given_up() was true: it may have happened
};

struct AttemptFailure {
    static constexpr std::size_t kWhyBytesMax = 500;

    AttemptTrouble trouble = AttemptTrouble::unknown;
    std::string why;   // "connection refused", "the store answers 403 AccessDenied: .."
    std::string hint;  // the way out, if it is known
};

// The price of an attempt, also of one that failed.
struct AttemptCost {
    std::uint64_t requests = 0;  // of the call's own class, parts and redirections included
    std::uint64_t bytes_in = 0;  // of bodies
    std::uint64_t bytes_out = 0;
};

template <class T>
struct Attempted {
    std::variant<T, AttemptFailure> outcome;
    AttemptCost cost;
};

struct GotWithStamp {
    Got got;
    std::string stamp;  // of a StoredObject; empty: it has none
};

struct PutFile {
    std::string path;
};
struct PutAttempt {
    static constexpr std::size_t kStampBytesMax = 256;

    std::variant<std::string_view, PutFile> body;
    PutCondition condition;
    std::string stamp;  // printable ASCII, at most kStampBytesMax; empty: none
};

class StoreAttempts {
public:
    static constexpr std::size_t kKeysOfRemoveMax = 1'000;

    virtual ~StoreAttempts() = default;

    virtual Attempted<GotWithStamp> get(const std::string& key, const GetOptions& options,
                                        const AttemptCall& call) = 0;
    virtual Attempted<PutOutcome> put(const std::string& key, const PutAttempt& put,
                                      const AttemptCall& call) = 0;
    virtual Attempted<ListPage> list(const ListOptions& options, const AttemptCall& call) = 0;
    // At most kKeysOfRemoveMax. A failure: some of them may be removed.
    virtual Attempted<Done> remove(std::span<const std::string> keys, const AttemptCall& call) = 0;

    // As those of ObjectStore.
    [[nodiscard]] virtual std::optional<std::string> path_of(const std::string& key) const = 0;
    [[nodiscard]] virtual std::string url() const = 0;
};

}  // namespace baton
