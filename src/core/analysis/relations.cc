// What stands after FROM, and UNION.
#include "base/overload.h"
#include "base/text.h"
#include "core/analysis/query_analyser.h"
#include "core/analysis/types.h"
#include "core/binding/connector.h"
#include "model/plan_check.h"

namespace baton::analysis {

namespace {

Scope scope_of(const Schema& schema, const std::optional<std::string>& relation) {
    Scope scope;
    for (const Column& column : schema.columns) {
        scope.columns.push_back({.relation = relation, .column = column});
    }
    return scope;
}

// Under another name, if there is one.
void rename(Scope& scope, const std::optional<std::string>& alias) {
    if (!alias) return;
    for (ScopeColumn& column : scope.columns) column.relation = alias;
}

JoinSides sides_of(sql::JoinKind kind) {
    switch (kind) {
        case sql::JoinKind::inner:
            return JoinSides::inner;
        case sql::JoinKind::left:
            return JoinSides::left;
        case sql::JoinKind::right:
            return JoinSides::right;
        case sql::JoinKind::full:
            return JoinSides::full;
    }
    return JoinSides::inner;
}

void append(Scope& scope, const Scope& other, bool made_nullable) {
    for (ScopeColumn column : other.columns) {
        column.column.nullable = column.column.nullable || made_nullable;
        scope.columns.push_back(std::move(column));
    }
}

struct JoinTimes {
    std::optional<std::size_t> left;
    std::optional<std::size_t> right;
};

Result<JoinTimes> join_times(const sql::Window& window, const Scope& left, const Scope& right) {
    if (window.timestamps.empty()) return JoinTimes{};
    const auto on = [&](const Scope& scope, const sql::ColumnRef& name,
                        std::string_view side) -> Result<std::size_t> {
        auto found = time_column(scope, name, window.at);
        if (found || found.error().code != ErrorCode::unknown_field) return found;
        Error error = found.error();
        error.message += " on the " + std::string(side) + " side of the join";
        const bool missing = error.related.empty();
        if (missing && window.timestamps.size() == 1) {
            error.hint = "name one timestamp per side: the left one, then the right one";
        }
        return error;
    };
    TRY_ASSIGN(left_time, on(left, window.timestamps.front(), "left"));
    TRY_ASSIGN(right_time, on(right, window.timestamps.back(), "right"));
    return JoinTimes{.left = left_time, .right = right_time};
}

std::string typed_name(const Column& column) {
    return in_quotes(column.name) + " of type " + std::string(to_string(column.type));
}

Error unlike(const Schema& first, const Schema& other, std::size_t branch, Position at) {
    const std::string which = "branch " + std::to_string(branch + 1) + " of the UNION ";
    if (first.columns.size() != other.columns.size()) {
        return Error{.code = ErrorCode::schema,
                     .message = which + "has " + std::to_string(other.columns.size()) +
                                " columns, the first has " + std::to_string(first.columns.size()),
                     .at = at,
                     .hint = "select the same columns in every branch"};
    }
    std::size_t i = 0;
    while (first.columns[i].type == other.columns[i].type) i += 1;
    return Error{.code = ErrorCode::schema,
                 .message = "column " + std::to_string(i + 1) + " of " + which + "is " +
                            typed_name(other.columns[i]) + ", that of the first is " +
                            typed_name(first.columns[i]),
                 .at = at,
                 .hint = "CAST(x AS T) makes them alike"};
}

bool alike(const Schema& first, const Schema& other) {
    if (first.columns.size() != other.columns.size()) return false;
    for (std::size_t i = 0; i < first.columns.size(); ++i) {
        if (first.columns[i].type != other.columns[i].type) return false;
    }
    return true;
}

}  // namespace

PlanNode above(PlanNode input, Operator op, Schema schema) {
    PlanNode node{.op = std::move(op), .schema = std::move(schema)};
    node.inputs.push_back(std::move(input));
    return node;
}

Result<WindowSpec> window_spec(const sql::Window& window) {
    const auto milliseconds = [](const sql::TimeSpan& span) -> std::uint64_t {
        switch (span.unit) {
            case sql::TimeUnit::millisecond:
                return span.count;
            case sql::TimeUnit::second:
                return span.count * 1000;
            case sql::TimeUnit::minute:
                return span.count * 60'000;
            case sql::TimeUnit::hour:
                return span.count * 3'600'000;
            case sql::TimeUnit::day:
                return span.count * 86'400'000;
        }
        return span.count;
    };
    const std::uint64_t size = milliseconds(window.size);
    const std::uint64_t advance = window.advance ? milliseconds(*window.advance) : size;
    if (size / advance > kWindowsPerRowMost) {
        return Error{.code = ErrorCode::too_large,
                     .message = "each row would belong to " + std::to_string(size / advance) +
                                " windows, more than " + std::to_string(kWindowsPerRowMost),
                     .at = window.at,
                     .hint = "choose a shorter SIZE or a longer ADVANCE"};
    }
    return WindowSpec{.size = size, .advance = advance};
}

Result<std::size_t> time_column(const Scope& scope, const sql::ColumnRef& name, Position at) {
    TRY_ASSIGN(index, find_column(scope, name, at));
    const Column& column = scope.columns[index].column;
    if (is_integer(column.type)) return index;
    return Error{
        .code = ErrorCode::type_mismatch,
        .message = "the timestamp of a window is a whole number of ms, but " + typed_name(column),
        .at = at,
        .hint = "convert it in a subquery, as with CASTTOUNIXTS(x)"};
}

Result<Rows> QueryAnalyser::query(const sql::Query& query) {
    if (const auto* only = std::get_if<sql::Select>(&query.node)) return select(*only, query.at);
    return all_of(std::get<sql::Union>(query.node));
}

Result<Rows> QueryAnalyser::relation(const sql::Relation& relation) {
    return std::visit(
        Overload{
            [&](const sql::NamedRelation& node) { return named(node, relation.at); },
            [&](const sql::Subquery& node) { return subquery(node); },
            [&](const sql::InlineSource& node) { return inline_source(node, relation.at); },
            [&](const sql::Join& node) { return join(node); },
        },
        relation.node);
}

Result<Rows> QueryAnalyser::named(const sql::NamedRelation& named, Position at) {
    const std::string name = baton::join(named.parts, ".");
    const auto found = view_.logical_sources.find(name);
    if (found == view_.logical_sources.end()) {
        const bool view = named.parts.size() > 1 && named.parts.front() == "BATON";
        return Error{.code = ErrorCode::unknown_source,
                     .message = "unknown source " + in_quotes(name),
                     .at = at,
                     .hint = view ? "the views of BATON are asked without INTO"
                                  : did_you_mean(name, view_.known_sources)};
    }
    sources_.insert(name);
    const Schema& schema = found->second.schema;
    TRY(budget_.spend(schema.columns.size(), at));
    return Rows{.plan = {.op = LogicalScan{.source = name}, .schema = schema},
                .scope = scope_of(schema, named.alias ? named.alias : name)};
}

Result<Rows> QueryAnalyser::subquery(const sql::Subquery& sub) {
    TRY_ASSIGN(rows, query(sub.query.front()));
    rename(rows.scope, sub.alias);
    return rows;
}

Result<Rows> QueryAnalyser::inline_source(const sql::InlineSource& source, Position at) {
    auto connector = binding::bind_source(source.type, source.settings);
    if (!connector) {
        Error error = connector.error();
        if (!error.at) error.at = at;
        return error;
    }
    if (!connector->schema) {
        return Error{.code = ErrorCode::missing_configuration,
                     .message = "the inline source " + source.type + " has no schema",
                     .at = at,
                     .hint = "add SCHEMA(column TYPE, ..) AS SOURCE.SCHEMA"};
    }
    SourceScan scan{.worker = connector->host.value_or(""),
                    .type = connector->type,
                    .source = connector->options,
                    .format = connector->format,
                    .parsed = *connector->schema};
    for (std::size_t i = 0; i < scan.parsed.columns.size(); ++i) scan.wanted.push_back(i);
    TRY(budget_.spend(scan.parsed.columns.size(), at));
    Rows rows{.scope = scope_of(scan.parsed, source.alias)};
    rows.plan.schema = scan.parsed;
    rows.plan.op = std::move(scan);
    return rows;
}

Result<Rows> QueryAnalyser::join(const sql::Join& join) {
    TRY_ASSIGN(left, relation(join.sides[0]));
    TRY_ASSIGN(right, relation(join.sides[1]));
    TRY_ASSIGN(times, join_times(join.window, left.scope, right.scope));
    Scope both = left.scope;
    append(both, right.scope, false);
    TRY_ASSIGN(predicate, ExpressionBinder(both, "ON", budget_).bind_predicate(join.on, "ON"));
    TRY(budget_.spend(both.columns.size(), join.window.at));

    const JoinSides sides = sides_of(join.kind);
    Rows rows;
    append(rows.scope, left.scope, sides == JoinSides::right || sides == JoinSides::full);
    append(rows.scope, right.scope, sides == JoinSides::left || sides == JoinSides::full);
    forget_window(rows.scope);
    const std::vector<ScopeColumn> bounds = window_columns();
    rows.scope.columns.insert(rows.scope.columns.begin(), bounds.begin(), bounds.end());
    TRY_ASSIGN(window, window_spec(join.window));
    rows.plan.op = WindowJoin{.sides = sides,
                              .predicate = std::move(predicate),
                              .window = window,
                              .left_time = times.left,
                              .right_time = times.right};
    rows.plan.schema = schema_of(rows.scope);
    rows.plan.inputs.push_back(std::move(left.plan));
    rows.plan.inputs.push_back(std::move(right.plan));
    return rows;
}

Result<Rows> QueryAnalyser::all_of(const sql::Union& all) {
    Rows rows{.plan = {.op = UnionAll{}}};
    for (std::size_t i = 0; i < all.branches.size(); ++i) {
        TRY_ASSIGN(branch, query(all.branches[i]));
        if (i == 0) rows.scope = branch.scope;
        const Schema first = schema_of(rows.scope);
        if (!alike(first, branch.plan.schema)) {
            return unlike(first, branch.plan.schema, i, all.branches[i].at);
        }
        for (std::size_t c = 0; c < rows.scope.columns.size(); ++c) {
            ScopeColumn& column = rows.scope.columns[c];
            const ScopeColumn& other = branch.scope.columns[c];
            column.column.nullable = column.column.nullable || other.column.nullable;
            if (column.relation != other.relation) column.relation.reset();
        }
        rows.plan.inputs.push_back(std::move(branch.plan));
    }
    rows.plan.schema = schema_of(rows.scope);
    return rows;
}

}  // namespace baton::analysis
