// Controller drives the cluster towards what the catalog says. It is a router: it owns the time and
// the streams to workers, and hands what happens to one Reconciler a kind, which decides and acts.
//
// It is stepped: take() is given one event and does everything that follows from it, without
// waiting; wake_at() says when the next Tick is due. It has no thread and reads the clock it was
// given, so that a simulation drives exactly this code. ControlLoop puts a thread around it.
//
// Rules:
//   - It is level-triggered: an event says which things are to be looked at, and the way they then
//     are decides what is done. A lost or repeated event costs a look.
//   - It acts on what is durable: it reads the catalog through the door, and while a write for a
//     thing is under way nothing else is done for it.
//   - Only the present stream of a worker is heard: the one that the last dial opened.
// After a restart everything is known again from the catalog and the workers' full lists.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <variant>
#include <vector>

#include "base/id.h"
#include "base/result.h"
#include "base/time.h"
#include "coordinator/commit/feed.h"
#include "coordinator/control/catalog_door.h"
#include "coordinator/control/counter_board.h"
#include "coordinator/control/reconciler.h"
#include "core/allocation/allocator.h"
#include "core/membership/membership.h"
#include "core/queries/deployment.h"
#include "ports/clock.h"
#include "ports/transport.h"

namespace baton::coordinator {

struct ControllerOptions {
    membership::MembershipConfig membership;
    queries::Pace pace;
    allocation::AllocatorOptions allocation;
    Epoch epoch;                    // carried by everything that is sent
    std::uint64_t seed = 1;         // of the jitter
    std::size_t looks_max = 1'000;  // queries looked at per event
};

namespace control_event {

struct Tick {};
struct Changed {  // in the catalog; what nothing watches is ignored
    std::set<EntityKey> keys;
};
struct WriteOutcome {  // what was submitted to the door
    CatalogDoor::Ticket ticket = 0;
    Result<Done> outcome;
};

}  // namespace control_event

using ControlEvent =
    std::variant<control_event::Tick, control_event::Changed, control_event::WriteOutcome,
                 transport::Dialled, transport::DialFailed, transport::MessageArrived,
                 transport::Broken>;

class Controller final : private ReconcilerActions {
public:
    // Called by the door and the transport with what is to be given to take(): not from inside it.
    using Post = std::function<void(ControlEvent)>;

    // Everything referred to outlives it. The caller listens to the transport.
    Controller(const ControllerOptions& options, CatalogDoor& door, Transport& transport,
               const Clock& clock, Post post);
    ~Controller() override;
    Controller(const Controller&) = delete;
    Controller& operator=(const Controller&) = delete;

    // Reads the catalog and dials the workers. Before anything else; changes that are committed
    // from here on are to be posted. Fails with errors of the database, and may then be repeated.
    [[nodiscard]] Result<Done> start();

    void take(const ControlEvent& event);
    // When take(Tick) is due; early and repeated ticks are harmless.
    [[nodiscard]] std::optional<Instant> wake_at() const;
    // The entities whose changes are to be posted.
    [[nodiscard]] EntitySet watches() const;
    // May be read from any thread.
    [[nodiscard]] const CounterBoard& counters() const { return counters_; }

private:
    [[nodiscard]] std::vector<std::unique_ptr<Reconciler>> reconcilers_of(
        const ControllerOptions& options);

    void on(Instant now, const control_event::Tick&);
    void on(Instant now, const control_event::Changed& event);
    void on(Instant now, const control_event::WriteOutcome& event);
    void on(Instant now, const transport::Dialled& event);
    void on(Instant now, const transport::DialFailed& event);
    void on(Instant now, const transport::MessageArrived& event);
    void on(Instant now, const transport::Broken& event);

    // For the reconcilers.
    [[nodiscard]] Result<CatalogLook> look(const CatalogWanted& wanted) override;
    [[nodiscard]] CatalogDoor::Ticket submit(Reconciler& by,
                                             std::vector<catalog::Request> requests) override;
    void send(const std::string& worker, const control::Down& message) override;
    [[nodiscard]] std::uint64_t next_request() override { return next_request_++; }
    void record(Instant now, const std::string& worker,
                const std::optional<Worker>& as_read) override;

    // Streams.
    [[nodiscard]] bool is_present(const std::string& worker, transport::Attempt attempt) const;
    [[nodiscard]] std::string no_belief_in(Epoch claimed) const;
    void member(Instant now, const membership::Event& event);
    void perform(Instant now, const membership::Effect& effect);
    void disconnect(Instant now, const std::string& worker);

    const ControllerOptions options_;
    CatalogDoor& door_;
    Transport& transport_;
    const Clock& clock_;
    const Post post_;
    std::string catalog_;  // its id

    membership::Membership membership_;
    std::map<std::string, std::optional<Address>> addresses_;  // of the workers in the catalog
    std::map<std::string, transport::Attempt> streams_;        // that are up
    CounterBoard counters_;
    std::map<CatalogDoor::Ticket, Reconciler*> under_way_;
    CatalogDoor::Ticket next_ticket_ = 1;
    std::uint64_t next_request_ = 1;
    std::vector<std::unique_ptr<Reconciler>> reconcilers_;  // last: they use everything above
};

}  // namespace baton::coordinator
