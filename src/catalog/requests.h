// What can be asked of the catalog. Every front door makes these, and nothing else changes it but
// the requests of the controllers (model/controller_requests.h).
//
// Each request says which errors it may end with; any of them may also end with an error of the
// database (6xxx). A request either happens whole or not at all.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "core/binding/connector.h"
#include "core/planning/planner.h"
#include "model/controller_requests.h"
#include "model/entities.h"
#include "sql/ast.h"

namespace baton::request {

// ---- from clients -------------------------------------------------------------------------------

// source_exists, schema
struct CreateLogicalSource {
    std::string name;
    Schema schema;
    bool if_not_exists = false;
};

// source_exists (the same configuration on the same worker), unknown_source, unknown_worker;
// the type and the options were checked when the Connector was bound
struct CreatePhysicalSource {
    std::string logical;
    BoundConnector connector;
};

// sink_exists, schema, unknown_worker
struct CreateSink {
    std::string name;
    Schema schema;
    BoundConnector connector;
    bool if_not_exists = false;
};

// worker_exists (name or address), unknown_worker (a peer), invalid_topology
struct CreateWorker {
    WorkerSettings worker;
};

// task_list_exists; invalid_configuration for no partition, or more than kPartitionsMax
struct CreateTaskList {
    std::string name;
    std::uint64_t partitions = 0;
    bool if_not_exists = false;
};

// query_exists, and whatever planning says: unknown_source, unknown_sink, placement, ...
struct CreateQuery {
    std::optional<std::string> name;  // none: one is made up
    Config settings;
    std::string statement;  // as it is stored and shown: secrets masked
    sql::CreateQuery tree;
    std::optional<QueryPlan> plan;  // none: the answer is a view to plan with
};

// A drop of what is not there changes nothing and says so.
// source_in_use, naming the physical sources
struct DropLogicalSource {
    std::string name;
};
// source_in_use, naming the queries
struct DropPhysicalSource {
    PhysicalSourceId id;
};
// sink_in_use, naming the queries
struct DropSink {
    std::string name;
};
// worker_in_use, naming the queries, sources, sinks and partitions. Its links go with it.
struct DropWorker {
    std::string name;
};

// What workers have of it is released first; the name is free at once.
struct DropTaskList {
    std::string name;
};

using QueryRef = std::variant<QueryId, std::string>;

// The row goes, and the name is free, at once if no worker was ever told of the query or it has
// ended; else when the last fragment is confirmed gone. Again for a query already being dropped:
// nothing, except that FORCEFUL overrides GRACEFUL.
struct DropQuery {
    QueryRef query;
    StopMode mode = StopMode::graceful;
};
// unknown_query; query_state if it is being dropped. Nothing if it has ended or is failing.
struct StopQuery {
    QueryRef query;
    StopMode mode = StopMode::graceful;
};
// unknown_worker. Nothing if it is so already.
struct DrainWorker {
    std::string name;
    bool draining = true;  // false: resume
};

// DROP kind .. WHERE attr = const, or by name or number as it was written: all that match.
// Nothing matches and not if_exists: unknown_*.
struct Drop {
    sql::Drop statement;
};

}  // namespace baton::request

namespace baton {

using Request =
    std::variant<request::CreateLogicalSource, request::CreatePhysicalSource, request::CreateSink,
                 request::CreateWorker, request::CreateTaskList, request::CreateQuery,
                 request::DropLogicalSource, request::DropPhysicalSource, request::DropSink,
                 request::DropWorker, request::DropTaskList, request::DropQuery, request::StopQuery,
                 request::DrainWorker, request::Drop, request::ReportWorker,
                 request::ReportFragment, request::MarkQuery, request::FailQuery,
                 request::RestartQuery, request::ReleaseQuery, request::AssignPartitions>;

enum class Did : std::uint8_t {
    created,
    existed,   // IF NOT EXISTS, and it does
    dropped,   // gone
    absent,    // nothing to drop
    accepted,  // will be done: a query that workers still have to stop
    changed,
    unchanged,  // it was so already
};

using DroppedEntity = std::variant<LogicalSource, PhysicalSource, Sink, Worker, Query, TaskList>;

struct Answer {
    Did did = Did::unchanged;
    std::string name;                    // of what it was about
    std::optional<std::uint64_t> id;     // of a created physical source or query
    std::vector<DroppedEntity> dropped;  // as they were
};

}  // namespace baton
