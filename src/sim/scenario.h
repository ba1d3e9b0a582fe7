// A Scenario is everything about a simulated run that can be chosen: a cluster, the requests of its
// users, the incidents and their times, and how unreliable everything is meanwhile. The same
// scenario gives the same run. It is a value, so that a scenario that fails can be made smaller and
// described.
//
// Either one coordinator leads for ever, as on a catalog in a file, or one or several contend for a
// lease in the catalog that they share.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/time.h"

namespace baton::sim {

// How unkind the world is until it heals. Chances are of 1,000.
struct Unkindness {
    std::uint64_t lost = 0;     // a message, without its stream
    std::uint64_t doubled = 0;  // a message
    std::uint64_t slow = 0;     // a message takes up to slow_max, most of them far less
    Duration slow_max = std::chrono::milliseconds(1);
    std::uint64_t answer_lost = 0;        // of the coordinator to a user
    std::uint64_t commit_unknown = 0;     // half of them happened
    std::uint64_t commit_refused = 0;     // nothing happened
    std::uint64_t busy = 0;               // a transaction cannot begin
    std::uint64_t prepare_terminal = 0;   // the plan of a fragment cannot be compiled
    std::uint64_t prepare_transient = 0;  // a port is in use
    std::uint64_t breaks = 0;             // a fragment fails after it ran for a while
    std::uint64_t ends = 0;               // the sources of a query end after a while
    std::int64_t drift_ppm = 0;           // of the clock of a coordinator that leads for ever
    // Of coordinators that contend:
    std::uint64_t lease_lost = 0;     // a call of the lease store, or its answer
    std::uint64_t lease_slow = 0;     // they take up to twice a lease, most of them far less
    std::uint64_t lease_refused = 0;  // nothing happened
    std::uint64_t lease_unknown = 0;  // half of them happened
    // Of those that forward requests to each other:
    std::uint64_t line_refused = 0;  // a connection cannot be had
    std::uint64_t line_lost = 0;     // an order, or its answer
    std::uint64_t line_slow = 0;     // they take up to 20 s, most of them far less

    friend bool operator==(const Unkindness&, const Unkindness&) = default;
};

enum class IncidentKind : std::uint8_t {
    worker_killed,  // and restarted after a while, with nothing
    worker_paused,
    cut_to_worker,    // what is sent to it is lost
    cut_from_worker,  // what it sends is lost
    cut_both,
    coordinator_killed,
    coordinator_paused,
    disk_full,
    store_away,             // no coordinator reaches the catalog
    coordinator_leaves,     // it is asked to end, as by SIGTERM, and is started again after a while
    coordinator_cut_off,    // it reaches no worker
    coordinator_storeless,  // it does not reach the catalog
    // The store is away, and then its leases are those of an old backup, unless a coordinator leads
    // or is paused then. (Everything else that a backup loses is lost without fault of Baton's.)
    store_restored,
    // Incidents between a worker and coordinators from outside:
    worker_courted,   // the coordinator of another catalog greets it, and gives it work
    worker_poisoned,  // it is greeted for its catalog, under an epoch that cannot be
    worker_lies,      // it says that it has obeyed such an epoch
    worker_haunted,   // it has fragments of a history that a restore has undone
    // A copy of the catalog is led, too, and its leader takes an epoch above ours each time. Only
    // where coordinators contend.
    worker_contested
};
// "is killed", for incidents of one process; "the disk is full", for the others.
[[nodiscard]] std::string_view to_string(IncidentKind kind);
[[nodiscard]] bool is_of_worker(IncidentKind kind);
[[nodiscard]] bool is_of_all(IncidentKind kind);  // of no worker and no coordinator by itself

struct Incident {
    Duration at{};
    IncidentKind kind = IncidentKind::worker_killed;
    std::size_t worker = 0;  // of the scenario's workers; unused for coordinators and the disk
    Duration lasts{};
    std::size_t coordinator = 0;  // of those that contend; kWhoLeads: the one that leads then

    static constexpr std::size_t kWhoLeads = 1'000;

    friend bool operator==(const Incident&, const Incident&) = default;
};

struct Ask {
    Duration at{};
    std::string statement;

    friend bool operator==(const Ask&, const Ask&) = default;
};

struct Scenario {
    std::uint64_t seed = 1;
    std::vector<std::string> workers;  // whose processes there are
    std::vector<std::string> setup;    // statements, all of which succeed at the start
    std::vector<Ask> asks;
    std::vector<Incident> incidents;
    Unkindness unkindness;
    Duration length{};                 // until the world heals
    Duration lease_ttl{};              // none: one coordinator leads for ever
    std::vector<std::int64_t> drifts;  // ppm, of the clocks of those that contend: one each
    // How long workers may have partitions without being heard.
    Duration partition_lease = std::chrono::seconds(30);
    std::vector<std::int64_t> worker_drifts;  // ppm, of the clocks of workers: one each, or none
    bool forwards = false;  // coordinators that follow forward requests to the leader

    [[nodiscard]] bool is_contest() const { return lease_ttl > Duration::zero(); }
    [[nodiscard]] std::size_t coordinators() const { return is_contest() ? drifts.size() : 1; }

    friend bool operator==(const Scenario&, const Scenario&) = default;
};

struct Size {
    std::uint64_t workers_max = 8;
    std::uint64_t asks_max = 40;
    std::uint64_t incidents_max = 20;
    std::uint64_t coordinators_max = 3;
    std::uint64_t contests = 50;    // of 100 runs
    std::uint64_t task_lists = 50;  // of 100 runs
    std::uint64_t strangers = 40;   // of 100 runs
    std::uint64_t forwards = 50;    // of 100 runs with coordinators that contend
    Duration length = std::chrono::minutes(3);
};
// Each kind of unkindness is left out of half of the runs, so that rare mixtures are tried too.
[[nodiscard]] Scenario scenario_of(std::uint64_t seed, const Size& size = {});

// "coordinator B", or "the coordinator" if there is one.
[[nodiscard]] std::string coordinator_name(const Scenario& scenario, std::size_t number);

// "W1:1 is paused"
[[nodiscard]] std::string told(const Scenario& scenario, const Incident& incident);
// In words, a line each.
[[nodiscard]] std::vector<std::string> describe(const Scenario& scenario);

}  // namespace baton::sim
