#include "catalog/reader.h"

#include <algorithm>
#include <utility>

#include "base/text.h"
#include "catalog/kinds/kinds.h"
#include "catalog/kinds/row_cursor.h"
#include "model/table_sink.h"

namespace baton::catalog {

namespace {

// Conditions joined by AND, with their parameters.
class Where {
public:
    void equal(std::string_view column, SqlValue value) {
        add(std::string(column) + " = ?", {std::move(value)});
    }
    template <class T>
    void equal(std::string_view column, const std::optional<T>& value) {
        if (value) equal(column, kinds::value_of(*value));
    }
    void add(const std::string& condition, std::initializer_list<SqlValue> values) {
        text_ += (text_.empty() ? " WHERE " : " AND ") + condition;
        parameters_.insert(parameters_.end(), values);
    }
    [[nodiscard]] const std::string& text() const { return text_; }
    [[nodiscard]] const std::vector<SqlValue>& parameters() const { return parameters_; }

private:
    std::string text_;
    std::vector<SqlValue> parameters_;
};

// The rows that `select`, a SELECT of all of their columns, gives under the condition.
template <class E>
Result<std::vector<E>> list(Sql& sql, const std::string& select, const Where& where = {}) {
    const kinds::KindTable<E>& table = kinds::table_of<E>();
    TRY_ASSIGN(rows,
               sql.query_with(select + where.text() + table.order_by_key(), where.parameters()));
    return table.entities_in(rows);
}
template <class E>
Result<std::vector<E>> list(Sql& sql, const Where& where = {}) {
    return list<E>(sql, kinds::table_of<E>().select(), where);
}

template <class E>
Result<std::optional<E>> first(Result<std::vector<E>> found) {
    if (!found) return found.error();
    if (found->empty()) return std::optional<E>();
    return std::optional<E>(std::move(found->front()));
}

Error absent(ErrorCode code, const std::string& kind, const std::string& name) {
    return Error{.code = code, .message = "unknown " + kind + " " + in_quotes(name)};
}

}  // namespace

Result<Revision> Reader::revision() const {
    TRY_ASSIGN(rows, sql_.query("SELECT revision FROM meta WHERE id = 1"));
    CHECK(rows.size() == 1);
    return kinds::RowCursor(rows[0]).revision();
}

Result<std::string> Reader::catalog_id() const {
    TRY_ASSIGN(rows, sql_.query("SELECT catalog FROM catalog_identity WHERE id = 1"));
    if (rows.size() == 1) return kinds::RowCursor(rows[0]).text();
    return Error{.code = ErrorCode::catalog_corrupt,
                 .message = "the catalog has no id by which workers could know it",
                 .hint = "restore it from a backup with `baton restore`"};
}

Result<std::optional<Worker>> Reader::worker(const std::string& name) const {
    return find<Worker>(name);
}

Result<std::optional<LogicalSource>> Reader::logical_source(const std::string& name) const {
    return find<LogicalSource>(name);
}

Result<std::optional<PhysicalSource>> Reader::physical_source(PhysicalSourceId id) const {
    return find<PhysicalSource>(kinds::value_of(id));
}

Result<std::optional<Sink>> Reader::sink(const std::string& name) const {
    return find<Sink>(name);
}

Result<std::vector<Query>> Reader::with_uses(Result<std::vector<Query>> found) const {
    if (!found) return found;
    for (Query& query : *found) {
        const SqlValue id = kinds::value_of(query.id);
        TRY_ASSIGN(
            sources,
            sql_.query("SELECT source FROM query_source WHERE query = ? ORDER BY source", {id}));
        for (const SqlRow& source : sources) {
            query.sources.emplace_back(kinds::RowCursor(source).number());
        }
        TRY_ASSIGN(sinks,
                   sql_.query("SELECT sink FROM query_sink WHERE query = ? UNION ALL SELECT target "
                              "FROM query_table WHERE query = ? ORDER BY sink",
                              {id, id}));
        for (const SqlRow& sink : sinks) query.sinks.push_back(kinds::RowCursor(sink).text());
    }
    return found;
}

Result<std::optional<Query>> Reader::query(const request::QueryRef& ref) const {
    Where where;
    if (const auto* id = std::get_if<QueryId>(&ref)) {
        where.equal("id", kinds::value_of(*id));
    } else {
        where.equal("name", SqlValue(std::get<std::string>(ref)));
    }
    return first(with_uses(list<Query>(sql_, where)));
}

Result<std::optional<Fragment>> Reader::fragment(FragmentId id) const {
    return find<Fragment>(kinds::value_of(id));
}

Result<std::vector<Worker>> Reader::workers(const WorkerFilter& filter) const {
    Where where;
    where.equal("name", filter.name);
    where.equal("state", filter.state);
    if (filter.capacity_at_least) {
        where.add("(capacity IS NULL OR capacity >= ?)",
                  {kinds::value_of(*filter.capacity_at_least)});
    }
    TRY_ASSIGN(found, list<Worker>(sql_, where));
    if (found.empty() && filter.name) {
        return absent(ErrorCode::unknown_worker, "worker", *filter.name);
    }
    return found;
}

Result<std::vector<NetworkLink>> Reader::links() const {
    TRY_ASSIGN(kept, list<kinds::KeptLink>(sql_));
    std::vector<NetworkLink> links;
    links.reserve(kept.size());
    for (kinds::KeptLink& one : kept) links.push_back(std::move(one.link));
    return links;
}

Result<std::vector<kinds::KeptLink>> Reader::links_of(const std::string& worker) const {
    Where where;
    where.add("(upstream = ? OR downstream = ?)", {worker, worker});
    return list<kinds::KeptLink>(sql_, where);
}

Result<std::vector<LogicalSource>> Reader::logical_sources(
    const std::optional<std::string>& name) const {
    Where where;
    where.equal("name", name);
    TRY_ASSIGN(found, list<LogicalSource>(sql_, where));
    if (found.empty() && name) return absent(ErrorCode::unknown_source, "source", *name);
    return found;
}

Result<std::vector<PhysicalSource>> Reader::physical_sources(
    const PhysicalSourceFilter& filter) const {
    Where where;
    where.equal("id", filter.id);
    where.equal("logical", filter.logical);
    where.equal("worker", filter.worker);
    where.equal("type", filter.type);
    TRY_ASSIGN(found, list<PhysicalSource>(sql_, where));
    if (found.empty() && filter.id) {
        return absent(ErrorCode::unknown_source, "physical source", to_string(*filter.id));
    }
    return found;
}

Result<std::vector<Sink>> Reader::sinks(const SinkFilter& filter) const {
    Where where;
    where.equal("name", filter.name);
    where.equal("worker", filter.worker);
    where.equal("type", filter.type);
    TRY_ASSIGN(found, list<Sink>(sql_, where));
    if (found.empty() && filter.name) return absent(ErrorCode::unknown_sink, "sink", *filter.name);
    return found;
}

Result<std::vector<Query>> Reader::queries(const QueryFilter& filter) const {
    Where where;
    where.equal("id", filter.id);
    where.equal("name", filter.name);
    where.equal("state", filter.state);
    if (filter.worker) {
        where.add("id IN (SELECT query FROM fragment WHERE worker = ?)", {*filter.worker});
    }
    TRY_ASSIGN(found, with_uses(list<Query>(sql_, where)));
    if (found.empty() && filter.id) {
        return absent(ErrorCode::unknown_query, "query", to_string(*filter.id));
    }
    if (found.empty() && filter.name) {
        return absent(ErrorCode::unknown_query, "query", *filter.name);
    }
    return found;
}

Result<std::vector<QueryId>> Reader::queries_of_clients() const {
    const std::string mark = "%\"" + std::string(kClientSetting) + "\":%";
    Where where;
    where.add("settings LIKE ?", {mark});
    TRY_ASSIGN(candidates, list<Query>(sql_, where));
    std::vector<QueryId> queries;
    for (const Query& query : candidates) {
        if (query.settings.contains(kClientSetting)) queries.push_back(query.id);
    }
    return queries;
}

Result<std::vector<Fragment>> Reader::fragments(const FragmentFilter& filter) const {
    Where where;
    where.equal("query", filter.query);
    where.equal("worker", filter.worker);
    if (filter.with_plan) return list<Fragment>(sql_, where);
    static const std::string kWithoutPlan = kinds::table_of<Fragment>().select_without("plan");
    return list<Fragment>(sql_, kWithoutPlan, where);
}

Result<std::optional<Partition>> Reader::partition(const PartitionKey& key) const {
    Where where;
    where.equal("list", SqlValue(key.list));
    where.equal("number", kinds::value_of(key.number));
    return first(list<Partition>(sql_, where));
}

Result<std::vector<Partition>> Reader::partitions(
    const std::optional<std::string>& list_name) const {
    Where where;
    where.equal("list", list_name);
    return list<Partition>(sql_, where);
}

Result<std::uint64_t> Reader::used_slots(const std::string& worker) const {
    static const std::string kSql =
        "SELECT COALESCE(SUM(slots), 0) FROM fragment WHERE worker = ? AND " +
        kinds::occupies_slots("state");
    TRY_ASSIGN(rows, sql_.query(kSql, {worker}));
    return kinds::RowCursor(rows.at(0)).number();
}

Result<std::vector<std::string>> Reader::worker_names() const {
    std::vector<std::string> names;
    TRY(sql_.run("SELECT name FROM worker ORDER BY name", {},
                 [&](const SqlRow& row) { names.push_back(kinds::RowCursor(row).text()); }));
    return names;
}

// One worker is looked up by its index in some microseconds; over many, one look at all fragments
// costs less.
Result<std::map<std::string, std::uint64_t>> Reader::used_between(
    const std::set<std::string>& pinned, const topology::Cluster& cluster) const {
    constexpr std::size_t kOneByOneMax = 200;
    std::set<std::string> limited;
    for (const std::string& name : cluster.topology.between(pinned)) {
        const auto found = cluster.workers.find(name);
        if (found != cluster.workers.end() && found->second.capacity) limited.insert(name);
    }
    std::map<std::string, std::uint64_t> used;
    if (limited.size() <= kOneByOneMax) {
        for (const std::string& name : limited) {
            TRY_ASSIGN(slots, used_slots(name));
            used.emplace(name, slots);
        }
        return used;
    }
    static const std::string kSql = "SELECT worker, SUM(slots) FROM fragment WHERE " +
                                    kinds::occupies_slots("state") + " GROUP BY worker";
    TRY(sql_.run(kSql, {}, [&](const SqlRow& row) {
        kinds::RowCursor cursor(row);
        std::string name = cursor.text();
        const std::uint64_t slots = cursor.number();
        if (limited.contains(name)) used.emplace(std::move(name), slots);
    }));
    return used;
}

Result<planning::PlanningView> Reader::planning_view(const planning::MentionedNames& names,
                                                     KnownCluster& known) const {
    planning::PlanningView view;
    std::set<std::string> pinned = names.workers;
    const auto list_names = [&](std::string_view sql, std::vector<std::string>& into) {
        return sql_.run(sql, {},
                        [&](const SqlRow& row) { into.push_back(kinds::RowCursor(row).text()); });
    };
    for (const auto& [name, at] : names.sources) {
        TRY_ASSIGN(logical, logical_source(name));
        if (!logical) {
            TRY(list_names("SELECT name FROM logical_source ORDER BY name LIMIT 1000",
                           view.known_sources));
            continue;
        }
        view.logical_sources.emplace(name, *std::move(logical));
        TRY_ASSIGN(physical, physical_sources({.logical = name}));
        for (PhysicalSource& source : physical) {
            pinned.insert(source.worker);
            view.physical_sources.push_back(std::move(source));
        }
    }
    if (names.sink) {
        TRY_ASSIGN(found, sink(*names.sink));
        if (!found) {
            TRY_ASSIGN(table, find<Table>(*names.sink));
            if (table) found = sink_of(*table);
        }
        if (found && !found->worker.empty()) pinned.insert(found->worker);
        if (!found) {
            TRY(list_names(
                "SELECT name FROM sink UNION ALL SELECT name FROM sql_table ORDER BY name LIMIT "
                "1000",
                view.known_sinks));
        }
        view.sink = std::move(found);
    }
    TRY_ASSIGN(rows, sql_.query("SELECT cluster_revision FROM meta WHERE id = 1"));
    const Revision now = kinds::RowCursor(rows.at(0)).revision();
    if (!known.cluster || known.revision != now) {
        auto cluster = std::make_shared<topology::Cluster>();
        TRY_ASSIGN(all, workers());
        for (Worker& worker : all) cluster->workers.emplace(worker.name, worker);
        TRY_ASSIGN(all_links, links());
        cluster->topology = topology::Topology(all_links);
        cluster->revision = now;
        known = {.revision = now, .cluster = std::move(cluster)};
    }
    view.cluster = known.cluster;
    if (view.cluster->workers.size() == 1) pinned.insert(view.cluster->workers.begin()->first);
    TRY_ASSIGN(used, used_between(pinned, *view.cluster));
    view.used = std::move(used);
    return view;
}

Result<std::vector<DroppedTable>> Reader::dropped_tables() const {
    TRY_ASSIGN(
        rows, sql_.query("SELECT location, dropped FROM dropped_table ORDER BY dropped, location"));
    std::vector<DroppedTable> tables;
    for (const SqlRow& row : rows) {
        kinds::RowCursor cursor(row);
        std::string location = cursor.text();
        tables.push_back({.location = std::move(location), .dropped = cursor.time()});
    }
    return tables;
}

}  // namespace baton::catalog
