// Ledger keeps the queries as the catalog has them, small and indexed, and makes the views with
// which they are planned.
//
// The ledger does not keep the texts of plans: each is read when a worker has to register it.
// Pure: no clock, no I/O, no randomness.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/id.h"
#include "base/time.h"
#include "core/queries/deployment.h"
#include "core/queries/roster.h"
#include "model/entities.h"

namespace baton::queries {

class Ledger {
public:
    explicit Ledger(const Pace& pace) : pace_(pace) {}

    // As the catalog has it. `since` is when it came into its state, `restarted` when it was last
    // restarted, if ever, on our clock.
    void record(const Query& query, const std::vector<Fragment>& fragments, Instant since,
                Instant restarted = {});
    // The catalog has it no longer.
    void remove(QueryId query);

    // A further run could not be begun, and may be later.
    void restart_refused(QueryId query, Instant now, const Trouble& trouble, std::uint64_t jitter);

    [[nodiscard]] std::set<QueryId> on_worker(const std::string& worker) const;
    [[nodiscard]] std::optional<QueryId> query_of(FragmentId fragment) const;
    // Those that may need something done: all that have not ended.
    [[nodiscard]] std::vector<QueryId> unfinished() const;
    [[nodiscard]] std::size_t size() const { return queries_.size(); }

    // Of any number: the catalog need not have such a query.
    [[nodiscard]] QueryView view(QueryId query, const Roster& roster) const;

private:
    struct FragmentEntry {
        FragmentId id;
        std::string worker;
        std::uint64_t stage = 0;
        FragmentState state = FragmentState::pending;
        Reason reason;
        std::string fingerprint;
    };
    struct Entry {
        Recorded recorded;
        Instant since;
        std::vector<FragmentEntry> fragments;
    };
    struct Restarts {
        std::uint64_t run = 0;  // that the last one began
        unsigned count = 0;     // without a steady run between
        Instant last;
        Instant next;          // not before: later each time
        Trouble trouble;       // why it could not be begun
        unsigned refused = 0;  // how often in a row
    };

    Pace pace_;
    std::map<QueryId, Entry> queries_;
    std::map<QueryId, Restarts> restarts_;  // of those in queries_ that were restarted
    std::map<FragmentId, QueryId> query_of_;
    std::map<std::string, std::set<QueryId>> on_worker_;
};

}  // namespace baton::queries
