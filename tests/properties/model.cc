#include "properties/model.h"

#include <algorithm>
#include <vector>

#include "base/overload.h"
#include "sql/printer.h"

namespace baton::properties {

namespace {

bool valid(const Schema& schema) {
    std::set<std::string> names;
    for (const Column& column : schema.columns) names.insert(column.name);
    return !names.empty() && names.size() == schema.columns.size() && !names.contains("");
}

Verdict in_use(ErrorCode code, std::set<std::string> by) {
    Verdict verdict = code;
    verdict.related = std::move(by);
    return verdict;
}

// What a query reads and writes: names, and the hosts of what it describes on the spot.
struct Mentions {
    std::set<std::string> sources;
    std::vector<std::optional<std::string>> inline_sources;
};

std::optional<std::string> host_in(const std::vector<sql::Setting>& settings) {
    for (const sql::Setting& setting : settings) {
        if (setting.key.back() != "HOST") continue;
        return std::get<std::string>(std::get<sql::Literal>(setting.value));
    }
    return std::nullopt;
}

void collect(const sql::Query& query, Mentions& mentions) {
    if (const auto* both = std::get_if<sql::Union>(&query.node)) {
        for (const sql::Query& branch : both->branches) collect(branch, mentions);
        return;
    }
    const sql::Relation& from = std::get<sql::Select>(query.node).from;
    if (const auto* named = std::get_if<sql::NamedRelation>(&from.node)) {
        mentions.sources.insert(named->parts.back());
    } else {
        const auto& described = std::get<sql::InlineSource>(from.node);
        mentions.inline_sources.push_back(host_in(described.settings));
    }
}

}  // namespace

bool Verdict::changes() const {
    return !refused() && (did == catalog::Did::created || did == catalog::Did::dropped ||
                          did == catalog::Did::accepted || did == catalog::Did::changed);
}

Verdict Model::apply(const catalog::Request& request) {
    const Model before = *this;
    Verdict verdict = std::visit([&](const auto& r) { return on(r); }, request);
    if (verdict.refused()) *this = before;
    return verdict;
}

Model::Place Model::place(const std::optional<std::string>& host) const {
    if (host) {
        if (!state_.workers.contains(*host)) return {*host, ErrorCode::unknown_worker};
        return {*host, std::nullopt};
    }
    if (state_.workers.size() > 1) return {"", ErrorCode::invalid_configuration};
    return {state_.workers.empty() ? "" : state_.workers.begin()->first, std::nullopt};
}

std::optional<std::uint64_t> Model::find(const catalog::request::QueryRef& ref) const {
    if (const auto* name = std::get_if<std::string>(&ref)) return state_.query_named(*name);
    const std::uint64_t id = std::get<QueryId>(ref).value();
    return state_.queries.contains(id) ? std::optional(id) : std::nullopt;
}

void Model::erase_query(std::uint64_t id) {
    std::erase_if(state_.fragments, [&](const auto& f) { return f.second.query == id; });
    state_.queries.erase(id);
}

// ---- workers ------------------------------------------------------------------------------------

Verdict Model::on(const catalog::request::CreateWorker& r) {
    const binding::WorkerSettings& given = r.worker;
    if (state_.workers.contains(given.name)) return ErrorCode::worker_exists;
    for (const auto& [name, worker] : state_.workers) {
        if (worker.address == to_string(given.control)) return ErrorCode::worker_exists;
    }
    for (const auto* peers : {&given.upstream, &given.downstream}) {
        for (const std::string& peer : *peers) {
            const bool known = peer == given.name || state_.workers.contains(peer);
            if (!known) return ErrorCode::unknown_worker;
        }
    }
    for (const std::string& peer : given.upstream) state_.links.insert({peer, given.name});
    for (const std::string& peer : given.downstream) state_.links.insert({given.name, peer});
    for (const auto& [from, to] : state_.links) {
        if (state_.reaches(to, from)) return ErrorCode::invalid_topology;
    }
    state_.workers[given.name] = {.address = to_string(given.control),
                                  .data = given.data ? to_string(*given.data) : "",
                                  .capacity = given.capacity};
    return catalog::Did::created;
}

Verdict Model::on(const catalog::request::DropWorker& r) {
    if (!state_.workers.contains(r.name)) return catalog::Did::absent;
    std::set<std::string> users;
    for (const auto& [id, f] : state_.fragments) {
        if (f.worker == r.name) users.insert(state_.queries.at(f.query).name);
    }
    for (const auto& [id, source] : state_.physical) {
        if (source.worker == r.name) users.insert(source.logical);
    }
    for (const auto& [name, sink] : state_.sinks) {
        if (sink.worker == r.name) users.insert(name);
    }
    for (const auto& [key, ownership] : state_.partitions) {
        const std::string* owner = owner_of(ownership);
        if (owner != nullptr && *owner == r.name) users.insert(key.list);
    }
    if (!users.empty()) return in_use(ErrorCode::worker_in_use, users);
    state_.workers.erase(r.name);
    std::erase_if(state_.links,
                  [&](const ModelLink& l) { return l.first == r.name || l.second == r.name; });
    return catalog::Did::dropped;
}

Verdict Model::on(const catalog::request::DrainWorker& r) {
    if (!state_.workers.contains(r.name)) return ErrorCode::unknown_worker;
    const bool before = std::exchange(state_.workers[r.name].draining, r.draining);
    return before == r.draining ? catalog::Did::unchanged : catalog::Did::changed;
}

Verdict Model::on(const controllers::ReportWorker& r) {
    if (!state_.workers.contains(r.name)) return ErrorCode::unknown_worker;
    ModelWorker& worker = state_.workers[r.name];
    const ModelWorker before = worker;
    worker.state = r.state;
    worker.reason = r.reason;
    worker.leaving = r.leaving;
    if (r.incarnation) worker.incarnation = r.incarnation->value();
    const bool another = before.incarnation && worker.incarnation != before.incarnation;
    if (r.state == WorkerState::unreachable || another) {
        for (const auto& [id, f] : state_.fragments) {
            ModelQuery& query = state_.queries.at(f.query);
            if (f.worker != r.name || query.state != QueryState::running) continue;
            query.state = QueryState::deploying;
            query.reason = kOwnWords;
        }
    }
    return worker == before ? catalog::Did::unchanged : catalog::Did::changed;
}

// ---- sources and sinks --------------------------------------------------------------------------

Verdict Model::on(const catalog::request::CreateLogicalSource& r) {
    if (state_.logical.contains(r.name)) {
        if (r.if_not_exists) return catalog::Did::existed;
        return ErrorCode::source_exists;
    }
    if (state_.tables.contains(r.name)) return ErrorCode::table_exists;
    if (!valid(r.schema)) return ErrorCode::schema;
    state_.logical[r.name] = r.schema;
    return catalog::Did::created;
}

Verdict Model::on(const catalog::request::CreatePhysicalSource& r) {
    if (!state_.logical.contains(r.logical)) return ErrorCode::unknown_source;
    auto [worker, refusal] = place(r.connector.host);
    if (refusal) return *refusal;
    if (worker.empty()) state_.workers[worker = "embedded"] = {};
    const ModelConnector source{.logical = r.logical,
                                .worker = worker,
                                .type = r.connector.type,
                                .options = r.connector.options,
                                .format = r.connector.format};
    for (const auto& [id, other] : state_.physical) {
        if (other == source) return ErrorCode::source_exists;
    }
    Verdict verdict = catalog::Did::created;
    verdict.id = next_id_++;
    state_.physical[*verdict.id] = source;
    return verdict;
}

Verdict Model::on(const catalog::request::CreateSink& r) {
    if (state_.sinks.contains(r.name)) {
        if (r.if_not_exists) return catalog::Did::existed;
        return ErrorCode::sink_exists;
    }
    if (state_.tables.contains(r.name)) return ErrorCode::table_exists;
    if (!valid(r.schema)) return ErrorCode::schema;
    auto [worker, refusal] = place(r.connector.host);
    if (refusal) return *refusal;
    if (worker.empty()) state_.workers[worker = "embedded"] = {};
    state_.sinks[r.name] = {.schema = r.schema,
                            .worker = worker,
                            .type = r.connector.type,
                            .options = r.connector.options,
                            .format = r.connector.format};
    return catalog::Did::created;
}

Verdict Model::on(const catalog::request::DropLogicalSource& r) {
    if (!state_.logical.contains(r.name)) return catalog::Did::absent;
    std::set<std::string> users;
    for (const auto& [id, source] : state_.physical) {
        if (source.logical == r.name) users.insert(std::to_string(id));
    }
    if (!users.empty()) return in_use(ErrorCode::source_in_use, users);
    state_.logical.erase(r.name);
    return catalog::Did::dropped;
}

Verdict Model::on(const catalog::request::DropPhysicalSource& r) {
    if (!state_.physical.contains(r.id.value())) return catalog::Did::absent;
    std::set<std::string> users;
    for (const auto& [id, query] : state_.queries) {
        if (query.sources.contains(r.id.value())) users.insert(query.name);
    }
    if (!users.empty()) return in_use(ErrorCode::source_in_use, users);
    state_.physical.erase(r.id.value());
    return catalog::Did::dropped;
}

Verdict Model::on(const catalog::request::DropSink& r) {
    if (!state_.sinks.contains(r.name)) return catalog::Did::absent;
    std::set<std::string> users;
    for (const auto& [id, query] : state_.queries) {
        if (query.sinks.contains(r.name)) users.insert(query.name);
    }
    if (!users.empty()) return in_use(ErrorCode::sink_in_use, users);
    state_.sinks.erase(r.name);
    return catalog::Did::dropped;
}

// ---- queries ------------------------------------------------------------------------------------

Verdict Model::on(const catalog::request::CreateQuery& r) {
    // Where there is no worker, the embedded one is there for whoever needs it first.
    const bool first = state_.workers.empty();
    if (first) state_.workers[std::string(kEmbeddedWorker)] = {};
    Verdict verdict = create_query(r);
    if (first && verdict.refused()) state_.workers.clear();
    return verdict;
}

Verdict Model::create_query(const catalog::request::CreateQuery& r) {
    Verdict verdict = catalog::Did::created;
    if (r.name && state_.query_named(*r.name)) verdict.refusals.insert(ErrorCode::query_exists);
    ModelQuery query;
    std::set<std::string> workers;
    const auto put_on = [&](const Place& where) {
        if (where.refusal) verdict.refusals.insert(*where.refusal);
        if (where.worker.empty()) verdict.refusals.insert(ErrorCode::placement);
        workers.insert(where.worker);
    };

    std::string target;
    if (const auto* name = std::get_if<std::string>(&r.tree.sink.node)) {
        const auto sink = state_.sinks.find(*name);
        if (sink == state_.sinks.end()) {
            verdict.refusals.insert(ErrorCode::unknown_sink);
        } else {
            query.sinks = {*name};
            target = sink->second.worker;
            workers.insert(target);
        }
    } else {
        const Place where = place(host_in(std::get<sql::InlineSink>(r.tree.sink.node).settings));
        target = where.worker;
        put_on(where);
    }

    Mentions mentions;
    collect(r.tree.query, mentions);
    for (const auto& host : mentions.inline_sources) put_on(place(host));
    for (const std::string& name : mentions.sources) {
        const std::size_t before = query.sources.size();
        for (const auto& [id, source] : state_.physical) {
            if (source.logical != name) continue;
            query.sources.insert(id);
            workers.insert(source.worker);
        }
        if (!state_.logical.contains(name)) verdict.refusals.insert(ErrorCode::unknown_source);
        if (query.sources.size() == before) verdict.refusals.insert(ErrorCode::placement);
    }

    // Each worker that data passes through runs a fragment.
    std::set<std::string> on_the_way;
    for (const std::string& name : workers) {
        if (!state_.workers.contains(name)) continue;
        const std::set<std::string> way = state_.route(name, target);
        if (way.empty()) verdict.refusals.insert(ErrorCode::placement);
        on_the_way.insert(way.begin(), way.end());
    }
    if (verdict.refused()) return verdict;
    workers = std::move(on_the_way);

    const std::uint64_t id = next_id_++;
    query.name = r.name.value_or("Q" + std::to_string(id));
    while (state_.query_named(query.name)) query.name += "_";
    for (const std::string& worker : workers) {
        state_.fragments[next_id_++] = {.query = id, .worker = worker};
    }
    verdict.id = id;
    verdict.name = query.name;
    state_.queries[id] = std::move(query);
    return verdict;
}

Verdict Model::on(const catalog::request::DropQuery& r) {
    const auto id = find(r.query);
    if (!id) return catalog::Did::absent;
    ModelQuery& query = state_.queries.at(*id);
    if (query.state == QueryState::pending || has_ended(query.state)) {
        erase_query(*id);
        return catalog::Did::dropped;
    }
    const bool stays_forceful =
        query.desired != QueryDesire::running && query.mode == StopMode::forceful;
    const StopMode mode = stays_forceful ? StopMode::forceful : r.mode;
    const bool so_already = query.state == QueryState::stopping &&
                            query.desired == QueryDesire::dropped && query.mode == mode;
    if (query.state != QueryState::stopping) query.reason = kOwnWords;
    query.state = QueryState::stopping;
    query.desired = QueryDesire::dropped;
    query.mode = mode;
    return so_already ? catalog::Did::unchanged : catalog::Did::accepted;
}

Verdict Model::on(const catalog::request::StopQuery& r) {
    const auto id = find(r.query);
    if (!id) return ErrorCode::unknown_query;
    ModelQuery& query = state_.queries.at(*id);
    if (query.desired == QueryDesire::dropped) return ErrorCode::query_state;
    if (has_ended(query.state)) return catalog::Did::unchanged;
    if (query.desired == QueryDesire::failed) return catalog::Did::unchanged;
    const bool again = query.desired == QueryDesire::stopped;
    const bool stays_forceful = again && query.mode == StopMode::forceful;
    const StopMode mode = stays_forceful ? StopMode::forceful : r.mode;
    const bool so_already = again && query.state == QueryState::stopping && query.mode == mode;
    query.mode = mode;
    query.desired = QueryDesire::stopped;
    if (!again) query.reason = kOwnWords;
    if (query.state == QueryState::pending) {  // no worker knows of it
        query.state = QueryState::stopped;
        for (auto& [fragment_id, f] : state_.fragments) {
            if (f.query == *id) f.state = FragmentState::stopped;
        }
        return catalog::Did::changed;
    }
    query.state = QueryState::stopping;
    return so_already ? catalog::Did::unchanged : catalog::Did::accepted;
}

Verdict Model::on(const controllers::ReportFragment& r) {
    const auto found = state_.fragments.find(r.fragment.value());
    if (found == state_.fragments.end()) return ErrorCode::unknown_query;
    ModelFragment& fragment = found->second;
    ModelQuery& query = state_.queries.at(fragment.query);
    if (fragment.state == r.state && fragment.reason == r.reason) return catalog::Did::unchanged;
    if (query.state == QueryState::pending) return ErrorCode::query_state;
    if (has_ended(query.state) && !has_ended(r.state)) return ErrorCode::query_state;
    const auto capacity = state_.workers.at(fragment.worker).capacity;
    const bool comes_back = has_ended(fragment.state) && !has_ended(r.state);
    if (comes_back && capacity && state_.used(fragment.worker) >= *capacity) {
        return ErrorCode::placement;
    }
    fragment.state = r.state;
    fragment.reason = r.reason;
    const bool fine = r.state == FragmentState::running || r.state == FragmentState::terminated;
    if (query.state == QueryState::running && !fine) {
        query.state = QueryState::deploying;
        query.reason = kOwnWords;
    }
    return catalog::Did::changed;
}

Verdict Model::on(const controllers::MarkQuery& r) {
    const auto id = find(r.query);
    if (!id) return ErrorCode::unknown_query;
    ModelQuery& query = state_.queries.at(*id);
    if (query.state == r.state) {
        return std::exchange(query.reason, r.reason) == r.reason ? catalog::Did::unchanged
                                                                 : catalog::Did::changed;
    }
    if (r.state == QueryState::pending || has_ended(query.state)) return ErrorCode::query_state;
    const bool upwards = r.state == QueryState::deploying || r.state == QueryState::running;
    if (upwards && query.desired != QueryDesire::running) return ErrorCode::query_state;
    const bool dropped = query.desired == QueryDesire::dropped;
    if (dropped && has_ended(r.state)) return ErrorCode::query_state;  // it is released instead
    for (const auto& [fragment_id, f] : state_.fragments) {
        if (f.query != *id) continue;
        const bool runs = f.state == FragmentState::running &&
                          state_.workers.at(f.worker).state == WorkerState::active;
        const bool fine = runs || f.state == FragmentState::terminated;
        if (r.state == QueryState::running && !fine) return ErrorCode::query_state;
        if (has_ended(r.state) && !has_ended(f.state)) return ErrorCode::query_state;
    }
    query.state = r.state;
    query.reason = r.reason;
    return catalog::Did::changed;
}

Verdict Model::on(const controllers::FailQuery& r) {
    const auto id = find(r.query);
    if (!id) return ErrorCode::unknown_query;
    ModelQuery& query = state_.queries.at(*id);
    if (has_ended(query.state) || query.desired != QueryDesire::running)
        return catalog::Did::unchanged;
    query.desired = QueryDesire::failed;
    query.mode = StopMode::forceful;
    query.reason = r.reason;
    const bool told = query.state != QueryState::pending;
    query.state = told ? QueryState::stopping : QueryState::failed;
    if (told) return catalog::Did::accepted;
    for (auto& [fragment_id, f] : state_.fragments) {
        if (f.query == *id) f.state = FragmentState::stopped;
    }
    return catalog::Did::changed;
}

Verdict Model::on(const controllers::RestartQuery& r) {
    const auto id = find(r.query);
    if (!id) return ErrorCode::unknown_query;
    ModelQuery& query = state_.queries.at(*id);
    if (query.desired != QueryDesire::running) return ErrorCode::query_state;
    if (query.state != QueryState::deploying && query.state != QueryState::running) {
        return ErrorCode::query_state;
    }
    for (const auto& [fragment_id, f] : state_.fragments) {
        if (f.query == *id && !has_ended(f.state)) return ErrorCode::query_state;
    }
    for (const auto& [fragment_id, f] : state_.fragments) {
        const auto capacity = state_.workers.at(f.worker).capacity;
        const bool full = capacity && state_.used(f.worker) >= *capacity;
        if (f.query == *id && full) return ErrorCode::placement;
    }
    for (auto& [fragment_id, f] : state_.fragments) {
        if (f.query != *id) continue;
        f.state = FragmentState::pending;
        f.reason = {};
    }
    query.state = QueryState::deploying;
    query.run += 1;
    query.reason = r.reason;
    return catalog::Did::changed;
}

Verdict Model::on(const controllers::ReleaseQuery& r) {
    const auto id = find(r.query);
    if (!id) return catalog::Did::absent;
    if (state_.queries.at(*id).desired != QueryDesire::dropped) return ErrorCode::query_state;
    for (const auto& [fragment_id, f] : state_.fragments) {
        if (f.query == *id && !has_ended(f.state)) return ErrorCode::query_state;
    }
    erase_query(*id);
    return catalog::Did::dropped;
}

// ---- task lists ---------------------------------------------------------------------------------

Verdict Model::on(const catalog::request::CreateTaskList& r) {
    if (state_.task_lists.contains(r.name)) {
        if (r.if_not_exists) return catalog::Did::existed;
        return ErrorCode::task_list_exists;
    }
    if (r.partitions < 1 || r.partitions > kPartitionsMax) return ErrorCode::invalid_configuration;
    state_.task_lists[r.name] = r.partitions;
    for (std::uint32_t number = 0; number < r.partitions; ++number) {
        state_.partitions.try_emplace({.list = r.name, .number = number});
    }
    return catalog::Did::created;
}

Verdict Model::on(const catalog::request::DropTaskList& r) {
    if (state_.task_lists.erase(r.name) == 0) return catalog::Did::absent;
    std::erase_if(state_.partitions, [&](const auto& partition) {
        return partition.first.list == r.name && owner_of(partition.second) == nullptr;
    });
    return catalog::Did::dropped;
}

// ---- tables -------------------------------------------------------------------------------------

Verdict Model::on(const catalog::request::CreateTable& r) {
    const std::string& name = r.table.name;
    if (state_.tables.contains(name)) {
        if (r.if_not_exists) return catalog::Did::existed;
        return ErrorCode::table_exists;
    }
    if (state_.logical.contains(name) || state_.sinks.contains(name)) {
        return ErrorCode::table_exists;
    }
    state_.tables[name] = std::nullopt;
    return catalog::Did::created;
}

Verdict Model::on(const catalog::request::DropTable& r) {
    return state_.tables.erase(r.name) == 0 ? catalog::Did::absent : catalog::Did::dropped;
}

Verdict Model::on(const catalog::request::NoteTable& r) {
    const auto found = state_.tables.find(r.name);
    if (found == state_.tables.end()) return catalog::Did::absent;
    if (found->second && r.version <= *found->second) return catalog::Did::unchanged;
    found->second = r.version;
    return catalog::Did::changed;
}

Verdict Model::on(const catalog::request::ForgetDroppedTable& /*r*/) {
    return catalog::Did::absent;
}

std::optional<ErrorCode> Model::move(const PartitionMove& move) {
    const auto found = state_.partitions.find(move.partition);
    const auto present = found == state_.partitions.end() ? std::optional<Ownership>()
                                                          : std::optional(found->second);
    if (present != move.before) return ErrorCode::conflict;
    const std::string* next = move.after ? owner_of(*move.after) : nullptr;
    if (next != nullptr && !state_.workers.contains(*next)) return ErrorCode::unknown_worker;
    const auto* owned = present ? std::get_if<ownership::Owned>(&*present) : nullptr;
    const bool leaves = owned != nullptr && (next == nullptr || *next != owned->owner);
    if (leaves && state_.workers.at(owned->owner).state == WorkerState::active) {
        return ErrorCode::conflict;  // it is asked first
    }
    if (move.after) {
        state_.partitions[move.partition] = *move.after;
    } else {
        state_.partitions.erase(move.partition);
    }
    return std::nullopt;
}

Verdict Model::on(const controllers::AssignPartitions& r) {
    for (const PartitionMove& each : r.moves) {
        if (const auto refusal = move(each)) return *refusal;
    }
    return catalog::Did::changed;
}

}  // namespace baton::properties
