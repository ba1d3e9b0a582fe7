// LyingStore breaks one promise of a store, as some do; probe() has to find it out.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "testing/stores/memory_store.h"

namespace baton::testing {

enum class Lie : std::uint8_t {
    none,
    ignores_if_absent,
    ignores_if_unchanged,
    replaces_what_is_absent,  // IfUnchanged of no object makes one
    many_creators_win,        // IfAbsent compares before it waits, and then writes
    reads_are_stale,          // a read gives the version before the last
    lists_are_stale,          // a list does not show the last change
    lists_without_order,
    lists_without_folders,
    lists_end_early,  // after the first page
    ignores_ranges,
    ignores_unless,
    keeps_removed,
};

class LyingStore : public MemoryStore {
public:
    explicit LyingStore(Lie lie) : MemoryStore("memory://liar"), lie_(lie) {}

    using MemoryStore::get;
    using MemoryStore::list;
    using MemoryStore::put;
    using MemoryStore::remove;

    Result<Got> get(const std::string& key, const GetOptions& options,
                    const StoreCall& call) override;
    Result<PutOutcome> put(const std::string& key, std::string_view bytes,
                           const PutCondition& condition, const StoreCall& call) override;
    Result<ListPage> list(const ListOptions& options, const StoreCall& call) override;
    Result<Done> remove(const std::vector<std::string>& keys, const StoreCall& call) override;

private:
    Result<PutOutcome> create_late(const std::string& key, std::string_view bytes,
                                   const StoreCall& call);
    void remember(const std::string& key, const StoreCall& call);

    const Lie lie_;
    std::mutex mutex_;
    std::map<std::string, StoredObject> before_;  // of objects that were replaced
    std::map<std::string, ListedObject> listed_;  // as before the last change
    std::map<std::string, int> creators_;
};

}  // namespace baton::testing
