#include "core/analysis/expressions.h"

#include <algorithm>

#include "base/overload.h"
#include "base/text.h"
#include "core/analysis/functions.h"
#include "core/analysis/types.h"

namespace baton::analysis {

namespace {

Function function_of(sql::BinaryOp op) {
    switch (op) {
        case sql::BinaryOp::add:
            return Function::add;
        case sql::BinaryOp::subtract:
            return Function::subtract;
        case sql::BinaryOp::multiply:
            return Function::multiply;
        case sql::BinaryOp::divide:
            return Function::divide;
        case sql::BinaryOp::modulo:
            return Function::modulo;
        case sql::BinaryOp::eq:
            return Function::equal;
        case sql::BinaryOp::ne:
            return Function::not_equal;
        case sql::BinaryOp::lt:
            return Function::less;
        case sql::BinaryOp::le:
            return Function::less_equal;
        case sql::BinaryOp::gt:
            return Function::greater;
        case sql::BinaryOp::ge:
            return Function::greater_equal;
    }
    return Function::add;
}

bool is_arithmetic(Function function) {
    return function <= Function::modulo;
}

}  // namespace

Result<Expression> ExpressionBinder::bind(const sql::Expr& expr) {
    TRY_ASSIGN(bound, operand(expr));
    return typed(std::move(bound));
}

Result<Expression> ExpressionBinder::bind_predicate(const sql::Expr& expr,
                                                    std::string_view clause) {
    TRY_ASSIGN(bound, operand(expr));
    return needed(std::move(bound), DataType::boolean, clause);
}

Result<Operand> ExpressionBinder::operand(const sql::Expr& expr) {
    const auto* literal = std::get_if<sql::Literal>(&expr.node);
    if (literal != nullptr && std::holds_alternative<sql::Null>(*literal)) {
        return Operand{.untyped = true, .written = &expr};
    }
    auto bound = std::visit(
        Overload{
            [](const sql::Literal& node) -> Result<Expression> { return bare_literal(node); },
            [&](const sql::TypedLiteral& node) { return typed_literal(node, expr.at); },
            [&](const sql::ColumnRef& node) { return column(node, expr.at); },
            [&](const sql::Star&) -> Result<Expression> {
                return Error{.code = ErrorCode::syntax,
                             .message = "* stands only alone after SELECT, and in COUNT(*)",
                             .at = expr.at};
            },
            [&](const sql::Call& node) { return function_call(node, expr); },
            [&](const sql::Cast& node) -> Result<Expression> {
                TRY_ASSIGN(inner, operand(node.operand.front()));
                return cast(std::move(inner), node.type, expr);
            },
            [&](const sql::Unary& node) { return unary(node, expr); },
            [&](const sql::Binary& node) { return binary(node, expr); },
            [&](const sql::Logical& node) -> Result<Expression> {
                TRY_ASSIGN(all, operands(node.operands));
                return logical(node.op == sql::LogicalOp::logical_and ? Function::logical_and
                                                                      : Function::logical_or,
                               std::move(all));
            },
            [&](const sql::Between& node) { return between_test(node, expr); },
            [&](const sql::InList& node) { return in_test(node, expr); },
            [&](const sql::IsTest& node) { return test(node, expr); },
        },
        expr.node);
    if (!bound) return bound.error();
    return Operand{.value = *std::move(bound), .written = &expr};
}

Result<std::vector<Operand>> ExpressionBinder::operands(const std::vector<sql::Expr>& exprs) {
    std::vector<Operand> all;
    all.reserve(exprs.size());
    for (const sql::Expr& expr : exprs) {
        TRY_ASSIGN(each, operand(expr));
        all.push_back(std::move(each));
    }
    return all;
}

Result<Expression> ExpressionBinder::column(const sql::ColumnRef& name, Position at) {
    if (grouping_ != nullptr) return grouped_column(name, at);
    TRY_ASSIGN(index, find_column(scope_, name, at));
    const Column& found = scope_.columns[index].column;
    return Expression{.node = ColumnIndex{index}, .type = found.type, .nullable = found.nullable};
}

Result<Expression> ExpressionBinder::grouped_column(const sql::ColumnRef& name, Position at) {
    const auto found = find_column(scope_, name, at);
    Expression bound;
    if (found) {
        const Column& column = scope_.columns[*found].column;
        bound = {.node = ColumnIndex{*found}, .type = column.type, .nullable = column.nullable};
        if (grouping_->is_grouped(bound)) return bound;
    }
    if (items_ != nullptr && name.parts.size() == 1) {
        const auto item = std::find_if(items_->begin(), items_->end(), [&](const NamedItem& each) {
            return each.name == name.parts.front();
        });
        if (item != items_->end()) {
            TRY(budget_.spend(item->value, at));
            return item->value;
        }
    }
    if (!found) return found.error();
    grouping_->stands_outside(*found, at);
    return bound;
}

Result<Expression> ExpressionBinder::unary(const sql::Unary& node, const sql::Expr& whole) {
    TRY_ASSIGN(inner, operand(node.operand.front()));
    switch (node.op) {
        case sql::UnaryOp::plus:
            return unchanged(std::move(inner), whole);
        case sql::UnaryOp::minus:
            return negated(std::move(inner), whole);
        case sql::UnaryOp::logical_not:
            break;
    }
    std::vector<Operand> only;
    only.push_back(std::move(inner));
    return logical(Function::logical_not, std::move(only));
}

Result<Expression> ExpressionBinder::binary(const sql::Binary& node, const sql::Expr& whole) {
    TRY_ASSIGN(both, operands(node.operands));
    const Function function = function_of(node.op);
    if (!is_arithmetic(function)) return comparison(function, std::move(both), whole);
    return arithmetic(function, std::move(both[0]), std::move(both[1]), whole);
}

Result<Expression> ExpressionBinder::between_test(const sql::Between& node,
                                                  const sql::Expr& whole) {
    TRY_ASSIGN(all, operands(node.operands));
    TRY_ASSIGN(truth, between(std::move(all), whole, budget_));
    return node.negated ? inverted(std::move(truth)) : std::move(truth);
}

Result<Expression> ExpressionBinder::in_test(const sql::InList& node, const sql::Expr& whole) {
    TRY_ASSIGN(all, operands(node.operands));
    TRY_ASSIGN(truth, in_list(std::move(all), whole, budget_));
    return node.negated ? inverted(std::move(truth)) : std::move(truth);
}

Result<Expression> ExpressionBinder::test(const sql::IsTest& node, const sql::Expr& whole) {
    TRY_ASSIGN(inner, operand(node.operand.front()));
    if (node.what == sql::IsWhat::null) {
        Expression truth = is_null(std::move(inner));
        return node.negated ? inverted(std::move(truth)) : std::move(truth);
    }
    TRY_ASSIGN(truth, is_nan(std::move(inner), whole));
    return node.negated ? inverted(std::move(truth)) : std::move(truth);
}

Result<Expression> ExpressionBinder::function_call(const sql::Call& node, const sql::Expr& whole) {
    if (is_aggregate(node.function)) return aggregate(node, whole);
    if (node.star || node.distinct) return unknown_function(whole);
    TRY_ASSIGN(arguments, operands(node.arguments));
    return call_function(whole, std::move(arguments));
}

Result<Expression> ExpressionBinder::aggregate(const sql::Call& node, const sql::Expr& whole) {
    if (grouping_ == nullptr) {
        const bool condition = clause_ == "WHERE" || clause_ == "ON";
        return Error{
            .code = ErrorCode::syntax,
            .message = "the aggregate " + shown(whole) + " cannot stand in " + std::string(clause_),
            .at = whole.at,
            .hint = clause_ == kWithoutWindow ? "add a window: WINDOW TUMBLING(ts, SIZE 10 SEC)"
                    : condition               ? "conditions on aggregates stand in HAVING"
                                              : "compute it in a subquery"};
    }
    if (grouping_->aggregates().size() >= kGroupingMax) {
        return Error{.code = ErrorCode::too_large,
                     .message = "a window has more than " + std::to_string(kGroupingMax) +
                                " different aggregates",
                     .at = whole.at,
                     .hint = "split the query"};
    }
    ExpressionBinder inside(grouping_->input(), "another aggregate", budget_);
    TRY_ASSIGN(arguments, inside.operands(node.arguments));
    TRY_ASSIGN(made, make_aggregate(whole, std::move(arguments)));
    return grouping_->column_of(std::move(made), node);
}

}  // namespace baton::analysis
