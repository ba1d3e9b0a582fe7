// What requests about workers and links do.
#include <algorithm>

#include "base/text.h"
#include "catalog/application.h"
#include "catalog/kinds/row_cursor.h"
#include "core/topology/topology.h"

namespace baton::catalog {

namespace {

Error worker_exists(const std::string& message, std::string hint = {}) {
    return Error{.code = ErrorCode::worker_exists, .message = message, .hint = std::move(hint)};
}

}  // namespace

Result<Worker> Application::known_worker(const std::string& name) {
    TRY_ASSIGN(found, reader_.worker(name));
    if (found) return *std::move(found);
    TRY_ASSIGN(known, reader_.worker_names());
    return Error{.code = ErrorCode::unknown_worker,
                 .message = "unknown worker " + in_quotes(name),
                 .hint = did_you_mean(name, known)};
}

Result<std::string> Application::placement(const binding::BoundConnector& connector,
                                           const std::string& what) {
    if (connector.host) {
        TRY_ASSIGN(there, finds("SELECT 1 FROM worker WHERE name = ?", *connector.host));
        if (!there) TRY(known_worker(*connector.host));  // for its error
        return *connector.host;
    }
    TRY_ASSIGN(rows, sql_.query("SELECT name FROM worker ORDER BY name LIMIT 6"));
    std::vector<std::string> names;
    for (const SqlRow& row : rows) names.push_back(kinds::RowCursor(row).text());
    TRY_ASSIGN(only, binding::default_worker(names, what));
    if (only) return *only;
    return embedded_worker();
}

Result<std::string> Application::embedded_worker() {
    Worker worker;
    worker.name = std::string(kEmbeddedWorker);
    worker.kind = WorkerKind::embedded;
    worker.reason = {.code = ReasonCode::embedded, .text = "runs inside the coordinator"};
    worker.since = now();
    TRY(insert(worker));
    return worker.name;
}

Result<Done> Application::check_peers(const binding::WorkerSettings& worker) {
    for (const auto* peers : {&worker.downstream, &worker.upstream}) {
        for (const std::string& peer : *peers) {
            if (peer != worker.name) TRY(known_worker(peer));
        }
    }
    if (worker.upstream.empty() && !worker.downstream.contains(worker.name)) return Done{};
    TRY_ASSIGN(links, reader_.links());
    const auto circle =
        topology::Topology(links).cycle_with(worker.name, worker.upstream, worker.downstream);
    if (!circle) return Done{};
    return Error{.code = ErrorCode::invalid_topology,
                 .message = "cannot create worker " + in_quotes(worker.name) +
                            ": its links would close a cycle: " + join(*circle, " -> ")};
}

Result<Answer> Application::on(const request::CreateWorker& r) {
    const binding::WorkerSettings& given = r.worker;
    TRY_ASSIGN(same_name, finds("SELECT 1 FROM worker WHERE name = ?", given.name));
    if (same_name) return worker_exists("worker " + in_quotes(given.name) + " already exists");
    const std::string address = to_string(given.control);
    TRY_ASSIGN(same_address, names("SELECT name FROM worker WHERE address = ?", {address}));
    if (!same_address.empty()) {
        return worker_exists("address " + in_quotes(address) + " already belongs to worker " +
                             in_quotes(same_address.front()));
    }
    TRY(check_peers(given));
    Worker worker;
    worker.name = given.name;
    worker.control = given.control;
    worker.data = given.data;
    worker.capacity = given.capacity;
    worker.reason = {.code = ReasonCode::unheard, .text = "not heard from yet"};
    worker.since = now();
    TRY(insert(worker));
    for (const std::string& peer : given.downstream) {
        TRY(insert(kinds::KeptLink{.link = {.upstream = given.name, .downstream = peer}}));
    }
    for (const std::string& peer : given.upstream) {
        TRY(insert(kinds::KeptLink{.link = {.upstream = peer, .downstream = given.name}}));
    }
    return Answer{.did = Did::created, .name = given.name};
}

Result<Answer> Application::on(const request::DropWorker& r) {
    TRY_ASSIGN(found, reader_.worker(r.name));
    if (!found) return Answer{.did = Did::absent, .name = r.name};
    TRY_ASSIGN(queries, names("SELECT q.name FROM query q JOIN fragment f ON f.query = q.id "
                              "WHERE f.worker = ? ORDER BY q.name",
                              {r.name}));
    TRY_ASSIGN(sources, names("SELECT logical FROM physical_source WHERE worker = ? "
                              "ORDER BY logical, id",
                              {r.name}));
    TRY_ASSIGN(sinks, names("SELECT name FROM sink WHERE worker = ? ORDER BY name", {r.name}));
    TRY_ASSIGN(partitions, names("SELECT DISTINCT list FROM task_partition WHERE owner = ? "
                                 "ORDER BY list",
                                 {r.name}));
    if (!queries.empty() || !sources.empty() || !sinks.empty() || !partitions.empty()) {
        Error error{.code = ErrorCode::worker_in_use,
                    .message = "cannot drop worker " + in_quotes(r.name) + ": it is used by"};
        const auto mention = [&](const char* kind, const std::vector<std::string>& used_by) {
            if (used_by.empty()) return;
            if (!error.related.empty()) error.message += " and by";
            error.message += std::string(" ") + kind + " " + enumerate(used_by);
            error.related.insert(error.related.end(), used_by.begin(), used_by.end());
        };
        mention("queries", queries);
        mention("physical sources of", sources);
        mention("sinks", sinks);
        mention("partitions of", partitions);
        error.hint = partitions.empty() ? "drop them first"
                                        : "drop what else uses it; DRAIN WORKER takes its "
                                          "partitions away, and so does time if it is gone";
        return error;
    }
    TRY_ASSIGN(links, reader_.links_of(r.name));
    for (const kinds::KeptLink& link : links) TRY(remove(link));
    TRY(write("DELETE FROM worker_certificate WHERE worker = ?", {to_upper(r.name)}));
    TRY(remove(*found));
    return Answer{
        .did = Did::dropped, .name = r.name, .dropped = {{sql::EntityKind::worker, 0, r.name}}};
}

Result<Answer> Application::on(const request::DrainWorker& r) {
    TRY_ASSIGN(before, known_worker(r.name));
    if (before.draining == r.draining) return Answer{.did = Did::unchanged, .name = r.name};
    Worker after = before;
    after.draining = r.draining;
    TRY(update(before, after));
    return Answer{.did = Did::changed, .name = r.name};
}

Result<Answer> Application::on(const controllers::ReportWorker& r) {
    TRY_ASSIGN(before, known_worker(r.name));
    Worker after = before;
    after.state = r.state;
    after.reason = r.reason;
    after.leaving = r.leaving;
    if (r.incarnation) after.incarnation = r.incarnation;
    if (after == before) return Answer{.did = Did::unchanged, .name = r.name};
    if (after.state != before.state) after.since = now();
    TRY(update(before, after));
    if (const auto why = queries::lifecycle::interruption(before, after)) {
        TRY(interrupt_queries_on(r.name, *why));
    }
    return Answer{.did = Did::changed, .name = r.name};
}

}  // namespace baton::catalog
