// QueryReconciler deploys queries, and keeps each in the state that its user wants: it reads the
// queries, asks core/queries for the next step of each, and takes that step.
//
// Rules:
//   - A report of a worker is written to the catalog when it changes something; in a steady state
//     nothing is written.
//   - It looks at a bounded number of queries per event, so that heartbeats are heard in between.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/prng.h"
#include "coordinator/control/counter_board.h"
#include "coordinator/control/reconciler.h"
#include "core/queries/deployment.h"
#include "core/queries/ledger.h"
#include "core/queries/roster.h"
#include "core/workqueue/due_keys.h"
#include "ports/clock.h"

namespace baton::coordinator {

struct QueryReconcilerOptions {
    queries::Pace pace;
    Epoch epoch;                    // carried by every command
    std::uint64_t seed = 1;         // of the jitter
    std::size_t looks_max = 1'000;  // queries looked at per event
};

class QueryReconciler final : public Reconciler {
public:
    // `counters` gets the counts of workers. Everything referred to outlives the reconciler.
    QueryReconciler(ReconcilerActions& actions, const QueryReconcilerOptions& options,
                    const Clock& clock, CounterBoard& counters);

    [[nodiscard]] EntitySet watches() const override;
    void start(Instant now, const CatalogLook& everything) override;
    void changed(const EntityKey& key) override;
    void written(Instant now, CatalogDoor::Ticket ticket, const Result<Done>& outcome) override;
    void recorded(Instant now, const std::string& worker,
                  const std::optional<Worker>& as_read) override;
    void connected(Instant now, const transport::Dialled& event) override;
    void heard(Instant now, const transport::MessageArrived& event) override;
    void disconnected(Instant now, const std::string& worker) override;
    void add_to(control::Beat& beat, const std::string& worker) const override;
    void tick(Instant now) override;
    void reconcile(Instant now) override;
    [[nodiscard]] std::optional<Instant> wake_at(Instant now) const override;

private:
    void record(Instant now, QueryId id, const std::optional<StoredQuery>& stored);
    void touch(const std::set<QueryId>& queries);
    // Reads again those of the queries that may have changed in the catalog. False if that failed.
    [[nodiscard]] bool refresh(Instant now, const std::set<QueryId>& queries);
    void carry_out(Instant now, QueryId query, const queries::Plan& plan);
    void write(QueryId query, const std::vector<queries::Write>& writes);
    [[nodiscard]] bool send(Instant now, const std::vector<queries::Send>& sends);
    void set_timer(QueryId query, std::optional<Instant> at);

    ReconcilerActions& actions_;
    const QueryReconcilerOptions options_;
    const Clock& clock_;
    CounterBoard& counters_;
    Prng prng_;
    queries::Roster roster_;
    queries::Ledger ledger_;
    workqueue::DueKeys<QueryId> due_;
    std::set<CatalogDoor::Ticket> restarts_;        // writes that begin another run
    std::set<std::pair<Instant, QueryId>> timers_;  // when a query wants to be looked at
    std::map<QueryId, Instant> timer_of_;
};

}  // namespace baton::coordinator
