// MemoryStore keeps objects in memory and all promises of a store: the model to test against, and
// the store for tests of what stands on one. It is an ObjectStore, and the StoreAttempts below one.
//
// Every put() gives a new etag. Time is the number of puts, in seconds, so that it is the same in
// every run. Any thread.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ports/object_store.h"
#include "ports/store_attempts.h"

namespace baton::testing {

// The page that a store gives which holds these objects, in the order of their keys.
[[nodiscard]] ListPage page_of(const std::map<std::string, ListedObject>& objects,
                               const ListOptions& options);

class MemoryStore : public ObjectStore, public StoreAttempts {
public:
    explicit MemoryStore(std::string url = "memory://test") : url_(std::move(url)) {}

    // As ObjectStore.
    Result<Got> get(const std::string& key, const GetOptions& options,
                    const StoreCall& call) override;
    Result<PutOutcome> put(const std::string& key, std::string_view bytes,
                           const PutCondition& condition, const StoreCall& call) override;
    Result<PutOutcome> put_file(const std::string& key, const std::string& path,
                                const PutCondition& condition, const StoreCall& call) override;
    Result<ListPage> list(const ListOptions& options, const StoreCall& call) override;
    Result<Done> remove(const std::vector<std::string>& keys, const StoreCall& call) override;

    // As StoreAttempts: all succeed, but for what is too large.
    Attempted<GotWithStamp> get(const std::string& key, const GetOptions& options,
                                const AttemptCall& call) override;
    Attempted<PutOutcome> put(const std::string& key, const PutAttempt& put,
                              const AttemptCall& call) override;
    Attempted<ListPage> list(const ListOptions& options, const AttemptCall& call) override;
    Attempted<Done> remove(std::span<const std::string> keys, const AttemptCall& call) override;

    [[nodiscard]] std::optional<std::string> path_of(const std::string& key) const override;
    [[nodiscard]] std::string url() const override { return url_; }

    // For tests: the objects as they are now, and how many puts were stored under a key.
    [[nodiscard]] std::map<std::string, std::string> contents() const;
    [[nodiscard]] std::size_t stored_puts(const std::string& key) const;

private:
    struct Object {
        std::string bytes;
        std::string stamp;
        ListedObject entry;
    };

    [[nodiscard]] Result<GotWithStamp> look(const std::string& key,
                                            const GetOptions& options) const;
    PutOutcome store(const std::string& key, std::string bytes, const PutCondition& condition,
                     std::string stamp);
    [[nodiscard]] ListPage page(const ListOptions& options) const;
    void drop(std::span<const std::string> keys);

    const std::string url_;
    mutable std::mutex mutex_;
    std::map<std::string, Object> objects_;
    std::map<std::string, std::size_t> puts_;
    std::uint64_t versions_ = 0;
};

}  // namespace baton::testing
