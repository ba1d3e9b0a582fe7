#include "core/planning/planner.h"

#include <algorithm>
#include <map>

#include "base/check.h"
#include "base/overload.h"
#include "base/text.h"
#include "core/analysis/analysis.h"
#include "core/binding/connector.h"
#include "core/optimizer/expand.h"
#include "core/optimizer/optimize.h"
#include "core/optimizer/split.h"
#include "core/placement/cut.h"
#include "core/placement/routes.h"
#include "core/plan_format/plan_format.h"
#include "core/planning/table_sink.h"
#include "model/plan_check.h"

namespace baton::planning {

namespace {

void collect(const sql::Query& query, MentionedNames& names);

void collect_host(const std::vector<sql::Setting>& settings, MentionedNames& names) {
    for (const sql::Setting& setting : settings) {
        const auto* literal = std::get_if<sql::Literal>(&setting.value);
        if (setting.key.back() != "HOST" || literal == nullptr) continue;
        if (const auto* host = std::get_if<std::string>(literal)) names.workers.insert(*host);
    }
}

void collect(const sql::Relation& relation, MentionedNames& names) {
    std::visit(Overload{
                   [&](const sql::NamedRelation& named) {
                       names.sources.emplace(join(named.parts, "."), relation.at);
                   },
                   [&](const sql::Subquery& sub) { collect(sub.query.front(), names); },
                   [&](const sql::InlineSource& source) { collect_host(source.settings, names); },
                   [&](const sql::Join& both) {
                       for (const sql::Relation& side : both.sides) collect(side, names);
                   },
               },
               relation.node);
}

void collect(const sql::Query& query, MentionedNames& names) {
    std::visit(Overload{
                   [&](const sql::Select& select) { collect(select.from, names); },
                   [&](const sql::Union& all) {
                       for (const sql::Query& branch : all.branches) collect(branch, names);
                   },
               },
               query.node);
}

}  // namespace

MentionedNames names_in(const sql::Query& query, const std::optional<sql::SinkTarget>& sink) {
    MentionedNames names;
    collect(query, names);
    if (!sink) return names;
    if (const auto* name = std::get_if<std::string>(&sink->node)) {
        names.sink = *name;
    } else if (const auto* made = std::get_if<sql::InlineSink>(&sink->node)) {
        collect_host(made->settings, names);
    }
    return names;
}

MentionedNames names_in(const sql::CreateQuery& query) {
    MentionedNames names = names_in(query.query, query.sink);
    for (const sql::Setting& setting : query.settings) {
        const auto* literal = std::get_if<sql::Literal>(&setting.value);
        if (setting.key.back() != kTableWorkerOption || literal == nullptr) continue;
        if (const auto* host = std::get_if<std::string>(literal)) names.workers.insert(*host);
    }
    return names;
}

namespace {

// Fills in the worker of inline sources and sinks that name none: the only one there is.
class Defaults {
public:
    explicit Defaults(const topology::Cluster& cluster) : cluster_(cluster) {}

    Result<Done> fill(PlanNode& node) {
        if (auto* scan = std::get_if<SourceScan>(&node.op)) {
            TRY(fill(scan->worker, "the inline source"));
        }
        if (auto* sink = std::get_if<SinkWrite>(&node.op)) {
            TRY(fill(sink->worker, "the inline sink"));
        }
        for (PlanNode& input : node.inputs) TRY(fill(input));
        return Done{};
    }

    [[nodiscard]] bool used() const { return used_; }

private:
    Result<Done> fill(std::string& worker, const std::string& what) {
        if (!worker.empty()) return Done{};
        used_ = true;
        std::vector<std::string> names;
        for (const auto& [name, ignored] : cluster_.workers) names.push_back(name);
        TRY_ASSIGN(only, binding::default_worker(names, what));
        CHECK(only);  // the embedded one, if there is no other
        worker = *only;
        return Done{};
    }

