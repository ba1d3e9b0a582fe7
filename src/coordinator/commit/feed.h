// Feed delivers the changes of the catalog to its listeners and watchers, after their commit.
//
// Two ways in:
//   listen    controllers: "something about these keys changed, look again". Keys, not events.
//   open      watchers: every change in order, resumable from a revision. See watch.h.
// The newest changes are kept in memory and shared by all watchers; a watcher that is further
// behind reads the change feed of the catalog; one that is behind even that learns that it has to
// begin anew.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/id.h"
#include "catalog/change.h"
#include "coordinator/commit/bundle.h"

namespace baton::coordinator {

struct EntityKey {
    kinds::Entity entity = kinds::Entity::worker;
    std::string key;

    friend auto operator<=>(const EntityKey&, const EntityKey&) = default;
};

// The entities that the changes concern.
[[nodiscard]] std::set<EntityKey> keys_of(const std::vector<catalog::Change>& changes,
                                          EntitySet entities = EntitySet{}.set());

class Feed {
public:
    // `start` is the revision of the catalog as it was opened.
    Feed(Revision start, std::size_t kept_max) : kept_max_(kept_max), floor_(start), last_(start) {}

    using Listener = std::function<void(const std::set<EntityKey>&)>;
    using Wake = std::function<void()>;

    // A registration ends when the object does; no call is under way then.
    class Registration {
    public:
        Registration() = default;
        Registration(Feed& feed, std::uint64_t id) : feed_(&feed), id_(id) {}
        Registration(Registration&& other) noexcept
            : feed_(std::exchange(other.feed_, nullptr)), id_(other.id_) {}
        Registration& operator=(Registration&& other) noexcept;
        ~Registration();

    private:
        Feed* feed_ = nullptr;
        std::uint64_t id_ = 0;
    };

    // Called, one at a time, after each commit that concerned any of the entities; must not
    // block, nor end a registration. No keys: anything may have changed (skip_to).
    [[nodiscard]] Registration listen(EntitySet entities, Listener listener);
    [[nodiscard]] Registration wake_on(EntitySet entities, Wake wake);

    // Called by one thread at a time, in the order of the revisions.
    void publish(const std::vector<catalog::Change>& changes);

    // The same when changes up to this revision are lost: watchers begin anew.
    void skip_to(Revision revision);

    // The changes of one entity after `cursor`, whole revisions, at least `most` of them if there
    // are as many, and how far they reach. None: the memory does not reach back that far.
    struct Portion {
        std::vector<catalog::Change> changes;
        Revision reaches;
    };
    [[nodiscard]] std::optional<Portion> after(Revision cursor, kinds::Entity entity,
                                               std::size_t most) const;
    [[nodiscard]] Revision last() const;

private:
    struct Subscriber {
        EntitySet entities;
        Listener listener;
        Wake wake;
    };

    [[nodiscard]] Registration add(Subscriber subscriber);
    void remove(std::uint64_t id);

    mutable std::mutex mutex_;  // guards what is kept
    const std::size_t kept_max_;
    std::deque<catalog::Change> kept_;  // all changes after floor_
    Revision floor_;
    Revision last_;

    std::mutex subscribers_mutex_;  // held while subscribers are called
    std::map<std::uint64_t, Subscriber> subscribers_;
    std::uint64_t next_subscriber_ = 1;
};

}  // namespace baton::coordinator
