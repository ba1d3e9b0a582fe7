// Controller drives the cluster towards what the catalog says: it owns the membership of workers
// and the deployment of queries, and performs what they decide.
//
// It is stepped: take() is given one event and does everything that follows from it, without
// waiting; wake_at() says when the next Tick is due. It has no thread and reads the clock it was
// given, so that a simulation drives exactly this code. ControlLoop puts a thread around it.
//
// Rules:
//   - It is level-triggered: an event says which workers and queries are to be looked at, and what
//     is done follows from how they are then. A lost or repeated event costs a look.
//   - It acts on what is durable: it reads the catalog through the door, and while a write for a
//     query is under way nothing else is done for that query.
//   - The words of workers are written to the catalog when they change something; in a steady state
//     nothing is written.
//   - Partitions are looked at as a whole; one change of them is written at a time.
//   - It looks at a bounded number of queries per event, so that heartbeats are heard in between.
// After a restart everything is known again from the catalog and the workers' full lists.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "base/id.h"
#include "base/prng.h"
#include "base/result.h"
#include "base/time.h"
#include "coordinator/commit/feed.h"
#include "coordinator/control/catalog_door.h"
#include "coordinator/control/counter_board.h"
#include "core/allocation/allocator.h"
#include "core/membership/membership.h"
#include "core/queries/deployment.h"
#include "core/queries/ledger.h"
#include "core/queries/roster.h"
#include "core/workqueue/work_queue.h"
#include "ports/clock.h"
#include "ports/transport.h"

namespace baton {

struct ControllerOptions {
    MembershipConfig membership;
    deployment::Pace pace;
    AllocatorOptions allocation;
    Epoch epoch;                    // carried by everything that is sent
    std::uint64_t seed = 1;         // of the jitter
    std::size_t looks_max = 1'000;  // queries looked at per event
};

namespace control_event {

struct Tick {};
struct Changed {  // in the catalog: workers, queries, fragments
    std::set<EntityKey> keys;
};
struct Settled {  // what was submitted to the door
    CatalogDoor::Ticket ticket = 0;
    Result<Done> outcome;
};

}  // namespace control_event

using ControlEvent =
    std::variant<control_event::Tick, control_event::Changed, control_event::Settled,
                 transport::Dialled, transport::DialFailed, transport::Heard, transport::Broken>;

class Controller {
public:
    // Called by the door and the transport with what is to be given to take(): not from inside it.
    using Post = std::function<void(ControlEvent)>;

    // Everything referred to outlives it. The caller listens to the transport.
    Controller(const ControllerOptions& options, CatalogDoor& door, Transport& transport,
               const Clock& clock, Post post);

    // Reads the catalog and dials the workers. Before anything else; changes that are committed
    // from here on are to be posted. Fails with errors of the database, and may then be repeated.
    [[nodiscard]] Result<Done> start();

    void take(const ControlEvent& event);
    // When take(Tick) is due; early and repeated ticks are harmless.
    [[nodiscard]] std::optional<Instant> wake_at() const;
    // May be read from any thread.
    [[nodiscard]] const CounterBoard& counters() const { return counters_; }

private:
    struct Judgement {
        WorkerState state = WorkerState::active;
        std::optional<Incarnation> incarnation;
        std::string reason;
        bool leaving = false;
    };
    struct Partitions {  // all of them
        friend auto operator<=>(const Partitions&, const Partitions&) = default;
    };
    using Subject = std::variant<QueryId, std::string, Partitions>;  // a query, a worker, ..
    struct UnderWay {
        Subject subject;
        bool restart = false;  // it begins another run of the query
    };

    void on(Instant now, const control_event::Tick&);
    void on(Instant now, const control_event::Changed& event);
    void on(Instant now, const control_event::Settled& event);
    void on(Instant now, const transport::Dialled& event);
    void on(Instant now, const transport::DialFailed& event);
    void on(Instant now, const transport::Heard& event);
    void on(Instant now, const transport::Broken& event);

    // membership
    [[nodiscard]] std::string no_belief_in(Epoch claimed) const;
    void member(Instant now, const membership::Event& event);
    void perform(Instant now, const membership::Effect& effect);
    void record(Instant now, const std::string& name, const std::optional<Worker>& worker);
    void disconnect(Instant now, const std::string& worker);
    // Its process was told to end.
    void leaves(const std::string& worker);

    // partitions
    void reconcile_partitions(Instant now);

    // queries
    void record(Instant now, QueryId id, const std::optional<StoredQuery>& stored);
    void touch(const std::set<QueryId>& queries);
    void touch_queries_on(const std::string& worker);
    void reconcile(Instant now);
    void reconcile_workers(Instant now);
    void reconcile_queries(Instant now);
    // Brings what is known of the catalog up to date. False if that failed.
    [[nodiscard]] bool refresh(Instant now, const std::set<QueryId>& queries);
    void reconcile(Instant now, QueryId query, const deployment::Plan& plan);
    [[nodiscard]] bool send(Instant now, const std::vector<deployment::Send>& sends);
    void set_timer(QueryId query, std::optional<Instant> at);
    void submit(UnderWay what, std::vector<Request> requests);

    const ControllerOptions options_;
    CatalogDoor& door_;
    Transport& transport_;
    const Clock& clock_;
    const Post post_;
    Prng prng_;
    std::string catalog_;  // its id

    Membership membership_;
    deployment::Roster roster_;
    deployment::Ledger ledger_;
    Allocator allocator_;
    std::map<std::string, Judgement> judged_;  // to be in the catalog
    CounterBoard counters_;
    WorkQueue<std::string> workers_due_;
    WorkQueue<QueryId> queries_due_;
    WorkQueue<Partitions> partitions_due_;
    std::set<std::string> stale_workers_;  // changed in the catalog since they were read
    std::set<QueryId> stale_queries_;
    bool stale_partitions_ = false;
    std::optional<Instant> partitions_at_;  // when they want to be looked at
    std::map<CatalogDoor::Ticket, UnderWay> under_way_;
    CatalogDoor::Ticket next_ticket_ = 1;
    std::uint64_t next_request_ = 1;
    std::set<std::pair<Instant, QueryId>> timers_;  // when a query wants to be looked at
    std::map<QueryId, Instant> timer_of_;
};

}  // namespace baton
