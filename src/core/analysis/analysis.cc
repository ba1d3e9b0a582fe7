#include "core/analysis/analysis.h"

#include <set>

#include "base/text.h"
#include "core/analysis/query_analyser.h"
#include "core/analysis/table_columns.h"
#include "core/binding/connector.h"
#include "model/table_sink.h"

namespace baton::analysis {

namespace {

std::string described(const Column& column) {
    return in_quotes(column.name) + " " + std::string(to_string(column.type)) +
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

// Whether a sink that calls its column so means this one: by its name, or by RELATION.NAME. What
// belongs to no relation, such as START, may be given to any.
bool is_called(const ScopeColumn& column, std::string_view name) {
    const std::string& own = column.column.name;
    if (equal_ignoring_case(own, name)) return true;
    if (name.size() < own.size() + 2) return false;
    const std::size_t dot = name.size() - own.size() - 1;
    if (name[dot] != '.' || !equal_ignoring_case(own, name.substr(dot + 1))) return false;
    return !column.relation || equal_ignoring_case(*column.relation, name.substr(0, dot));
}

// What the sink gets: the columns of the query, where it names RELATION.NAME by that name. Fails
// with schema unless this is what it takes.
Result<Schema> fitted(const Scope& scope, const Schema& wanted, const std::string& sink,
                      Position at) {
    Schema given = analysis::schema_of(scope);
    if (given.columns.size() != wanted.columns.size()) {
        return Error{.code = ErrorCode::schema,
                     .message = "the query gives " + described(given) + ", but " + sink +
                                " takes " + described(wanted),
                     .at = at};
    }
    for (std::size_t i = 0; i < given.columns.size(); ++i) {
        Column& one = given.columns[i];
        const Column& other = wanted.columns[i];
        const bool called = is_called(scope.columns[i], other.name);
        if (called && one.type == other.type && one.nullable == other.nullable) {
            if (!equal_ignoring_case(one.name, other.name)) one.name = other.name;
            continue;
        }
        return Error{.code = ErrorCode::schema,
                     .message = "column " + std::to_string(i + 1) + " of the query is " +
                                described(one) + ", but " + sink + " takes " + described(other),
                     .at = at,
                     .hint = how_to_fit(one, other)};
    }
    return given;
}

Result<Done> check_names(const Schema& schema, Position at) {
    std::set<std::string> seen;
    for (const Column& column : schema.columns) {
        if (seen.insert(column.name).second) continue;
        return Error{.code = ErrorCode::schema,
                     .message = "the query gives two columns named " + in_quotes(column.name),
                     .at = at,
                     .hint = "give one of them another name with AS"};
    }
    return Done{};
}

// A sink and the names that its columns have there.
struct Write {
    SinkWrite sink;
    Schema schema;
};

Result<Write> named_sink(const std::string& name, Position at, const Scope& scope,
                         const AnalysisView& view) {
    if (view.sink == nullptr) {
        return Error{.code = ErrorCode::unknown_sink,
                     .message = "unknown sink " + in_quotes(name),
                     .at = at,
                     .hint = did_you_mean(name, view.known_sinks)};
    }
    const Sink& sink = *view.sink;
    if (sink.type == kTableSink) {
        TRY_ASSIGN(into, columns_for(sink, analysis::schema_of(scope), at));
        SinkWrite write{.name = sink.name, .worker = {}, .type = sink.type, .sink = sink.sink};
        write.sink.erase(kTableColumns);
        write.sink.erase(kTableNullable);
        return Write{.sink = std::move(write), .schema = std::move(into)};
    }
    TRY_ASSIGN(schema, fitted(scope, sink.schema, "sink " + in_quotes(name), at));
    return Write{.sink = {.name = sink.name,
                          .worker = sink.worker,
                          .type = sink.type,
                          .sink = sink.sink,
                          .format = sink.format},
                 .schema = std::move(schema)};
}

Result<Write> inline_sink(const sql::InlineSink& sink, Position at, const Scope& scope) {
    auto connector = binding::bind_sink(sink.type, sink.settings);
    if (!connector) {
        Error error = connector.error();
        if (!error.at) error.at = at;
        return error;
    }
    Write write{.sink = {.worker = connector->host.value_or(""),
                         .type = connector->type,
                         .sink = connector->options,
                         .format = connector->format},
                .schema = analysis::schema_of(scope)};
    if (!connector->schema) return write;
    TRY_ASSIGN(schema, fitted(scope, *connector->schema, "the inline sink", at));
    write.schema = std::move(schema);
    return write;
}

}  // namespace

Result<LogicalPlan> analyse(const sql::Query& query, const std::optional<sql::SinkTarget>& sink,
                            const AnalysisView& view) {
    analysis::QueryAnalyser analyser(view);
    TRY_ASSIGN(rows, analyser.query(query));
    LogicalPlan plan{.schema = rows.plan.schema};
    plan.sources.assign(analyser.sources().begin(), analyser.sources().end());
    if (!sink) {
        TRY(check_names(plan.schema, query.at));
        plan.root = std::move(rows.plan);
        return plan;
    }
    const auto* name = std::get_if<std::string>(&sink->node);
    auto write = name != nullptr
                     ? named_sink(*name, sink->at, rows.scope, view)
                     : inline_sink(std::get<sql::InlineSink>(sink->node), sink->at, rows.scope);
    if (!write) return write.error();
    TRY(check_names(write->schema, query.at));
    plan.schema = std::move(write->schema);
    plan.root = analysis::above(std::move(rows.plan), std::move(write->sink), plan.schema);
    return plan;
}

}  // namespace baton::analysis
