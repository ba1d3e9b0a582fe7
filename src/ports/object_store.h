// ObjectStore keeps objects under keys: a bucket, or a folder.
//
// Keys:      non-empty texts of printable UTF-8 without leading, trailing or doubled slashes and
//            without `.` and `..` as parts, at most 900 bytes. They are relative to the store's
//            prefix.
// Promises:  an object is whole or not there. Stored means durable. Of several callers with one
//            condition one wins. A get() and a list() see every put() that has returned before.
//            list() gives keys in the order of their bytes. probe() finds out a store that breaks
//            one of these.
// Errors:    store_unavailable  nothing is known to have happened; try again later
//            store_refused      credentials, permission, or a request that can never succeed
//            store_full         no space is left: nothing happened
//            too_large          the answer is larger than the caller allows
//            cancelled          the caller gave up
//            unknown_outcome    put() alone: it may or may not have happened. A conditional put()
//                               settles this by itself where it can
//            No message holds a secret.
// Calls block, within their patience; any thread, many at once.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/result.h"
#include "base/time.h"

namespace baton {

// Counts the requests and bytes that calls cost, for whom they are made. Any thread.
class StoreAccount;

struct StoreCall {
    Duration patience = std::chrono::seconds(30);
    StoreAccount* account = nullptr;  // none: only the store's own total counts
    std::function<bool()> given_up;   // asked now and then; true: the call ends with cancelled
};

struct ByteRange {
    std::uint64_t offset = 0;
    std::optional<std::uint64_t> length;  // none: to the end

    friend bool operator==(const ByteRange&, const ByteRange&) = default;
};

struct StoredObject {
    std::string bytes;  // of the range
    std::string etag;
    std::uint64_t size = 0;  // of the whole object
};
struct Unchanged {};
struct NoObject {};
using Got = std::variant<StoredObject, Unchanged, NoObject>;

struct GetOptions {
    std::optional<ByteRange> range;  // beyond the end: fewer bytes, or none
    std::string unless_etag;         // Unchanged if it still has this one; empty: no matter
    std::uint64_t bytes_max = 256ULL << 20U;  // too_large beyond it
};

struct Always {};
struct IfAbsent {};
struct IfUnchanged {
    std::string etag;
};
using PutCondition = std::variant<Always, IfAbsent, IfUnchanged>;

struct Stored {
    std::string etag;
};
struct ConditionFailed {};
using PutOutcome = std::variant<Stored, ConditionFailed>;

struct ListedObject {
    std::string key;
    std::string etag;
    std::uint64_t size = 0;
    WallTime modified;
};
struct ListOptions {
    std::string prefix;               // of keys, not a folder: "a/b" also finds "a/bc"
    std::string after;                // only keys, and folders, behind this one
    bool folders = false;             // keys with a slash behind the prefix are one folder each
    std::size_t entries_max = 1'000;  // of one page; at most 1,000
};
struct ListPage {
    std::vector<ListedObject> objects;
    std::vector<std::string> folders;   // with their slash
    std::optional<WallTime> store_now;  // by the store's clock, where it says
    std::string next;                   // `after` for the next page; empty: there is none
};

class ObjectStore {
public:
    virtual ~ObjectStore() = default;

    virtual Result<Got> get(const std::string& key, const GetOptions& options,
                            const StoreCall& call) = 0;
    virtual Result<PutOutcome> put(const std::string& key, std::string_view bytes,
                                   const PutCondition& condition, const StoreCall& call) = 0;
    // The bytes of a file of this machine, which nothing changes meanwhile.
    virtual Result<PutOutcome> put_file(const std::string& key, const std::string& path,
                                        const PutCondition& condition, const StoreCall& call) = 0;
    virtual Result<ListPage> list(const ListOptions& options, const StoreCall& call) = 0;
    // Removing an object that is not there succeeds.
    virtual Result<Done> remove(const std::vector<std::string>& keys, const StoreCall& call) = 0;

    // Where programs of this machine read an object in place; none: it has to be fetched. The
    // object need not be there.
    [[nodiscard]] virtual std::optional<std::string> path_of(const std::string& key) const = 0;
    // The URL of the store, without secrets: "s3://bucket/prefix", "file:///data/tables".
    [[nodiscard]] virtual std::string url() const = 0;
};

// The way to the stores that URLs name: `./folder`, `/folder`, `file:///folder`,
// `s3://bucket/prefix?endpoint=..&region=..`. The same URL gives the same store, which lives as
// long as this.
class ObjectStores {
public:
    virtual ~ObjectStores() = default;

    // Fails with invalid_configuration for a URL that is none, not_permitted for a place that this
    // process may not use, and the errors of the store.
    virtual Result<std::shared_ptr<ObjectStore>> open(const std::string& url) = 0;
};

}  // namespace baton
