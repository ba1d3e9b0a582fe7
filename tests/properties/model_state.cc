// The state of the model: questions to it, its lines, and DROP .. WHERE over it.
#include <algorithm>
#include <vector>

#include "base/check.h"
#include "base/overload.h"
#include "catalog/kinds/encode.h"
#include "properties/model.h"
#include "sql/printer.h"

namespace baton::properties {

const std::vector<Reason>& given_reasons() {
    static const std::vector<Reason> kReasons = {
        {},
        {.code = ReasonCode::fragment_failed, .who = "W1", .error = 3013, .text = "lost"},
        {.code = ReasonCode::restarted, .who = "W2", .text = "back"}};
    return kReasons;
}

std::uint64_t ModelState::used(const std::string& worker) const {
    std::uint64_t slots = 0;
    for (const auto& [id, f] : fragments) slots += f.worker == worker && !has_ended(f.state);
    return slots;
}

bool ModelState::reaches(const std::string& from, const std::string& to) const {
    std::set<std::string> reached = {from};
    for (std::size_t before = 0; before != reached.size();) {
        before = reached.size();
        for (const auto& [upstream, downstream] : links) {
            if (reached.contains(upstream)) reached.insert(downstream);
        }
    }
    return reached.contains(to);
}

bool ModelState::takes_part(const std::string& worker) const {
    const auto found = workers.find(worker);
    if (found == workers.end()) return false;
    const ModelWorker& w = found->second;
    return w.state == WorkerState::active && !w.draining && !w.leaving &&
           (!w.capacity || used(worker) < *w.capacity);
}

std::set<std::string> ModelState::route(const std::string& from, const std::string& to) const {
    if (!takes_part(from) || !takes_part(to)) return {};
    std::map<std::string, std::size_t> steps = {{to, 0}};
    for (std::size_t step = 0; step < workers.size(); ++step) {
        for (const auto& [upstream, downstream] : links) {
            const auto next = steps.find(downstream);
            if (next == steps.end() || next->second != step || !takes_part(upstream)) continue;
            steps.emplace(upstream, step + 1);
        }
    }
    if (!steps.contains(from)) return {};
    std::set<std::string> way = {from};
    for (std::string at = from; at != to;) {
        std::set<std::string> nearer;
        for (const auto& [upstream, downstream] : links) {
            const auto next = steps.find(downstream);
            if (upstream != at || next == steps.end()) continue;
            if (next->second + 1 == steps.at(at)) nearer.insert(downstream);
        }
        at = *nearer.begin();
        way.insert(at);
    }
    return way;
}

std::optional<std::uint64_t> ModelState::query_named(const std::string& name) const {
    for (const auto& [id, query] : queries) {
        if (query.name == name) return id;
    }
    return std::nullopt;
}

bool ModelState::is_wanted(const PartitionKey& partition) const {
    const auto list = task_lists.find(partition.list);
    return list != task_lists.end() && partition.number < list->second;
}

namespace {

std::string line_of(const Ownership& ownership) {
    return std::visit(Overload{
                          [](const ownership::Unowned&) { return std::string(" unowned"); },
                          [](const ownership::Owned& o) {
                              return " owned by " + o.owner + " epoch " + to_string(o.epoch);
                          },
                          [](const ownership::Releasing& r) {
                              return " released by " + r.owner + " epoch " + to_string(r.epoch) +
                                     " to '" + r.next_owner + "'";
                          },
                      },
                      ownership);
}

std::string number_or_none(const std::optional<std::uint64_t>& value) {
    return value ? std::to_string(*value) : "none";
}

std::string line_of(const ModelConnector& c) {
    return " on " + c.worker + " type " + c.type + " options " + kinds::to_json(c.options) +
           " format " + kinds::to_json(c.format);
}

std::string line_of(const ModelQuery& q) {
    std::string line = " name " + q.name + " state " + std::string(to_string(q.state)) +
                       " desired " + std::string(to_string(q.desired)) + " mode " +
                       std::string(to_string(q.mode)) + " run " + std::to_string(q.run) +
                       " reason '" + q.reason.text + "' reads";
    for (const std::uint64_t source : q.sources) line += " " + std::to_string(source);
    line += " writes";
    for (const std::string& sink : q.sinks) line += " " + sink;
    return line;
}

}  // namespace

std::set<std::string> lines_of(const ModelState& state) {
    std::set<std::string> lines;
    for (const auto& [name, w] : state.workers) {
        lines.insert("worker " + name + " at '" + w.address + "' data '" + w.data + "' capacity " +
                     number_or_none(w.capacity) + " used " + std::to_string(state.used(name)) +
                     " " + std::string(to_string(w.state)) + (w.draining ? " draining" : "") +
                     (w.leaving ? " leaving" : "") + " incarnation " +
                     number_or_none(w.incarnation) + " reason '" + w.reason.text + "'");
    }
    for (const auto& [from, to] : state.links) lines.insert("link " + from + " -> " + to);
    for (const auto& [name, schema] : state.logical) {
        lines.insert("logical source " + name + " " + kinds::to_json(schema));
    }
    for (const auto& [id, source] : state.physical) {
        lines.insert("physical source " + std::to_string(id) + " of " + source.logical +
                     line_of(source));
    }
    for (const auto& [name, sink] : state.sinks) {
        lines.insert("sink " + name + " " + kinds::to_json(sink.schema) + line_of(sink));
    }
    for (const auto& [id, query] : state.queries) {
        lines.insert("query " + std::to_string(id) + line_of(query));
    }
    for (const auto& [id, f] : state.fragments) {
        lines.insert("fragment " + std::to_string(id) + " of " + std::to_string(f.query) + " on " +
                     f.worker + " " + std::string(to_string(f.state)) + " reason '" +
                     f.reason.text + "'");
    }
    for (const auto& [name, partitions] : state.task_lists) {
        lines.insert("task list " + name + " of " + std::to_string(partitions));
    }
    for (const auto& [name, version] : state.tables) {
        lines.insert("table " + name + " at version " + number_or_none(version));
    }
    for (const auto& [key, ownership] : state.partitions) {
        lines.insert("partition " + to_string(key) + line_of(ownership));
    }
    return lines;
}

namespace {

template <class T>
T must(Result<T> result) {
    CHECK(result.has_value());
    return *std::move(result);
}

Reason kept(const Reason& reason) {
    const std::vector<Reason>& given = given_reasons();
    return std::find(given.begin(), given.end(), reason) != given.end() ? reason : kOwnWords;
}

}  // namespace

ModelState state_in(const catalog::Reader& reader) {
    ModelState state;
    for (const Worker& w : must(reader.workers())) {
        ModelWorker& worker = state.workers[w.name];
        if (w.control) worker.address = to_string(*w.control);
        if (w.data) worker.data = to_string(*w.data);
        worker.capacity = w.capacity;
        worker.state = w.state;
        worker.draining = w.draining;
        worker.leaving = w.leaving;
        if (w.incarnation) worker.incarnation = w.incarnation->value();
        worker.reason = kept(w.reason);
    }
    for (const NetworkLink& l : must(reader.links())) {
        state.links.insert({l.upstream, l.downstream});
    }
    for (const LogicalSource& s : must(reader.logical_sources())) state.logical[s.name] = s.schema;
    for (const PhysicalSource& s : must(reader.physical_sources())) {
        state.physical[s.id.value()] = {.logical = s.logical,
                                        .worker = s.worker,
                                        .type = s.type,
                                        .options = s.source,
                                        .format = s.format};
    }
    for (const Sink& s : must(reader.sinks())) {
        state.sinks[s.name] = {.schema = s.schema,
                               .worker = s.worker,
                               .type = s.type,
                               .options = s.sink,
                               .format = s.format};
    }
    for (const Query& q : must(reader.queries())) {
        ModelQuery& query = state.queries[q.id.value()];
        query = {.name = q.name,
                 .state = q.state,
                 .desired = q.desired,
                 .mode = q.stop_mode,
                 .run = q.run,
                 .reason = kept(q.reason)};
        for (const PhysicalSourceId source : q.sources) query.sources.insert(source.value());
        query.sinks.insert(q.sinks.begin(), q.sinks.end());
    }
    for (const Fragment& f : must(reader.fragments())) {
        state.fragments[f.id.value()] = {.query = f.query.value(),
                                         .worker = f.worker,
                                         .state = f.state,
                                         .reason = kept(f.reason)};
    }
    for (const Table& t : must(reader.all<Table>())) {
        if (t.rows) state.tables[t.name] = t.version;
        if (!t.rows) state.tables[t.name] = std::nullopt;
    }
    for (const TaskList& l : must(reader.all<TaskList>())) state.task_lists[l.name] = l.partitions;
    for (const Partition& p : must(reader.partitions())) state.partitions[p.key] = p.ownership;
    return state;
}

// ---- DROP as it is written ----------------------------------------------------------------------

namespace {

struct Candidate {
    catalog::Request drop;
    std::map<std::string, std::string> attributes;  // values as the dialect writes them
};

std::string text(const std::string& value) {
    return sql::print(sql::Literal(value));
}

template <class State>
std::string state_text(State state) {
    return text(std::string(to_string(state)));
}

std::vector<Candidate> candidates(const ModelState& state, sql::EntityKind kind, StopMode mode) {
    std::vector<Candidate> all;
    switch (kind) {
        case sql::EntityKind::logical_source:
            for (const auto& [name, schema] : state.logical) {
                all.push_back({catalog::request::DropLogicalSource{name}, {{"NAME", text(name)}}});
            }
            break;
        case sql::EntityKind::physical_source:
            for (const auto& [id, source] : state.physical) {
                all.push_back({catalog::request::DropPhysicalSource{PhysicalSourceId(id)},
                               {{"ID", std::to_string(id)},
                                {"LOGICAL", text(source.logical)},
                                {"WORKER", text(source.worker)},
                                {"TYPE", text(source.type)}}});
            }
            break;
        case sql::EntityKind::sink:
            for (const auto& [name, sink] : state.sinks) {
                all.push_back({catalog::request::DropSink{name},
                               {{"NAME", text(name)},
                                {"WORKER", text(sink.worker)},
                                {"TYPE", text(sink.type)}}});
            }
            break;
        case sql::EntityKind::worker:
            for (const auto& [name, worker] : state.workers) {
                all.push_back(
                    {catalog::request::DropWorker{name},
                     {{"NAME", text(name)},
                      {"STATE", state_text(worker.state)},
                      {"DRAINING", worker.draining ? "TRUE" : "FALSE"},
                      {"LEAVING", worker.leaving ? "TRUE" : "FALSE"},
                      {"USED", std::to_string(state.used(name))},
                      {"CAPACITY", worker.capacity ? std::to_string(*worker.capacity) : ""}}});
            }
            break;
        case sql::EntityKind::query:
            for (const auto& [id, query] : state.queries) {
                all.push_back({catalog::request::DropQuery{QueryId(id), mode},
                               {{"ID", std::to_string(id)},
                                {"NAME", text(query.name)},
                                {"STATE", state_text(query.state)},
                                {"DESIRED", state_text(query.desired)}}});
            }
            break;
        case sql::EntityKind::task_list:
            for (const auto& [name, partitions] : state.task_lists) {
                all.push_back({catalog::request::DropTaskList{name},
                               {{"NAME", text(name)}, {"PARTITIONS", std::to_string(partitions)}}});
            }
            break;
        case sql::EntityKind::table:
            for (const auto& [name, version] : state.tables) {
                all.push_back(
                    {catalog::request::DropTable{name},
                     {{"NAME", text(name)}, {"VERSION", std::to_string(version.value_or(0))}}});
            }
            break;
    }
    return all;
}

ErrorCode unknown(sql::EntityKind kind) {
    switch (kind) {
        case sql::EntityKind::logical_source:
        case sql::EntityKind::physical_source:
            return ErrorCode::unknown_source;
        case sql::EntityKind::sink:
            return ErrorCode::unknown_sink;
        case sql::EntityKind::worker:
            return ErrorCode::unknown_worker;
        case sql::EntityKind::query:
            return ErrorCode::unknown_query;
        case sql::EntityKind::task_list:
            return ErrorCode::unknown_task_list;
        case sql::EntityKind::table:
            return ErrorCode::unknown_table;
    }
    CHECK(false && "an unknown kind");
}

// What is said of several drops: what is still to be done, else what was done.
int weight(catalog::Did did) {
    const std::vector<catalog::Did> ascending = {catalog::Did::absent, catalog::Did::unchanged,
                                                 catalog::Did::dropped, catalog::Did::accepted};
    return static_cast<int>(std::find(ascending.begin(), ascending.end(), did) - ascending.begin());
}

}  // namespace

Verdict Model::drop_each(sql::EntityKind kind, const sql::AttributeIs& where, StopMode mode,
                         bool if_exists) {
    const std::string wanted = sql::print(where.value);
    Verdict all = catalog::Did::absent;
    bool none = true;
    for (const Candidate& candidate : candidates(state_, kind, mode)) {
        const auto attribute = candidate.attributes.find(where.attribute);
        CHECK(attribute != candidate.attributes.end());
        if (attribute->second != wanted || wanted == "NULL") continue;
        none = false;
        const Verdict one = apply(candidate.drop);
        if (one.refused()) return one;
        if (weight(one.did) > weight(all.did)) all.did = one.did;
    }
    if (none && !if_exists) return unknown(kind);
    return all;
}

Verdict Model::on(const catalog::request::Drop& r) {
    const sql::EntityKind kind = r.statement.kind;
    const StopMode mode = r.statement.mode.value_or(StopMode::graceful);
    const bool numbered =
        kind == sql::EntityKind::physical_source || kind == sql::EntityKind::query;
    const auto by = [&](const char* attribute, sql::Literal value) {
        return drop_each(kind, {attribute, std::move(value)}, mode, r.statement.if_exists);
    };
    return std::visit(Overload{
                          [&](const std::string& name) -> Verdict {
                              if (kind == sql::EntityKind::physical_source) {
                                  return ErrorCode::type_mismatch;
                              }
                              return by("NAME", name);
                          },
                          [&](std::uint64_t id) -> Verdict {
                              if (!numbered) return ErrorCode::type_mismatch;
                              return by("ID", sql::Integer{false, id});
                          },
                          [&](const sql::AttributeIs& where) -> Verdict {
                              return by(where.attribute.c_str(), where.value);
                          },
                      },
                      r.statement.target);
}

}  // namespace baton::properties
