// A Request is one change to the catalog, as a client or a controller asks for it. Every front door
// makes requests, and nothing else changes the catalog.
//
// The comment on each request names the errors that it may end with; any request may also end with
// an error of the database (6xxx). A request either happens whole or not at all.
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

namespace baton::catalog::request {

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
    binding::BoundConnector connector;
};

// sink_exists, schema, unknown_worker
struct CreateSink {
    std::string name;
    Schema schema;
    binding::BoundConnector connector;
    bool if_not_exists = false;
};

// worker_exists (name or address), unknown_worker (a peer), invalid_topology
struct CreateWorker {
    binding::WorkerSettings worker;
};

// A statement that needs no binding is the request, once its name was checked.
// task_list_exists; invalid_configuration for no partition, or more than kPartitionsMax
using CreateTaskList = sql::CreateTaskList;

// table_exists, also if a source or a sink has the name. Its log is there already.
struct CreateTable {
    Table table;
    bool if_not_exists = false;
};

// Nothing if the catalog knows a newer version, or no such table. The numbers are those of the log.
struct NoteTable {
    std::string name;
    std::uint64_t version = 0;
    std::optional<std::uint64_t> rows, objects, bytes;
};

// The folder of a dropped table has no objects any longer. Nothing if that is known.
struct ForgetDroppedTable {
    std::string location;
};

// query_exists, and the errors of planning: unknown_source, unknown_sink, placement, ...
struct CreateQuery {
    std::optional<std::string> name;  // none: one is made up
    Config settings;
    std::string statement;  // as it is stored and shown: secrets masked
    sql::CreateQuery tree;
    std::optional<planning::QueryPlan> plan;  // none: the answer is a view to plan with
};

// A drop of something that does not exist changes nothing, and its answer says so.
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

// Workers release the partitions that they have of it first. The name is free at once.
struct DropTaskList {
    std::string name;
};

// table_in_use, naming the queries that write into it.
struct DropTable {
    std::string name;
};

using QueryRef = std::variant<QueryId, std::string>;

// The row is removed, and the name is free, at once if the query was never sent to a worker or has
// ended; otherwise when the last fragment is confirmed gone. Dropping a query that is already being
// dropped does nothing, except that FORCEFUL overrides GRACEFUL.
struct DropQuery {
    QueryRef query;
    StopMode mode = StopMode::graceful;
};
// unknown_query; query_state if it is being dropped. Nothing if it has ended or is failing.
struct StopQuery {
    QueryRef query;
    StopMode mode = StopMode::graceful;
};
// unknown_worker. Changes nothing if the worker is in that state already.
struct DrainWorker {
    std::string name;
    bool draining = true;  // false: resume
};

// DROP kind .. WHERE attr = const, or by name or number as it was written: all that match.
// Nothing matches and not if_exists: unknown_*.
struct Drop {
    sql::Drop statement;
};

}  // namespace baton::catalog::request

namespace baton::catalog {

using Request =
    std::variant<request::CreateLogicalSource, request::CreatePhysicalSource, request::CreateSink,
                 request::CreateWorker, request::CreateTaskList, request::CreateTable,
                 request::NoteTable, request::ForgetDroppedTable, request::CreateQuery,
                 request::DropLogicalSource, request::DropPhysicalSource, request::DropSink,
                 request::DropWorker, request::DropTaskList, request::DropTable, request::DropQuery,
                 request::StopQuery, request::DrainWorker, request::Drop, controllers::ReportWorker,
                 controllers::ReportFragment, controllers::MarkQuery, controllers::FailQuery,
                 controllers::RestartQuery, controllers::ReleaseQuery,
                 controllers::AssignPartitions>;

enum class Did : std::uint8_t {
    created,
    existed,   // IF NOT EXISTS, and it does
    dropped,   // gone
    absent,    // nothing to drop
    accepted,  // will be done: a query that workers still have to stop
    changed,
    unchanged,  // it was so already
};

// Of what was dropped, what answers speak of.
struct Dropped {
    sql::EntityKind kind = sql::EntityKind::query;
    std::uint64_t id = 0;  // 0: it is known by its name alone
    std::string name;      // of a physical source: that of its logical one
};

struct Answer {
    Did did = Did::unchanged;
    std::string name;                 // of what it was about
    std::optional<std::uint64_t> id;  // of a created physical source or query
    std::vector<Dropped> dropped;
};

}  // namespace baton::catalog
