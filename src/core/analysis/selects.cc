// SELECT: filters, projections, aggregations.
#include <algorithm>
#include <set>

#include "base/text.h"
#include "core/analysis/query_analyser.h"
#include "sql/printer.h"

namespace baton::analysis {

namespace {

// What a column is called that was given no name.
std::string written_name(const sql::Expr& expr) {
    if (const auto* column = std::get_if<sql::ColumnRef>(&expr.node)) return column->parts.back();
    return sql::print(expr);
}

bool is_everything(const sql::Select& select) {
    if (select.items.size() != 1) return false;
    const auto* star = std::get_if<sql::Star>(&select.items.front().expr.node);
    return star != nullptr && !star->qualifier;
}

Result<Done> check_names(const Scope& scope, const std::vector<Position>& at) {
    std::set<std::pair<std::optional<std::string>, std::string>> seen;
    for (std::size_t i = 0; i < scope.columns.size(); ++i) {
        const ScopeColumn& column = scope.columns[i];
        if (seen.emplace(column.relation, column.column.name).second) continue;
        return Error{.code = ErrorCode::schema,
                     .message = "column " + in_quotes(full_name(column)) + " is selected twice",
                     .at = at[i],
                     .hint = "give one of them another name with AS"};
    }
    return Done{};
}

Error needs_window(std::string_view what, Position at) {
    return Error{.code = ErrorCode::syntax,
                 .message = std::string(what) + " needs a window",
                 .at = at,
                 .hint = "add a window: WINDOW TUMBLING(ts, SIZE 10 SEC)"};
}

// Which column of the scope an item is, as it is.
std::optional<std::string> relation_of(const Scope& scope, const sql::SelectItem& item,
                                       const Expression& value) {
    const auto* column = std::get_if<ColumnIndex>(&value.node);
    const bool as_it_is = column != nullptr && column->index < scope.columns.size() &&
                          std::holds_alternative<sql::ColumnRef>(item.expr.node) && !item.alias;
    return as_it_is ? scope.columns[column->index].relation : std::nullopt;
}

Column column_of(std::string name, const Expression& value) {
    return {.name = std::move(name), .type = value.type, .nullable = value.nullable};
}

}  // namespace

Result<Rows> QueryAnalyser::select(const sql::Select& select, Position at) {
    TRY_ASSIGN(rows, relation(select.from));
    if (select.where) {
        TRY_ASSIGN(filtered, where(std::move(rows), *select.where));
        rows = std::move(filtered);
    }
    if (!select.window) {
        if (!select.group_by.empty()) return needs_window("GROUP BY", select.group_by.front().at);
        if (select.having) return needs_window("HAVING", select.having->at);
    }
    auto result =
        select.window ? aggregation(std::move(rows), select) : plain(std::move(rows), select);
    if (!result) return result;
    forget_window(result->scope);
    TRY(budget_.spend(result->scope.columns.size(), at));
    return result;
}

Result<Rows> QueryAnalyser::where(Rows rows, const sql::Expr& condition) {
    TRY_ASSIGN(predicate,
               ExpressionBinder(rows.scope, "WHERE", budget_).bind_predicate(condition, "WHERE"));
    Schema schema = rows.plan.schema;
    rows.plan =
        above(std::move(rows.plan), Filter{.predicate = std::move(predicate)}, std::move(schema));
    return rows;
}

Result<Rows> QueryAnalyser::plain(Rows rows, const sql::Select& select) {
    if (is_everything(select)) {
        const std::vector<Position> at(rows.scope.columns.size(), select.items.front().expr.at);
        TRY(check_names(rows.scope, at));
        return rows;
    }
    Selected selected;
    for (const sql::SelectItem& item : select.items) TRY(add_item(selected, item, rows.scope));
    TRY(check_names(selected.scope, selected.at));
    return Rows{
        .plan = above(std::move(rows.plan), Project{.expressions = std::move(selected.expressions)},
                      schema_of(selected.scope)),
        .scope = std::move(selected.scope)};
}

Result<Done> QueryAnalyser::add_item(Selected& selected, const sql::SelectItem& item,
                                     const Scope& scope) {
    const Position at = item.expr.at;
    if (const auto* star = std::get_if<sql::Star>(&item.expr.node)) {
        TRY_ASSIGN(columns, find_star(scope, *star, at));
        TRY(budget_.spend(columns.size(), at));
        for (const std::size_t index : columns) {
            const ScopeColumn& column = scope.columns[index];
            selected.expressions.push_back({.node = ColumnIndex{index},
                                            .type = column.column.type,
                                            .nullable = column.column.nullable});
            selected.scope.columns.push_back(column);
            selected.at.push_back(at);
        }
        return Done{};
    }
    TRY_ASSIGN(value, ExpressionBinder(scope, kWithoutWindow, budget_).bind(item.expr));
    selected.scope.columns.push_back(
        {.relation = relation_of(scope, item, value),
         .column = column_of(item.alias.value_or(written_name(item.expr)), value)});
    selected.expressions.push_back(std::move(value));
    selected.at.push_back(at);
    return Done{};
}

Result<Rows> QueryAnalyser::aggregation(Rows rows, const sql::Select& select) {
    const sql::Window& window = *select.window;
    if (window.timestamps.size() > 1) {
        return Error{.code = ErrorCode::arity,
                     .message = "the window of an aggregation has one timestamp, but 2 are given",
                     .at = window.at,
                     .hint = "two are for a join, one per side"};
    }
    if (select.group_by.size() > kGroupingMax) {
        return Error{.code = ErrorCode::too_large,
                     .message = "GROUP BY has more than " + std::to_string(kGroupingMax) + " keys",
                     .at = select.group_by[kGroupingMax].at,
                     .hint = "split the query"};
    }
    TRY_ASSIGN(spec, window_spec(window));
    WindowAggregate node{.window = spec};
    if (!window.timestamps.empty()) {
        TRY_ASSIGN(time, time_column(rows.scope, window.timestamps.front(), window.at));
        node.time = time;
    }
    Scope grouped;
    grouped.columns = window_columns();
    for (const sql::Expr& expr : select.group_by) {
        TRY_ASSIGN(key, ExpressionBinder(rows.scope, "GROUP BY", budget_).bind(expr));
        grouped.columns.push_back({.column = column_of(written_name(expr), key)});
        node.keys.push_back(std::move(key));
    }

    Grouping grouping(rows.scope, node.keys);
    Selected selected;
    for (const sql::SelectItem& item : select.items) {
        TRY(add_grouped_item(selected, item, grouping));
    }
    TRY(check_names(selected.scope, selected.at));
    std::optional<Expression> having;
    if (select.having) {
        std::vector<NamedItem> items;
        for (std::size_t i = 0; i < selected.expressions.size(); ++i) {
            items.push_back(
                {.name = selected.scope.columns[i].column.name, .value = selected.expressions[i]});
        }
        TRY_ASSIGN(
            condition,
            ExpressionBinder(grouping, &items, budget_).bind_predicate(*select.having, "HAVING"));
        TRY_ASSIGN(rewritten, grouping.after_grouping(condition));
        having = std::move(rewritten);
    }
    for (Expression& expression : selected.expressions) {
        TRY_ASSIGN(rewritten, grouping.after_grouping(expression));
        expression = std::move(rewritten);
    }

    node.aggregates = grouping.aggregates();
    for (std::size_t i = 0; i < node.aggregates.size(); ++i) {
        grouped.columns.push_back({.column = {.name = grouping.names()[i],
                                              .type = node.aggregates[i].type,
                                              .nullable = node.aggregates[i].nullable}});
    }
    const Schema schema = schema_of(grouped);
    PlanNode plan = above(std::move(rows.plan), std::move(node), schema);
    if (having) plan = above(std::move(plan), Filter{.predicate = *std::move(having)}, schema);
    return Rows{
        .plan = above(std::move(plan), Project{.expressions = std::move(selected.expressions)},
                      schema_of(selected.scope)),
        .scope = std::move(selected.scope)};
}

Result<Done> QueryAnalyser::add_grouped_item(Selected& selected, const sql::SelectItem& item,
                                             Grouping& grouping) {
    const Position at = item.expr.at;
    if (std::holds_alternative<sql::Star>(item.expr.node)) {
        return Error{.code = ErrorCode::not_supported,
                     .message =
                         "* together with a window is not supported: a group has no "
                         "single row",
                     .at = at,
                     .hint = "select START, END, the columns of GROUP BY and aggregates"};
    }
    TRY_ASSIGN(value, ExpressionBinder(grouping, nullptr, budget_).bind(item.expr));
    std::string name = written_name(item.expr);
    const auto* call = std::get_if<sql::Call>(&item.expr.node);
    if (call != nullptr && is_aggregate(call->function)) {
        const std::size_t column = std::get<ColumnIndex>(value.node).index;
        name = grouping.names()[column - grouping.before().columns.size()];
    }
    selected.scope.columns.push_back({.relation = relation_of(grouping.before(), item, value),
                                      .column = column_of(item.alias.value_or(name), value)});
    selected.expressions.push_back(std::move(value));
    selected.at.push_back(at);
    return Done{};
}

}  // namespace baton::analysis
