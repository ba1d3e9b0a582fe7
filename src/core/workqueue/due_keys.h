// DueKeys is a WorkQueue for what the catalog has: it also knows which keys changed there since
// they were read, and which are being written.
//
// A key that is taken is finished by done(), by retry(), or by the outcome of the write that was
// submitted for it. Whatever came of a write, the key is read again: only what the catalog holds
// then counts.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "base/time.h"
#include "core/workqueue/work_queue.h"

namespace baton::workqueue {

template <class Key>
class DueKeys {
public:
    using Ticket = std::uint64_t;  // of a write

    explicit DueKeys(Backoff backoff) : queue_(backoff) {}

    void add(const Key& key) { queue_.add(key); }
    // The catalog has it otherwise than it was read.
    void changed(const Key& key) {
        stale_.insert(key);
        queue_.add(key);
    }

    [[nodiscard]] std::optional<Key> take(Instant now) { return queue_.take(now); }
    void done(const Key& key) { queue_.done(key); }
    void retry(const Key& key, Instant now) { queue_.retry(key, now); }

    [[nodiscard]] bool is_stale(const Key& key) const { return stale_.contains(key); }
    void read(const Key& key) { stale_.erase(key); }

    void submitted(Ticket ticket, Key key) { writes_.emplace(ticket, std::move(key)); }
    // The key that was written, or could not be.
    std::optional<Key> written(Instant now, Ticket ticket, bool written) {
        const auto found = writes_.find(ticket);
        if (found == writes_.end()) return std::nullopt;
        Key key = std::move(found->second);
        writes_.erase(found);
        stale_.insert(key);
        if (written) {
            queue_.add(key);
            queue_.done(key);
        } else {
            queue_.retry(key, now);
        }
        return key;
    }

    [[nodiscard]] std::optional<Instant> wake_at(Instant now) const { return queue_.wake_at(now); }

private:
    WorkQueue<Key> queue_;
    std::set<Key> stale_;
    std::map<Ticket, Key> writes_;
};

}  // namespace baton::workqueue