    const topology::Cluster& cluster_;
    bool used_ = false;
};

// What there is where nobody created a worker: the embedded one, which the catalog has from its
// first use on.
topology::Cluster embedded_alone(Revision revision) {
    const std::string name(kEmbeddedWorker);
    topology::Cluster cluster;
    cluster.workers[name] = {.name = name, .kind = WorkerKind::embedded};
    cluster.revision = revision;
    return cluster;
}

// The worker that can be reached from all of these, with the fewest steps in all.
Result<std::string> nearest_to(const std::set<std::string>& workers,
                               const topology::Topology& links) {
    std::map<std::string, std::uint64_t> steps;  // of all that have arrived
    std::map<std::string, std::size_t> arrivals;
    for (const std::string& worker : workers) {
        std::set<std::string> seen = {worker};
        std::vector<std::string> ring = {worker};
        for (std::uint64_t step = 0; !ring.empty(); ++step) {
            std::vector<std::string> next;
            for (const std::string& here : ring) {
                steps[here] += step;
                arrivals[here] += 1;
                for (const std::string& there : links.downstream_of(here)) {
                    if (seen.insert(there).second) next.push_back(there);
                }
            }
            ring = std::move(next);
        }
    }
    const std::string* best = nullptr;
    for (const auto& [worker, count] : arrivals) {
        if (count < workers.size()) continue;
        if (best == nullptr || steps[worker] < steps[*best]) best = &worker;
    }
    if (best != nullptr) return *best;
    return Error{.code = ErrorCode::placement,
                 .message =
                     "cannot place the query: no worker can be reached from all of its "
                     "sources",
                 .hint = "name a sink with INTO, or link the workers"};
}

void collect_workers(const PlanNode& node, std::set<std::string>& workers) {
    if (const auto* scan = std::get_if<SourceScan>(&node.op)) workers.insert(scan->worker);
    for (const PlanNode& input : node.inputs) collect_workers(input, workers);
}

Result<std::string> worker_nearest_to(const PlanNode& rows, const topology::Topology& links) {
    std::set<std::string> workers;
    collect_workers(rows, workers);
    return nearest_to(workers, links);
}

constexpr std::size_t kScansMax = 10'000;

std::size_t scans_of(const PlanNode& node, const std::map<std::string, std::size_t>& sources) {
    std::size_t count = 0;
    if (const auto* scan = std::get_if<LogicalScan>(&node.op)) {
        const auto found = sources.find(scan->source);
        count += found == sources.end() ? 1 : found->second;
    }
    for (const PlanNode& input : node.inputs) count += scans_of(input, sources);
    return count;
}

// Each place of a source in a query is all of its physical sources: a short text is a large plan.
Result<Done> check_scans(const PlanNode& root, const std::vector<PhysicalSource>& physical) {
    std::map<std::string, std::size_t> sources;
    for (const PhysicalSource& source : physical) sources[source.logical] += 1;
    if (scans_of(root, sources) <= kScansMax) return Done{};
    return Error{.code = ErrorCode::too_large,
                 .message = "cannot plan the query: it reads physical sources in more than " +
                            std::to_string(kScansMax) + " places",
                 .hint = "name a source with many physical ones less often"};
}

// Null: the rows go to a sink.
const sql::ToClient* client_of(const std::optional<sql::SinkTarget>& sink) {
    return sink ? std::get_if<sql::ToClient>(&sink->node) : nullptr;
}

// Where the rows end if no sink is named: with the client, or nowhere.
Result<PlanNode> with_made_up_sink(PlanNode rows, const sql::ToClient* client,
                                   const topology::Topology& links) {
    TRY_ASSIGN(worker, worker_nearest_to(rows, links));
    SinkWrite sink{.worker = worker, .type = "Void"};
    if (client != nullptr) {
        sink.type = kResultsSink;
        sink.sink.emplace(kResultsToken, client->token);
    }
    Schema schema = rows.schema;
    PlanNode root{.op = std::move(sink), .inputs = {}, .schema = std::move(schema)};
    root.inputs.push_back(std::move(rows));
    return root;
}

}  // namespace

Result<PlanSteps> plan_logically(const QueryToPlan& query, const PlanningView& view) {
    const std::optional<sql::SinkTarget> none;
    TRY_ASSIGN(logical,
               analysis::analyse(query.query, client_of(query.sink) != nullptr ? none : query.sink,
                                 {.logical_sources = view.logical_sources,
                                  .sink = view.sink ? &*view.sink : nullptr,
                                  .known_sources = view.known_sources,
                                  .known_sinks = view.known_sinks}));
    PlanSteps steps;
    for (const std::string& name : logical.sources) {
        steps.reads.push_back(
            {ReadKind::logical_source, name, view.logical_sources.at(name).revision});
    }
    if (const auto* sink = std::get_if<SinkWrite>(&logical.root.op);
        sink != nullptr && sink->name) {
        steps.reads.push_back({ReadKind::sink, *sink->name, view.sink->revision});
    }
    steps.optimized = optimizer::optimized(logical.root);
    steps.logical = std::move(logical.root);
    return steps;
}

Result<PlanSteps> plan_steps(const QueryToPlan& query, const PlanningView& view) {
    TRY_ASSIGN(settings, binding::bind_query(query.settings));
    TRY_ASSIGN(steps, plan_logically(query, view));
    const topology::Cluster alone = embedded_alone(view.cluster->revision);
    const topology::Cluster& cluster = view.cluster->workers.empty() ? alone : *view.cluster;
    TRY(check_scans(steps.optimized, view.physical_sources));
    TRY_ASSIGN(physical, optimizer::expanded(steps.optimized, {.logical = view.logical_sources,
                                                               .physical = view.physical_sources}));
    Defaults defaults(cluster);
    if (writes_table(physical)) {
        for (PlanNode& input : physical.inputs) TRY(defaults.fill(input));
        TRY_ASSIGN(host, table_worker(settings.options, cluster));
        if (!host) {
            TRY_ASSIGN(nearest, worker_nearest_to(physical, cluster.topology));
            host = std::move(nearest);
        }
        TRY(complete_table_sink(physical, *host, settings.options));
    }
    TRY(defaults.fill(physical));
    if (defaults.used()) steps.reads.push_back({ReadKind::cluster, "", cluster.revision});
    const sql::ToClient* client = client_of(query.sink);
    if (!query.sink || client != nullptr) {
        TRY_ASSIGN(root, with_made_up_sink(std::move(physical), client, cluster.topology));
        physical = std::move(root);
    }
    steps.physical = optimizer::with_split_aggregates(optimizer::optimized(std::move(physical)));
    const placement::PinnedPlaces places = placement::pinned_in(steps.physical);
    TRY_ASSIGN(routes, placement::Routes::to(places.sink, places.sources,
                                             {.cluster = cluster, .used = view.used}));
    steps.fragments = placement::cut(steps.physical, routes, settings.options);
    for (const FragmentPlan& fragment : steps.fragments) {
        TRY(check_leaves(fragment));
        const Worker& worker = cluster.workers.at(fragment.worker);
        steps.reads.push_back({ReadKind::worker, worker.name, worker.revision});
        steps.stages.push_back(routes.steps_from(fragment.worker));
    }
    std::sort(steps.reads.begin(), steps.reads.end());
    return steps;
}

namespace {

void collect_ids(const PlanNode& node, std::set<PhysicalSourceId>& ids) {
    const auto* scan = std::get_if<SourceScan>(&node.op);
    if (scan != nullptr && scan->id) ids.insert(*scan->id);
    for (const PlanNode& input : node.inputs) collect_ids(input, ids);
}

}  // namespace

Result<QueryPlan> plan(const sql::CreateQuery& query, const PlanningView& view) {
    const std::optional<sql::SinkTarget> sink = query.sink;
    TRY_ASSIGN(steps,
               plan_steps({.query = query.query, .sink = sink, .settings = query.settings}, view));
    TRY(check_table_has_place(steps.physical));
    QueryPlan made;
    for (std::size_t i = 0; i < steps.fragments.size(); ++i) {
        made.fragments.push_back({.worker = steps.fragments[i].worker,
                                  .slots = 1,
                                  .stage = steps.stages[i],
                                  .plan = plan_format::write_plan(steps.fragments[i])});
    }
    std::set<PhysicalSourceId> ids;
    collect_ids(steps.physical, ids);
    made.sources.assign(ids.begin(), ids.end());
    if (view.sink && std::holds_alternative<std::string>(query.sink.node)) {
        made.sinks.push_back(view.sink->name);
    }
    made.reads = std::move(steps.reads);
    return made;
}

}  // namespace baton::planning
