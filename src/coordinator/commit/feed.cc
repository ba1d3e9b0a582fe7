#include "coordinator/commit/feed.h"

#include <algorithm>

namespace baton::coordinator {

std::set<EntityKey> keys_of(const std::vector<catalog::Change>& changes, EntitySet entities) {
    std::set<EntityKey> keys;
    for (const catalog::Change& change : changes) {
        if (!entities.test(static_cast<std::size_t>(change.entity))) continue;
        keys.insert({.entity = change.entity, .key = change.key});
    }
    return keys;
}

Feed::Registration& Feed::Registration::operator=(Registration&& other) noexcept {
    if (feed_ != nullptr) feed_->remove(id_);
    feed_ = std::exchange(other.feed_, nullptr);
    id_ = other.id_;
    return *this;
}

Feed::Registration::~Registration() {
    if (feed_ != nullptr) feed_->remove(id_);
}

Feed::Registration Feed::add(Subscriber subscriber) {
    const std::lock_guard lock(subscribers_mutex_);
    const std::uint64_t id = next_subscriber_++;
    subscribers_.emplace(id, std::move(subscriber));
    return {*this, id};
}

Feed::Registration Feed::listen(EntitySet entities, Listener listener) {
    return add({.entities = entities, .listener = std::move(listener), .wake = nullptr});
}

Feed::Registration Feed::wake_on(EntitySet entities, Wake wake) {
    return add({.entities = entities, .listener = nullptr, .wake = std::move(wake)});
}

void Feed::remove(std::uint64_t id) {
    const std::lock_guard lock(subscribers_mutex_);
    subscribers_.erase(id);
}

void Feed::publish(const std::vector<catalog::Change>& changes) {
    EntitySet touched;
    {
        const std::lock_guard lock(mutex_);
        for (const catalog::Change& change : changes) {
            touched.set(static_cast<std::size_t>(change.entity));
            kept_.push_back(change);
            last_ = change.revision;
        }
        while (kept_.size() > kept_max_) {
            floor_ = kept_.front().revision;
            kept_.pop_front();
        }
        // A revision is kept whole or not at all.
        while (!kept_.empty() && kept_.front().revision <= floor_) kept_.pop_front();
    }
    const std::lock_guard lock(subscribers_mutex_);
    for (const auto& [id, subscriber] : subscribers_) {
        if ((subscriber.entities & touched).none()) continue;
        if (subscriber.wake) subscriber.wake();
        if (!subscriber.listener) continue;
        subscriber.listener(keys_of(changes, subscriber.entities));
    }
}

void Feed::skip_to(Revision revision) {
    {
        const std::lock_guard lock(mutex_);
        kept_.clear();
        floor_ = revision;
        last_ = revision;
    }
    const std::lock_guard lock(subscribers_mutex_);
    for (const auto& [id, subscriber] : subscribers_) {
        if (subscriber.wake) subscriber.wake();
        if (subscriber.listener) subscriber.listener({});
    }
}

std::optional<Feed::Portion> Feed::after(Revision cursor, kinds::Entity entity,
                                         std::size_t most) const {
    const std::lock_guard lock(mutex_);
    if (cursor < floor_) return std::nullopt;
    Portion portion{.changes = {}, .reaches = std::max(cursor, last_)};
    auto next =
        std::upper_bound(kept_.begin(), kept_.end(), cursor,
                         [](Revision r, const catalog::Change& c) { return r < c.revision; });
    for (; next != kept_.end(); ++next) {
        const bool enough =
            portion.changes.size() >= most && next->revision != portion.changes.back().revision;
        if (enough) {
            portion.reaches = portion.changes.back().revision;
            break;
        }
        if (next->entity == entity) portion.changes.push_back(*next);
    }
    return portion;
}

Revision Feed::last() const {
    const std::lock_guard lock(mutex_);
    return last_;
}

}  // namespace baton::coordinator
