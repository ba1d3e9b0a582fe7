#include "core/planning/table_sink.h"

#include <algorithm>
#include <set>
#include <utility>

#include "base/check.h"
#include "base/text.h"
#include "model/table_sink.h"

namespace baton::planning {

namespace {

// The types of the sources, by whether a new run reads the same rows from the beginning.
struct SourceTypes {
    std::set<std::string> again;
    std::set<std::string> once;
};

void collect_types(const PlanNode& node, SourceTypes& types) {
    if (const auto* scan = std::get_if<SourceScan>(&node.op)) {
        const bool again = scan->type == "File" || scan->type == "Generator";
        (again ? types.again : types.once).insert(scan->type);
    }
    for (const PlanNode& input : node.inputs) collect_types(input, types);
}

std::string listed(const std::set<std::string>& names) {
    return enumerate(std::vector<std::string>(names.begin(), names.end()));
}

void copy_option(const Config& settings, const std::string& from, Config& into,
                 const std::string& key) {
    const auto found = settings.find(from);
    if (found != settings.end()) into.emplace(key, found->second);
}

}  // namespace

bool writes_table(const PlanNode& root) {
    const auto* sink = std::get_if<SinkWrite>(&root.op);
    return sink != nullptr && sink->type == kTableSink;
}

Result<std::optional<std::string>> table_worker(const Config& settings,
                                                const topology::Cluster& cluster) {
    const auto found = settings.find(kTableWorkerOption);
    if (found == settings.end()) return std::optional<std::string>();
    const std::string& name = std::get<std::string>(found->second);
    if (cluster.workers.contains(name)) return std::optional<std::string>(name);
    std::vector<std::string> known;
    for (const auto& [worker, ignored] : cluster.workers) known.push_back(worker);
    return Error{.code = ErrorCode::unknown_worker,
                 .message = "unknown worker " + in_quotes(name) + " in QUERY.TABLE_WORKER",
                 .hint = did_you_mean(name, known)};
}

Result<Done> complete_table_sink(PlanNode& root, const std::string& worker,
                                 const Config& settings) {
    CHECK(writes_table(root));
    auto& sink = std::get<SinkWrite>(root.op);
    SourceTypes types;
    collect_types(root, types);
    if (!types.again.empty() && !types.once.empty()) {
        return Error{.code = ErrorCode::not_supported,
                     .message = "cannot write into table " + in_quotes(sink.name.value_or("")) +
                                " each row once: after a restart sources of type " +
                                listed(types.again) + " begin anew, and those of type " +
                                listed(types.once) + " do not",
                     .hint = "make a query of its own for each of them, into the same table"};
    }
    sink.worker = worker;
    sink.sink.emplace(kTableReplaces, types.once.empty());
    copy_option(settings, "TABLE_ROWS", sink.sink, kTableRows);
    copy_option(settings, "TABLE_PERIOD_MS", sink.sink, kTablePeriod);
    copy_option(settings, "TABLE_PATIENCE_MS", sink.sink, kTablePatience);
    return Done{};
}

Planner planner_into_tables(std::string store, std::function<std::string()> stamp) {
    return [store = std::move(store), stamp = std::move(stamp)](
               const sql::CreateQuery& query, const PlanningView& view) -> Result<QueryPlan> {
        if (!view.sink || view.sink->type != kTableSink) return plan(query, view);
        PlanningView known = view;
        Config& options = known.sink->sink;
        options.emplace(kTableStamp, stamp());
        if (options.contains(kTableManaged) && !store.empty()) {
            auto& location = std::get<std::string>(options.at(kTableLocation));
            location = url_below(store, location);
            options.erase(kTableManaged);
        }
        return plan(query, known);
    };
}

Result<Done> check_table_has_place(const PlanNode& root) {
    if (!writes_table(root)) return Done{};
    const auto& sink = std::get<SinkWrite>(root.op);
    if (!sink.sink.contains(kTableManaged) && sink.sink.contains(kTableStamp)) return Done{};
    return Error{.code = ErrorCode::missing_configuration,
                 .message = "cannot write into table " + in_quotes(sink.name.value_or("")) +
                            ": this coordinator has no store for tables",
                 .hint =
                     "set tables.store to a URL that coordinators and workers share, or give the "
                     "table a TABLE.LOCATION"};
}

std::string url_below(std::string url, const std::string& folder) {
    const std::size_t parameters = url.starts_with("s3://") ? url.find('?') : std::string::npos;
    std::string rest = parameters == std::string::npos ? "" : url.substr(parameters);
    url.resize(std::min(url.size(), parameters));
    while (url.ends_with('/')) url.pop_back();
    return url + "/" + folder + rest;
}

}  // namespace baton::planning
