// The entities that the catalog holds, as values without behaviour. A name is unique within its
// kind and never changes; an entity is replaced by dropping it and creating another.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/id.h"
#include "base/time.h"
#include "model/config.h"
#include "model/counts.h"
#include "model/reason.h"
#include "model/schema.h"
#include "model/states.h"
#include "model/table.h"

namespace baton {

struct Address {
    std::string host;
    std::uint16_t port = 0;

    friend auto operator<=>(const Address&, const Address&) = default;
};

[[nodiscard]] inline std::string to_string(const Address& address) {
    return address.host + ":" + std::to_string(address.port);
}

// The worker in the coordinator's own process.
inline constexpr std::string_view kEmbeddedWorker = "embedded";

struct Worker {
    std::string name;
    WorkerKind kind = WorkerKind::remote;
    std::optional<Address> control;  // absent for the embedded worker
    std::optional<Address> data;
    std::optional<std::uint64_t> capacity;  // slots; absent: not limited
    WorkerState state = WorkerState::active;
    bool draining = false;                   // by DRAIN: it takes no new fragments
    bool leaving = false;                    // its process was asked to end: it takes none either
    std::optional<Incarnation> incarnation;  // absent until the worker was first heard
    Reason reason;                           // of the state, where the state alone is not plain
    WallTime since;                          // of the present state
    Revision revision;                       // of its last change

    friend bool operator==(const Worker&, const Worker&) = default;
};

// Data may flow from `upstream` to `downstream`.
struct NetworkLink {
    std::string upstream;
    std::string downstream;

    friend auto operator<=>(const NetworkLink&, const NetworkLink&) = default;
};

struct LogicalSource {
    std::string name;
    Schema schema;
    Revision revision;  // also rises when a physical source of it comes or goes

    friend bool operator==(const LogicalSource&, const LogicalSource&) = default;
};

struct PhysicalSource {
    PhysicalSourceId id;
    std::string logical;
    std::string worker;
    std::string type;  // as the descriptor spells it
    Config source;
    Config format;
    Revision revision;

    friend bool operator==(const PhysicalSource&, const PhysicalSource&) = default;
};

struct Sink {
    std::string name;
    Schema schema;
    std::string worker;
    std::string type;
    Config sink;
    Config format;
    Revision revision;

    friend bool operator==(const Sink&, const Sink&) = default;
};

// The setting that names the client, in a query whose rows go to a client. No descriptor knows it,
// so no statement can set it.
inline constexpr const char* kClientSetting = "CLIENT";

struct Query {
    QueryId id;
    std::string name;
    std::string statement;  // normal form, secrets masked
    Config settings;        // QUERY.*
    QueryState state = QueryState::pending;
    QueryDesire desired = QueryDesire::running;
    StopMode stop_mode = StopMode::graceful;
    std::uint64_t run = 1;  // grows with every restart
    Reason reason;
    std::vector<std::string> lagging;  // workers that hold it up, in order
    WallTime created;
    WallTime since;
    std::vector<PhysicalSourceId> sources;
    std::vector<std::string> sinks;  // empty for an inline sink
    Revision revision;
    // How often the query was restarted without a steady run between, and when last. The next
    // restart waits accordingly, also under another leader.
    std::uint64_t restarts = 0;
    std::optional<WallTime> restarted;

    friend bool operator==(const Query&, const Query&) = default;
};

// A table, as far as the catalog knows it: its rows, and their newest version, are in its log.
struct Table {
    std::string name;
    std::string type = "Delta";  // as the descriptor spells it
    // A URL; or, of a table that is managed, its folder within the store of the coordinators.
    std::string location;
    bool managed = false;  // its objects are removed when it is dropped
    SqlColumns columns;    // none: its files say
    Config options;
    // The newest version of the log that a coordinator noted here, and its contents.
    std::uint64_t version = 0;
    std::optional<std::uint64_t> rows, objects, bytes;
    WallTime created;
    Revision revision;

    friend bool operator==(const Table&, const Table&) = default;
};

struct Fragment {
    FragmentId id;
    QueryId query;
    std::string worker;
    std::uint64_t run = 1;
    std::uint64_t slots = 1;
    // The longest way, in workers, to the sink's worker, which has 0: data flows from higher stages
    // to lower ones.
    std::uint64_t stage = 0;
    std::string plan;  // serialised by the planner; opaque to the catalog
    FragmentState state = FragmentState::pending;
    Reason reason;
    std::optional<Counts> counts;  // final, once it has ended; none: its worker did not report
    WallTime since;
    Revision revision;
    // Of the plan and the query that it was made for: a worker that holds a fragment of this id and
    // another fingerprint has it from another history.
    std::string fingerprint;

    friend bool operator==(const Fragment&, const Fragment&) = default;
};

}  // namespace baton
