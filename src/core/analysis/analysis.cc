#include "core/analysis/analysis.h"

#include <set>

#include "base/text.h"
#include "core/analysis/query_analyser.h"
#include "core/binding/connector.h"

namespace baton {

namespace {

std::string described(const Column& column) {
    return quoted(column.name) + " " + std::string(to_string(column.type)) +
           (column.nullable ? "" : " NOT NULL");
}

std::string described(const Schema& schema) {
    std::vector<std::string> names;
    for (const Column& column : schema.columns) names.push_back(column.name);
    return std::to_string(schema.columns.size()) +
           (names.size() == 1 ? " column (" : " columns (") + enumerate(names) + ")";
}

std::string how_to_fit(const Column& given, const Column& wanted) {
    if (!equal_ignoring_case(given.name, wanted.name)) {
        return "name it with AS, or select the columns in the order of the sink";
    }
    if (given.type != wanted.type) {
        return "CAST(x AS " + std::string(to_string(wanted.type)) + ") converts";
    }
    return std::string("declare the column of the sink ") + (given.nullable ? "without" : "with") +
           " NOT NULL";
}

// Whether what the query gives is what the sink takes.
Result<Done> check_fit(const Schema& given, const Schema& wanted, const std::string& sink,
                       Position at) {
    if (given.columns.size() != wanted.columns.size()) {
        return Error{.code = ErrorCode::schema,
                     .message = "the query gives " + described(given) + ", but " + sink +
                                " takes " + described(wanted),
                     .at = at};
    }
    for (std::size_t i = 0; i < given.columns.size(); ++i) {
        const Column& one = given.columns[i];
        const Column& other = wanted.columns[i];
        const bool same = equal_ignoring_case(one.name, other.name) && one.type == other.type &&
                          one.nullable == other.nullable;
        if (same) continue;
        return Error{.code = ErrorCode::schema,
                     .message = "column " + std::to_string(i + 1) + " of the query is " +
                                described(one) + ", but " + sink + " takes " + described(other),
                     .at = at,
                     .hint = how_to_fit(one, other)};
    }
    return Done{};
}

Result<Done> check_names(const Schema& schema, Position at) {
    std::set<std::string> seen;
    for (const Column& column : schema.columns) {
        if (seen.insert(column.name).second) continue;
        return Error{.code = ErrorCode::schema,
                     .message = "the query gives two columns named " + quoted(column.name),
                     .at = at,
                     .hint = "give one of them another name with AS"};
    }
    return Done{};
}

Result<SinkWrite> named_sink(const std::string& name, Position at, const Schema& given,
                             const AnalysisView& view) {
    if (view.sink == nullptr) {
        return Error{.code = ErrorCode::unknown_sink,
                     .message = "unknown sink " + quoted(name),
                     .at = at,
                     .hint = did_you_mean(name, view.known_sinks)};
    }
    const Sink& sink = *view.sink;
    TRY(check_fit(given, sink.schema, "sink " + quoted(name), at));
    return SinkWrite{.name = sink.name,
                     .worker = sink.worker,
                     .type = sink.type,
                     .sink = sink.sink,
                     .format = sink.format};
}

Result<SinkWrite> inline_sink(const sql::InlineSink& sink, Position at, const Schema& given) {
    auto connector = bind_sink(sink.type, sink.settings);
    if (!connector) {
        Error error = connector.error();
        if (!error.at) error.at = at;
        return error;
    }
    if (connector->schema) TRY(check_fit(given, *connector->schema, "the inline sink", at));
    return SinkWrite{.worker = connector->host.value_or(""),
                     .type = connector->type,
                     .sink = connector->options,
                     .format = connector->format};
}

}  // namespace

Result<LogicalPlan> analyse(const sql::Query& query, const std::optional<sql::SinkTarget>& sink,
                            const AnalysisView& view) {
    analysis::QueryAnalyser analyser(view);
    TRY_ASSIGN(rows, analyser.query(query));
    LogicalPlan plan{.schema = rows.plan.schema};
    plan.sources.assign(analyser.sources().begin(), analyser.sources().end());
    TRY(check_names(plan.schema, query.at));
    if (!sink) {
        plan.root = std::move(rows.plan);
        return plan;
    }
    const auto* name = std::get_if<std::string>(&sink->node);
    auto write = name != nullptr
                     ? named_sink(*name, sink->at, plan.schema, view)
                     : inline_sink(std::get<sql::InlineSink>(sink->node), sink->at, plan.schema);
    if (!write) return write.error();
    plan.root = analysis::above(std::move(rows.plan), *std::move(write), plan.schema);
    return plan;
}

}  // namespace baton
