// Application carries out requests on the catalog, inside one bundle of a WriteTransaction, with
// one overload for each request. Internal to catalog/.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "catalog/kinds/kinds.h"
#include "catalog/write_transaction.h"
#include "core/queries/lifecycle.h"

namespace baton::catalog {

class Application {
public:
    explicit Application(WriteTransaction& transaction)
        : tx_(transaction), sql_(transaction.sql_), reader_(transaction.reader_) {}

    Result<Answer> on(const request::CreateLogicalSource& r);
    Result<Answer> on(const request::CreatePhysicalSource& r);
    Result<Answer> on(const request::CreateSink& r);
    Result<Answer> on(const request::CreateWorker& r);
    Result<Answer> on(const request::CreateTaskList& r);
    Result<Answer> on(const request::CreateTable& r);
    Result<Answer> on(const request::NoteTable& r);
    Result<Answer> on(const request::ForgetDroppedTable& r);
    Result<Answer> on(const request::CreateQuery& r);
    Result<Answer> on(const request::DropLogicalSource& r);
    Result<Answer> on(const request::DropPhysicalSource& r);
    Result<Answer> on(const request::DropSink& r);
    Result<Answer> on(const request::DropWorker& r);
    Result<Answer> on(const request::DropTaskList& r);
    Result<Answer> on(const request::DropTable& r);
    Result<Answer> on(const request::DropQuery& r);
    Result<Answer> on(const request::StopQuery& r);
    Result<Answer> on(const request::DrainWorker& r);
    Result<Answer> on(const request::Drop& r);
    Result<Answer> on(const controllers::ReportWorker& r);
    Result<Answer> on(const controllers::ReportFragment& r);
    Result<Answer> on(const controllers::MarkQuery& r);
    Result<Answer> on(const controllers::FailQuery& r);
    Result<Answer> on(const controllers::RestartQuery& r);
    Result<Answer> on(const controllers::ReleaseQuery& r);
    Result<Answer> on(const controllers::AssignPartitions& r);

private:
    // The revision that this bundle's rows carry.
    [[nodiscard]] Revision revision() const { return tx_.state_.revision.next(); }
    [[nodiscard]] std::uint64_t new_id() { return tx_.state_.next_id++; }
    [[nodiscard]] WallTime now() const { return tx_.now_; }

    // Every write of a request goes through here.
    Result<Done> write(std::string_view sql, std::span<const SqlValue> parameters);
    Result<Done> write(std::string_view sql, std::initializer_list<SqlValue> parameters) {
        return write(sql, std::span(parameters.begin(), parameters.size()));
    }
    Result<Done> record(kinds::Entity entity, ChangeOp op, std::optional<SqlRow> row,
                        std::optional<SqlRow> old);
    void touch_cluster() { tx_.state_.cluster_revision = revision(); }
    // Each of these writes the row of an entity and its change in the feed, with the revision of
    // the bundle.
    template <class E>
    Result<Done> insert(E entity);
    template <class E>
    Result<Done> update(const E& before, E after);
    template <class E>
    Result<Done> remove(const E& entity);

    // Whether the statement with the name as its parameter gives a row.
    Result<bool> finds(std::string_view sql, const std::string& name);

    // Sources, sinks and tables share one space of names: table_exists if a table has this one.
    Result<Done> check_no_table(const std::string& name);

    // infrastructure
    Result<Worker> known_worker(const std::string& name);
    Result<std::string> placement(const binding::BoundConnector& connector,
                                  const std::string& what);
    Result<std::string> embedded_worker();
    Result<Done> check_peers(const binding::WorkerSettings& worker);

    // workload
    Result<Done> touch_logical_source(const std::string& name);

    // partitions
    Result<Done> move_partition(const PartitionMove& move);
    Result<Done> check_move(const PartitionMove& move, const std::optional<Partition>& found);

    // queries
    Result<Done> want_view(const request::CreateQuery& r);
    Result<Done> check_reads(const request::CreateQuery& r);
    // The revision that a plan remembers for a row of that revision.
    [[nodiscard]] Revision as_read(Revision at) const;
    Result<Revision> revision_of(const planning::Read& read);
    Result<Done> check_capacity(const request::CreateQuery& r);
    Result<Done> check_name(const std::string& wanted);  // query_exists
    Result<std::string> made_up_name(QueryId id);
    Result<Done> insert_fragments(QueryId query, const planning::QueryPlan& plan);
    Result<Query> known_query(const request::QueryRef& ref);
    Result<Done> update_query(const Query& before, Query after);
    Result<Done> update_fragment(const Fragment& before, Fragment after);
    // Does to the query and its fragments what lifecycle says.
    Result<Answer> follow(const Query& before, const queries::lifecycle::Turn& turn);
    Result<Done> update_parts(const Query& query, queries::lifecycle::Parts parts);
    Result<std::vector<queries::lifecycle::Part>> parts_of(QueryId query,
                                                           bool with_workers = false);
    Result<Done> remove_query(const Query& query);
    Result<Done> check_comeback(const Fragment& fragment);  // placement
    Result<Done> interrupt_queries_on(const std::string& worker, const Reason& reason);

    Result<std::vector<std::string>> names(std::string_view sql,
                                           std::initializer_list<SqlValue> parameters);

    WriteTransaction& tx_;
    Sql& sql_;
    Reader& reader_;
};

template <class E>
Result<Done> Application::insert(E entity) {
    const kinds::KindTable<E>& table = kinds::table_of<E>();
    entity.revision = revision();
    TRY(write(table.insert(), table.inserted(entity)));
    if (table.kind().of_cluster) touch_cluster();
    return record(table.kind().entity, ChangeOp::create, table.row(entity), std::nullopt);
}

template <class E>
Result<Done> Application::update(const E& before, E after) {
    const kinds::KindTable<E>& table = kinds::table_of<E>();
    after.revision = revision();
    TRY(write(table.update(), table.updated(after)));
    if (table.kind().of_cluster) touch_cluster();
    return record(table.kind().entity, ChangeOp::update, table.row(after), table.row(before));
}

template <class E>
Result<Done> Application::remove(const E& entity) {
    const kinds::KindTable<E>& table = kinds::table_of<E>();
    TRY(write(table.remove(), table.key(entity)));
    if (table.kind().of_cluster) touch_cluster();
    return record(table.kind().entity, ChangeOp::drop, std::nullopt, table.row(entity));
}

}  // namespace baton::catalog
