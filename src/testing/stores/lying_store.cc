#include "testing/stores/lying_store.h"

#include <algorithm>
#include <thread>

namespace baton::testing {

Result<Got> LyingStore::get(const std::string& key, const GetOptions& options,
                            const StoreCall& call) {
    GetOptions asked = options;
    if (lie_ == Lie::ignores_ranges) asked.range.reset();
    if (lie_ == Lie::ignores_unless) asked.unless_etag.clear();
    if (lie_ == Lie::reads_are_stale) {
        const std::lock_guard lock(mutex_);
        const auto old = before_.find(key);
        if (old != before_.end()) return Got(StoredObject(old->second));
    }
    return MemoryStore::get(key, asked, call);
}

void LyingStore::remember(const std::string& key, const StoreCall& call) {
    const auto now = MemoryStore::get(key, {}, call);
    const auto page = MemoryStore::list({.prefix = {}, .after = {}}, call);
    const std::lock_guard lock(mutex_);
    if (now) {
        if (const auto* object = std::get_if<StoredObject>(&*now)) before_[key] = *object;
    }
    listed_.clear();
    if (page) {
        for (const ListedObject& each : page->objects) listed_[each.key] = each;
    }
}

// Creators that come at one time see that nothing is there, and all write.
Result<PutOutcome> LyingStore::create_late(const std::string& key, std::string_view bytes,
                                           const StoreCall& call) {
    const auto seen = MemoryStore::get(key, {}, call);
    if (seen && !std::holds_alternative<NoObject>(*seen)) return PutOutcome(ConditionFailed{});
    if (key.find("race") != std::string::npos) {
        {
            const std::lock_guard lock(mutex_);
            ++creators_[key];
        }
        while (true) {
            {
                const std::lock_guard lock(mutex_);
                if (creators_[key] >= 2) break;
            }
            std::this_thread::yield();
        }
    }
    return MemoryStore::put(key, bytes, Always{}, call);
}

Result<PutOutcome> LyingStore::put(const std::string& key, std::string_view bytes,
                                   const PutCondition& condition, const StoreCall& call) {
    remember(key, call);
    const bool creates = std::holds_alternative<IfAbsent>(condition);
    const bool replaces = std::holds_alternative<IfUnchanged>(condition);
    if (lie_ == Lie::many_creators_win && creates) return create_late(key, bytes, call);
    bool ignored = (lie_ == Lie::ignores_if_absent && creates) ||
                   (lie_ == Lie::ignores_if_unchanged && replaces);
    if (lie_ == Lie::replaces_what_is_absent && replaces) {
        const auto seen = MemoryStore::get(key, {}, call);
        ignored = seen && std::holds_alternative<NoObject>(*seen);
    }
    return MemoryStore::put(key, bytes, ignored ? PutCondition(Always{}) : condition, call);
}

Result<ListPage> LyingStore::list(const ListOptions& options, const StoreCall& call) {
    if (lie_ == Lie::lists_are_stale) {
        const std::lock_guard lock(mutex_);
        return page_of(listed_, options);
    }
    ListOptions asked = options;
    if (lie_ == Lie::lists_without_folders) asked.folders = false;
    auto page = MemoryStore::list(asked, call);
    if (page && lie_ == Lie::lists_without_order) {
        std::reverse(page->objects.begin(), page->objects.end());
    }
    if (page && lie_ == Lie::lists_end_early) page->next.clear();
    return page;
}

Result<Done> LyingStore::remove(const std::vector<std::string>& keys, const StoreCall& call) {
    if (lie_ == Lie::keeps_removed) return Done{};
    for (const std::string& key : keys) remember(key, call);
    {
        const std::lock_guard lock(mutex_);
        for (const std::string& key : keys) before_.erase(key);
    }
    return MemoryStore::remove(keys, call);
}

}  // namespace baton::testing
