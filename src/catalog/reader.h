// Reader gets typed entities out of the catalog, over any connection: inside a read snapshot, or
// inside the write transaction, where it sees what was written so far.
//
// All that is read within one transaction belongs to one revision.
// Fails with errors of the database (6xxx) only, unless a function says more.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <type_traits>
#include <vector>

#include "base/check.h"
#include "base/result.h"
#include "catalog/kinds/kinds.h"
#include "catalog/requests.h"
#include "core/planning/planner.h"
#include "model/entities.h"
#include "ports/sql.h"

namespace baton::catalog {

struct SinkFilter {
    std::optional<std::string> name, worker, type;
};
struct PhysicalSourceFilter {
    std::optional<PhysicalSourceId> id;
    std::optional<std::string> logical, worker, type;
};
struct WorkerFilter {
    std::optional<std::string> name;
    std::optional<WorkerState> state;
    std::optional<std::uint64_t> capacity_at_least;
};
struct QueryFilter {
    std::optional<QueryId> id;
    std::optional<std::string> name;
    std::optional<QueryState> state;
    std::optional<std::string> worker;
};
struct FragmentFilter {
    std::optional<QueryId> query;
    std::optional<std::string> worker;
    bool with_plan = true;  // false: the texts of plans are left empty
};

// A managed table that was dropped, whose objects are still in their folder.
struct DroppedTable {
    std::string location;
    WallTime dropped;
};

class Reader {
public:
    explicit Reader(Sql& sql) : sql_(sql) {}

    // The revision that everything read in this transaction belongs to.
    [[nodiscard]] Result<Revision> revision() const;
    // By which workers know whose they are: of this catalog and its copies alone.
    [[nodiscard]] Result<std::string> catalog_id() const;

    // Of any kind, as its table has it: the one with that key, which is one column, and all of
    // them. Queries have more than their table, and the plans of all fragments are too much: they
    // have functions of their own.
    template <class E>
    [[nodiscard]] Result<std::optional<E>> find(SqlValue key) const;
    template <class E>
    [[nodiscard]] Result<std::vector<E>> all() const;

    [[nodiscard]] Result<std::optional<Worker>> worker(const std::string& name) const;
    [[nodiscard]] Result<std::optional<LogicalSource>> logical_source(
        const std::string& name) const;
    [[nodiscard]] Result<std::optional<PhysicalSource>> physical_source(PhysicalSourceId id) const;
    [[nodiscard]] Result<std::optional<Sink>> sink(const std::string& name) const;
    [[nodiscard]] Result<std::optional<Query>> query(const request::QueryRef& ref) const;
    [[nodiscard]] Result<std::optional<Fragment>> fragment(FragmentId id) const;

    // Lists, in the order of their keys. A name or id that is given and not there is not_found
    // (unknown_worker, unknown_source, unknown_sink, unknown_query); other filters may match none.
    [[nodiscard]] Result<std::vector<Worker>> workers(const WorkerFilter& filter = {}) const;
    [[nodiscard]] Result<std::vector<NetworkLink>> links() const;
    [[nodiscard]] Result<std::vector<kinds::KeptLink>> links_of(const std::string& worker) const;
    [[nodiscard]] Result<std::vector<LogicalSource>> logical_sources(
        const std::optional<std::string>& name = {}) const;
    [[nodiscard]] Result<std::vector<PhysicalSource>> physical_sources(
        const PhysicalSourceFilter& filter = {}) const;
    [[nodiscard]] Result<std::vector<Sink>> sinks(const SinkFilter& filter = {}) const;
    [[nodiscard]] Result<std::vector<Query>> queries(const QueryFilter& filter = {}) const;
    [[nodiscard]] Result<std::vector<QueryId>> queries_of_clients() const;
    [[nodiscard]] Result<std::vector<Fragment>> fragments(const FragmentFilter& filter = {}) const;

    [[nodiscard]] Result<std::optional<Partition>> partition(const PartitionKey& key) const;
    // Of one list, or of all.
    [[nodiscard]] Result<std::vector<Partition>> partitions(
        const std::optional<std::string>& list = {}) const;

    [[nodiscard]] Result<std::uint64_t> used_slots(const std::string& worker) const;
    [[nodiscard]] Result<std::vector<std::string>> worker_names() const;

    // The oldest first.
    [[nodiscard]] Result<std::vector<DroppedTable>> dropped_tables() const;

    // Everything that planning the query may depend on. `known`, if it is of the present cluster
    // revision, is shared instead of read again; the other way round it is replaced.
    struct KnownCluster {
        Revision revision;
        std::shared_ptr<const topology::Cluster> cluster;
    };
    [[nodiscard]] Result<planning::PlanningView> planning_view(
        const planning::MentionedNames& names, KnownCluster& known) const;

private:
    // The slots in use on workers with a capacity, of those that data may pass through.
    [[nodiscard]] Result<std::map<std::string, std::uint64_t>> used_between(
        const std::set<std::string>& pinned, const topology::Cluster& cluster) const;
    // The same queries with the sources and sinks that they use.
    [[nodiscard]] Result<std::vector<Query>> with_uses(Result<std::vector<Query>> found) const;

    Sql& sql_;
};

template <class E>
Result<std::optional<E>> Reader::find(SqlValue key) const {
    static_assert(!std::is_same_v<E, Query>);
    const kinds::KindTable<E>& table = kinds::table_of<E>();
    CHECK(table.kind().key_columns == 1);
    const std::string& column = table.kind().columns.front().name;
    TRY_ASSIGN(rows, sql_.query(table.select() + " WHERE " + column + " = ?", {std::move(key)}));
    if (rows.empty()) return std::optional<E>();
    TRY_ASSIGN(entity, table.entity_in(rows.front()));
    return std::optional<E>(std::move(entity));
}

template <class E>
Result<std::vector<E>> Reader::all() const {
    static_assert(!std::is_same_v<E, Query> && !std::is_same_v<E, Fragment>);
    const kinds::KindTable<E>& table = kinds::table_of<E>();
    TRY_ASSIGN(rows, sql_.query(table.select() + table.order_by_key()));
    return table.entities_in(rows);
}

}  // namespace baton::catalog
