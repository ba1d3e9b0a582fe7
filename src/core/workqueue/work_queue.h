// WorkQueue says which keys need reconciling, and when.
//
// Fair:    keys come out in the order they went in.
// Stingy:  a key added twice before it is taken comes out once.
// Exclusive: a key being worked on is not handed out again until it is finished; if it was added
//          meanwhile, it comes out once more.
// Patient: a key that failed comes back after a delay that doubles up to a limit.
//
// The queue holds keys, never events: the worker reads the present state and compares it with the
// wanted one, so a lost or repeated notification costs at most one look.
#pragma once

#include <algorithm>
#include <deque>
#include <map>
#include <optional>
#include <set>

#include "base/check.h"
#include "base/time.h"

namespace baton::workqueue {

struct Backoff {
    Duration first;
    Duration limit;
};

template <class Key>
class WorkQueue {
public:
    explicit WorkQueue(Backoff backoff) : backoff_(backoff) {
        CHECK(Duration::zero() < backoff.first && backoff.first <= backoff.limit);
    }

    void add(const Key& key) {
        delayed_.erase(key);
        if (!dirty_.insert(key).second) return;
        if (!busy_.contains(key)) ready_.push_back(key);
    }

    // The next key to reconcile, if one is due. Finish it with done() or retry().
    [[nodiscard]] std::optional<Key> take(Instant now) {
        release_due(now);
        if (ready_.empty()) return std::nullopt;
        Key key = ready_.front();
        ready_.pop_front();
        dirty_.erase(key);
        busy_.insert(key);
        return key;
    }

    void done(const Key& key) {
        failures_.erase(key);
        release(key);
    }

    void retry(const Key& key, Instant now) {
        const unsigned failures = failures_[key]++;
        if (!dirty_.contains(key)) delayed_[key] = now + delay_after(failures);
        release(key);
    }

    // When take() may next have something, or nothing if only add() can help.
    [[nodiscard]] std::optional<Instant> wake_at(Instant now) const {
        if (!ready_.empty()) return now;
        std::optional<Instant> earliest;
        for (const auto& [key, due] : delayed_) earliest = std::min(earliest.value_or(due), due);
        return earliest;
    }

private:
    void release(const Key& key) {
        CHECK(busy_.erase(key) == 1);
        if (dirty_.contains(key)) ready_.push_back(key);
    }

    void release_due(Instant now) {
        for (auto it = delayed_.begin(); it != delayed_.end();) {
            if (it->second > now) {
                ++it;
                continue;
            }
            dirty_.insert(it->first);
            ready_.push_back(it->first);
            it = delayed_.erase(it);
        }
    }

    [[nodiscard]] Duration delay_after(unsigned failures) const {
        Duration delay = backoff_.first;
        for (unsigned i = 0; i < failures && delay < backoff_.limit; ++i) delay *= 2;
        return std::min(delay, backoff_.limit);
    }

    Backoff backoff_;
    std::deque<Key> ready_;           // in dirty_, not in busy_
    std::set<Key> dirty_;             // needs work
    std::set<Key> busy_;              // taken, not finished
    std::map<Key, Instant> delayed_;  // failed, waiting; not in dirty_
    std::map<Key, unsigned> failures_;
};

}  // namespace baton::workqueue
