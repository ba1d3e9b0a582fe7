#include "catalog/reader.h"

#include <algorithm>

#include "base/text.h"
#include "catalog/kinds/encode.h"
#include "catalog/kinds/row_cursor.h"
#include "catalog/views/views.h"

namespace baton {

namespace {

constexpr std::string_view kWorkerColumns =
    "SELECT name, kind, address, data_address, capacity, state, draining, leaving, incarnation, "
    "reason, since, revision FROM worker";
constexpr std::string_view kLogicalColumns = "SELECT name, columns, revision FROM logical_source";
constexpr std::string_view kPhysicalColumns =
    "SELECT id, logical, worker, type, options, format, revision FROM physical_source";
constexpr std::string_view kSinkColumns =
    "SELECT name, columns, worker, type, options, format, revision FROM sink";
constexpr std::string_view kQueryColumns =
    "SELECT id, name, statement, settings, state, desired, stop_mode, run, reason, lagging, "
    "created, since, revision, restarts, restarted FROM query";
constexpr std::string_view kFragmentColumns =
    "SELECT id, query, worker, run, slots, stage, plan, state, reason, since, revision, "
    "fingerprint, rows_in, bytes_in, rows_out, bytes_out, late, skipped, stalls, busy_us, memory "
    "FROM fragment";
constexpr std::string_view kFragmentColumnsWithoutPlan =
    "SELECT id, query, worker, run, slots, stage, '', state, reason, since, revision, "
    "fingerprint, rows_in, bytes_in, rows_out, bytes_out, late, skipped, stalls, busy_us, memory "
    "FROM fragment";

// Conditions joined by AND, with their parameters.
class Where {
public:
    void equal(std::string_view column, SqlValue value) {
        add(std::string(column) + " = ?", std::move(value));
    }
    template <class T>
    void equal(std::string_view column, const std::optional<T>& value) {
        if (!value) return;
        if constexpr (std::is_same_v<T, std::string>) {
            equal(column, SqlValue(*value));
        } else if constexpr (std::is_enum_v<T>) {
            equal(column, SqlValue(std::string(to_string(*value))));
        } else {
            equal(column, value_of(value->value()));
        }
    }
    void add(const std::string& condition, SqlValue value) {
        text_ += (text_.empty() ? " WHERE " : " AND ") + condition;
        parameters_.push_back(std::move(value));
    }
    [[nodiscard]] const std::string& text() const { return text_; }
    [[nodiscard]] const std::vector<SqlValue>& parameters() const { return parameters_; }

private:
    std::string text_;
    std::vector<SqlValue> parameters_;
};

Result<Worker> worker_from(const SqlRow& row) {
    RowCursor cursor(row);
    Worker w;
    w.name = cursor.text();
    w.kind = cursor.state<WorkerKind>();
    w.control = cursor.optional_address();
    w.data = cursor.optional_address();
    w.capacity = cursor.optional_number();
    w.state = cursor.state<WorkerState>();
    w.draining = cursor.integer() != 0;
    w.leaving = cursor.integer() != 0;
    if (const auto incarnation = cursor.optional_number())
        w.incarnation = Incarnation(*incarnation);
    w.reason = cursor.text();
    w.since = cursor.time();
    w.revision = cursor.revision();
    return w;
}

Result<LogicalSource> logical_from(const SqlRow& row) {
    RowCursor cursor(row);
    LogicalSource source;
    source.name = cursor.text();
    TRY_ASSIGN(schema, schema_from_json(cursor.text()));
    source.schema = std::move(schema);
    source.revision = cursor.revision();
    return source;
}

Result<PhysicalSource> physical_from(const SqlRow& row) {
    RowCursor cursor(row);
    PhysicalSource source;
    source.id = PhysicalSourceId(cursor.number());
    source.logical = cursor.text();
    source.worker = cursor.text();
    source.type = cursor.text();
    TRY_ASSIGN(options, config_from_json(cursor.text()));
    TRY_ASSIGN(format, config_from_json(cursor.text()));
    source.source = std::move(options);
    source.format = std::move(format);
    source.revision = cursor.revision();
    return source;
}

Result<Sink> sink_from(const SqlRow& row) {
    RowCursor cursor(row);
    Sink sink;
    sink.name = cursor.text();
    TRY_ASSIGN(schema, schema_from_json(cursor.text()));
    sink.schema = std::move(schema);
    sink.worker = cursor.text();
    sink.type = cursor.text();
    TRY_ASSIGN(options, config_from_json(cursor.text()));
    TRY_ASSIGN(format, config_from_json(cursor.text()));
    sink.sink = std::move(options);
    sink.format = std::move(format);
    sink.revision = cursor.revision();
    return sink;
}

Result<Query> query_from(const SqlRow& row) {
    RowCursor cursor(row);
    Query query;
    query.id = QueryId(cursor.number());
    query.name = cursor.text();
    query.statement = cursor.text();
    TRY_ASSIGN(settings, config_from_json(cursor.text()));
    query.settings = std::move(settings);
    query.state = cursor.state<QueryState>();
    query.desired = cursor.state<QueryDesire>();
    query.stop_mode = cursor.state<StopMode>();
    query.run = cursor.number();
    query.reason = cursor.text();
    TRY_ASSIGN(lagging, texts_from_json(cursor.text()));
    query.lagging = std::move(lagging);
    query.created = cursor.time();
    query.since = cursor.time();
    query.revision = cursor.revision();
    query.restarts = cursor.number();
    query.restarted = cursor.optional_time();
    return query;
}

std::optional<Counts> counts_from(RowCursor& cursor) {
    const auto rows_in = cursor.optional_number();
    if (!rows_in) return std::nullopt;
    Counts counts{.rows_in = *rows_in};
    counts.bytes_in = cursor.number();
    counts.rows_out = cursor.number();
    counts.bytes_out = cursor.number();
    counts.late = cursor.number();
    counts.skipped = cursor.number();
    counts.stalls = cursor.number();
    counts.busy_us = cursor.number();
    counts.memory = cursor.number();
    return counts;
}

Result<Fragment> fragment_from(const SqlRow& row) {
    RowCursor cursor(row);
    Fragment f;
    f.id = FragmentId(cursor.number());
    f.query = QueryId(cursor.number());
    f.worker = cursor.text();
    f.run = cursor.number();
    f.slots = cursor.number();
    f.stage = cursor.number();
    f.plan = cursor.text();
    f.state = cursor.state<FragmentState>();
    f.reason = cursor.text();
    f.since = cursor.time();
    f.revision = cursor.revision();
    f.fingerprint = cursor.text();
    f.counts = counts_from(cursor);
    return f;
}

template <class T>
Result<std::vector<T>> list(Sql& sql, std::string_view columns, const Where& where,
                            std::string_view order, Result<T> (*decode)(const SqlRow&)) {
    TRY_ASSIGN(rows, sql.query_with(std::string(columns) + where.text() + std::string(order),
                                    where.parameters()));
    std::vector<T> entities;
    entities.reserve(rows.size());
    for (const SqlRow& row : rows) {
        Result<T> entity = decode(row);
        if (!entity) {
            Error error = entity.error();
            error.message += ", in the row of " + shown(row.at(0), ViewType::text);
            return error;
        }
        entities.push_back(*std::move(entity));
    }
    return entities;
}

template <class T>
Result<std::optional<T>> first(Result<std::vector<T>> found) {
    if (!found) return found.error();
    if (found->empty()) return std::optional<T>();
    return std::optional<T>(std::move(found->front()));
}

Error absent(ErrorCode code, const std::string& kind, const std::string& name) {
    return Error{.code = code, .message = "unknown " + kind + " " + in_quotes(name)};
}

}  // namespace

Result<Revision> Reader::revision() const {
    TRY_ASSIGN(rows, sql_.query("SELECT revision FROM meta WHERE id = 1"));
    CHECK(rows.size() == 1);
    return RowCursor(rows[0]).revision();
}

Result<std::string> Reader::catalog_id() const {
    TRY_ASSIGN(rows, sql_.query("SELECT catalog FROM catalog_identity WHERE id = 1"));
    if (rows.size() == 1) return RowCursor(rows[0]).text();
    return Error{.code = ErrorCode::catalog_corrupt,
                 .message = "the catalog has no id by which workers could know it",
                 .hint = "restore it from a backup with `baton restore`"};
}

Result<std::optional<Worker>> Reader::worker(const std::string& name) const {
    Where where;
    where.equal("name", SqlValue(name));
    return first(list(sql_, kWorkerColumns, where, "", worker_from));
}

Result<std::optional<LogicalSource>> Reader::logical_source(const std::string& name) const {
    Where where;
    where.equal("name", SqlValue(name));
    return first(list(sql_, kLogicalColumns, where, "", logical_from));
}

Result<std::optional<PhysicalSource>> Reader::physical_source(PhysicalSourceId id) const {
    Where where;
    where.equal("id", value_of(id.value()));
    return first(list(sql_, kPhysicalColumns, where, "", physical_from));
}

Result<std::optional<Sink>> Reader::sink(const std::string& name) const {
    Where where;
    where.equal("name", SqlValue(name));
    return first(list(sql_, kSinkColumns, where, "", sink_from));
}

Result<std::vector<Query>> Reader::queries_where(const std::string& condition,
                                                 std::vector<SqlValue> parameters) const {
    TRY_ASSIGN(
        rows, sql_.query_with(std::string(kQueryColumns) + condition + " ORDER BY id", parameters));
    std::vector<Query> queries;
    queries.reserve(rows.size());
    for (const SqlRow& row : rows) {
        TRY_ASSIGN(query, query_from(row));
        const SqlValue id = value_of(query.id.value());
        TRY_ASSIGN(
            sources,
            sql_.query("SELECT source FROM query_source WHERE query = ? ORDER BY source", {id}));
        for (const SqlRow& source : sources) {
            query.sources.emplace_back(RowCursor(source).number());
        }
        TRY_ASSIGN(sinks,
                   sql_.query("SELECT sink FROM query_sink WHERE query = ? ORDER BY sink", {id}));
        for (const SqlRow& sink : sinks) query.sinks.push_back(RowCursor(sink).text());
        queries.push_back(std::move(query));
    }
    return queries;
}

Result<std::optional<Query>> Reader::query(const request::QueryRef& ref) const {
    if (const auto* id = std::get_if<QueryId>(&ref)) {
        return first(queries_where(" WHERE id = ?", {value_of(id->value())}));
    }
    return first(queries_where(" WHERE name = ?", {std::get<std::string>(ref)}));
}

Result<std::optional<Fragment>> Reader::fragment(FragmentId id) const {
    Where where;
    where.equal("id", value_of(id.value()));
    return first(list(sql_, kFragmentColumns, where, "", fragment_from));
}

Result<std::vector<Worker>> Reader::workers(const WorkerFilter& filter) const {
    Where where;
    where.equal("name", filter.name);
    where.equal("state", filter.state);
    if (filter.capacity_at_least) {
        where.add("(capacity IS NULL OR capacity >= ?)", value_of(*filter.capacity_at_least));
    }
    TRY_ASSIGN(found, list(sql_, kWorkerColumns, where, " ORDER BY name", worker_from));
    if (found.empty() && filter.name) {
        return absent(ErrorCode::unknown_worker, "worker", *filter.name);
    }
    return found;
}

Result<std::vector<NetworkLink>> Reader::links() const {
    std::vector<NetworkLink> links;
    TRY(sql_.run("SELECT upstream, downstream FROM network_link ORDER BY upstream, downstream", {},
                 [&](const SqlRow& row) {
                     RowCursor cursor(row);
                     NetworkLink link;
                     link.upstream = cursor.text();
                     link.downstream = cursor.text();
                     links.push_back(std::move(link));
                 }));
    return links;
}

Result<std::vector<LogicalSource>> Reader::logical_sources(
    const std::optional<std::string>& name) const {
    Where where;
    where.equal("name", name);
    TRY_ASSIGN(found, list(sql_, kLogicalColumns, where, " ORDER BY name", logical_from));
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
    TRY_ASSIGN(found, list(sql_, kPhysicalColumns, where, " ORDER BY id", physical_from));
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
    TRY_ASSIGN(found, list(sql_, kSinkColumns, where, " ORDER BY name", sink_from));
    if (found.empty() && filter.name) return absent(ErrorCode::unknown_sink, "sink", *filter.name);
    return found;
}

Result<std::vector<Query>> Reader::queries(const QueryFilter& filter) const {
    Where where;
    where.equal("id", filter.id);
    where.equal("name", filter.name);
    where.equal("state", filter.state);
    if (filter.worker) {
        where.add("id IN (SELECT query FROM fragment WHERE worker = ?)", SqlValue(*filter.worker));
    }
    TRY_ASSIGN(found, queries_where(where.text(), where.parameters()));
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
    TRY_ASSIGN(candidates, queries_where(" WHERE settings LIKE ?", {mark}));
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
    const auto columns = filter.with_plan ? kFragmentColumns : kFragmentColumnsWithoutPlan;
    return list(sql_, columns, where, " ORDER BY id", fragment_from);
}

Result<std::uint64_t> Reader::used_slots(const std::string& worker) const {
    static const std::string kSql =
        "SELECT COALESCE(SUM(slots), 0) FROM fragment WHERE worker = ? AND " +
        occupies_slots("state");
    TRY_ASSIGN(rows, sql_.query(kSql, {worker}));
    return RowCursor(rows.at(0)).number();
}

Result<std::vector<std::string>> Reader::worker_names() const {
    std::vector<std::string> names;
    TRY(sql_.run("SELECT name FROM worker ORDER BY name", {},
                 [&](const SqlRow& row) { names.push_back(RowCursor(row).text()); }));
    return names;
}

// One worker is looked up by its index in some microseconds; over many, one look at all fragments
// costs less.
Result<std::map<std::string, std::uint64_t>> Reader::used_between(
    const std::set<std::string>& pinned, const Cluster& cluster) const {
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
                                    occupies_slots("state") + " GROUP BY worker";
    TRY(sql_.run(kSql, {}, [&](const SqlRow& row) {
        RowCursor cursor(row);
        std::string name = cursor.text();
        const std::uint64_t slots = cursor.number();
        if (limited.contains(name)) used.emplace(std::move(name), slots);
    }));
    return used;
}

Result<PlanningView> Reader::planning_view(const MentionedNames& names, KnownCluster& known) const {
    PlanningView view;
    std::set<std::string> pinned = names.workers;
    const auto list_names = [&](std::string_view sql, std::vector<std::string>& into) {
        return sql_.run(sql, {}, [&](const SqlRow& row) { into.push_back(RowCursor(row).text()); });
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
        if (found) pinned.insert(found->worker);
        if (!found) {
            TRY(list_names("SELECT name FROM sink ORDER BY name LIMIT 1000", view.known_sinks));
        }
        view.sink = std::move(found);
    }
    TRY_ASSIGN(rows, sql_.query("SELECT cluster_revision FROM meta WHERE id = 1"));
    const Revision now = RowCursor(rows.at(0)).revision();
    if (!known.cluster || known.revision != now) {
        auto cluster = std::make_shared<Cluster>();
        TRY_ASSIGN(all, workers());
        for (Worker& worker : all) cluster->workers.emplace(worker.name, worker);
        TRY_ASSIGN(all_links, links());
        cluster->topology = Topology(all_links);
        cluster->revision = now;
        known = {.revision = now, .cluster = std::move(cluster)};
    }
    view.cluster = known.cluster;
    if (view.cluster->workers.size() == 1) pinned.insert(view.cluster->workers.begin()->first);
    TRY_ASSIGN(used, used_between(pinned, *view.cluster));
    view.used = std::move(used);
    return view;
}

}  // namespace baton
