// Binds expressions: names become positions, every node gets its type, conversions are put in.
//
// Fails with unknown_field, arity, type_mismatch, type_inference, not_supported (an unknown
// function), syntax (an aggregate where none can stand) and too_large.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/analysis/aggregates.h"
#include "core/analysis/budget.h"
#include "core/analysis/operators.h"
#include "core/analysis/scope.h"

namespace baton::analysis {

// Names that HAVING may use beside columns: the items of the SELECT list, in the first step of
// Grouping.
struct NamedItem {
    std::string name;
    Expression value;
};

// The clause of a SELECT that has no window.
inline constexpr std::string_view kWithoutWindow = "a query without a window";

class ExpressionBinder {
public:
    // Over rows; an aggregate is refused because `clause` cannot have one: "WHERE", "GROUP BY".
    ExpressionBinder(const Scope& scope, std::string_view clause, Budget& budget)
        : scope_(scope), clause_(clause), budget_(budget) {}
    // Over the groups of an aggregation, in the first step of Grouping. A name is first a key, then
    // one of `items`, then any column.
    ExpressionBinder(Grouping& grouping, const std::vector<NamedItem>* items, Budget& budget)
        : scope_(grouping.before()), grouping_(&grouping), items_(items), budget_(budget) {}

    Result<Expression> bind(const sql::Expr& expr);
    // A condition, which must be BOOLEAN: WHERE, HAVING, ON.
    Result<Expression> bind_predicate(const sql::Expr& expr, std::string_view clause);

private:
    Result<Operand> operand(const sql::Expr& expr);
    Result<std::vector<Operand>> operands(const std::vector<sql::Expr>& exprs);
    Result<Expression> column(const sql::ColumnRef& name, Position at);
    Result<Expression> grouped_column(const sql::ColumnRef& name, Position at);
    Result<Expression> unary(const sql::Unary& node, const sql::Expr& whole);
    Result<Expression> binary(const sql::Binary& node, const sql::Expr& whole);
    Result<Expression> between_test(const sql::Between& node, const sql::Expr& whole);
    Result<Expression> in_test(const sql::InList& node, const sql::Expr& whole);
    Result<Expression> test(const sql::IsTest& node, const sql::Expr& whole);
    Result<Expression> function_call(const sql::Call& node, const sql::Expr& whole);
    Result<Expression> aggregate(const sql::Call& node, const sql::Expr& whole);

    const Scope& scope_;
    std::string_view clause_;
    Grouping* grouping_ = nullptr;
    const std::vector<NamedItem>* items_ = nullptr;
    Budget& budget_;
};

}  // namespace baton::analysis
