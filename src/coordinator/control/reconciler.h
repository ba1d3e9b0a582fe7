// Reconciler drives everything of one kind towards the state that the catalog asks for. The
// Controller owns the streams to workers and the time, and hands the events that concern all kinds
// to each of its reconcilers.
//
// Rules:
//   - An event only names keys to look at; reconcile() looks and acts. A lost or repeated event
//     costs a look.
//   - It acts only on durable rows, and does nothing else for a key while a write for that key is
//     under way. DueKeys (core/workqueue) enforces both.
//   - It never waits. A read that fails is repeated later.
// A further kind is one more reconciler: a file, and a line in reconcilers_of() of controller.cc.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "catalog/change.h"
#include "coordinator/commit/bundle.h"
#include "coordinator/commit/feed.h"
#include "coordinator/control/catalog_door.h"
#include "core/membership/membership.h"
#include "core/workqueue/work_queue.h"
#include "model/control.h"
#include "model/entities.h"
#include "ports/transport.h"

namespace baton::coordinator {

// How long a key waits whose reading or writing failed.
constexpr workqueue::Backoff kCatalogBackoff = {.first = std::chrono::milliseconds(50),
                                                .limit = std::chrono::seconds(5)};

[[nodiscard]] inline EntitySet entities_of(std::initializer_list<kinds::Entity> entities) {
    EntitySet set;
    for (const kinds::Entity entity : entities) set.set(static_cast<std::size_t>(entity));
    return set;
}

class Reconciler {
public:
    virtual ~Reconciler() = default;

    // The entities whose changes it hears.
    [[nodiscard]] virtual EntitySet watches() const = 0;
    // Everything that the catalog has; before anything else.
    virtual void start(Instant now, const CatalogLook& everything) = 0;

    virtual void changed(const EntityKey& key) = 0;
    // The outcome of a write that it submitted.
    virtual void written(Instant now, CatalogDoor::Ticket ticket, const Result<Done>& outcome) = 0;
    // A worker as the catalog has it; none: the catalog no longer has it. If it is gone, or has
    // another address than before, its stream has ended.
    virtual void recorded(Instant now, const std::string& worker,
                          const std::optional<Worker>& as_read) = 0;

    // The present stream to a worker: it begins, something is heard on it, it ends.
    virtual void connected(Instant /*now*/, const transport::Dialled& /*event*/) {}
    virtual void heard(Instant /*now*/, const transport::MessageArrived& /*event*/) {}
    virtual void disconnected(Instant /*now*/, const std::string& /*worker*/) {}
    virtual void judged(const membership::Judge& /*judgement*/) {}
    // Adds its own topic to a beat.
    virtual void add_to(control::Beat& /*beat*/, const std::string& /*worker*/) const {}

    // Time has passed; early and repeated ticks are harmless.
    virtual void tick(Instant /*now*/) {}
    // After each event: looks at the keys that are due and acts.
    virtual void reconcile(Instant now) = 0;
    // When a tick is due.
    [[nodiscard]] virtual std::optional<Instant> wake_at(Instant now) const = 0;
};

// How a reconciler acts on the world.
class ReconcilerActions {
public:
    virtual ~ReconcilerActions() = default;

    [[nodiscard]] virtual Result<CatalogLook> look(const CatalogWanted& wanted) = 0;
    // One transaction, whose outcome comes to written() of the reconciler that submits it.
    [[nodiscard]] virtual CatalogDoor::Ticket submit(Reconciler& by,
                                                     std::vector<catalog::Request> requests) = 0;
    // On the present stream. Nothing if there is none.
    virtual void send(const std::string& worker, const control::Down& message) = 0;
    // A number that no command of this process had.
    [[nodiscard]] virtual std::uint64_t next_request() = 0;
    // Passes a worker that was read again to all reconcilers.
    virtual void record(Instant now, const std::string& worker,
                        const std::optional<Worker>& as_read) = 0;
};

}  // namespace baton::coordinator
