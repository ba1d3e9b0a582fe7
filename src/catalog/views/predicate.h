// Predicate is a WHERE over the columns of one view. It can be asked of a row in memory, for WATCH,
// and turned into SQL with parameters, for SHOW and SELECT; both give the same answer.
//
// Three-valued: a comparison with NULL is unknown, and only what is true matches. Texts compare
// by their bytes. No text of a user ever becomes part of the SQL: values are parameters, and
// columns are those of the view.
#pragma once

#include <string>
#include <variant>
#include <vector>

#include "base/result.h"
#include "catalog/views/views.h"
#include "sql/ast.h"

namespace baton::views {

class Predicate {
public:
    // Fails with unknown_field (and the nearest column), type_mismatch, or not_supported for
    // expressions beyond columns, literals, comparisons, BETWEEN, IN, IS NULL, AND, OR, NOT.
    [[nodiscard]] static Result<Predicate> compile(const kinds::View& view, const sql::Expr& expr);
    // `column = value`
    [[nodiscard]] static Result<Predicate> equal(const kinds::View& view, const std::string& column,
                                                 const sql::Literal& value, Position at);
    [[nodiscard]] static Predicate both(Predicate a, Predicate b);

    // `row` has at least the columns that the predicate mentions.
    [[nodiscard]] bool matches(const SqlRow& row) const;
    // Whether the row of a change, which has no derived columns, is enough to decide.
    [[nodiscard]] bool needs_derived() const;

    struct Fragment {
        std::string sql;
        std::vector<SqlValue> parameters;
    };
    [[nodiscard]] Fragment to_sql(SqlDialect dialect) const;

private:
    struct Node;
    using Operand = std::variant<std::size_t, SqlValue>;  // a column, or a literal

    struct Truth {
        Operand operand;
    };
    struct Compare {
        sql::BinaryOp op = sql::BinaryOp::eq;
        Operand left, right;
    };
    struct Between {
        bool negated = false;
        Operand subject, low, high;
    };
    struct InList {
        bool negated = false;
        Operand subject;
        std::vector<Operand> candidates;
    };
    struct IsNull {
        bool negated = false;
        Operand operand;
    };
    struct Junction {
        sql::LogicalOp op = sql::LogicalOp::logical_and;
        std::vector<Node> operands;
    };
    struct Negation {
        std::vector<Node> operand;  // one
    };
    struct Node {
        std::variant<Truth, Compare, Between, InList, IsNull, Junction, Negation> node;
    };

    [[nodiscard]] static std::string_view symbol(sql::BinaryOp op);  // "<="; empty: no comparison

    class Compiler;
    class Evaluator;
    class Renderer;

    Predicate(const kinds::View& view, Node root) : view_(&view), root_(std::move(root)) {}

    const kinds::View* view_;
    Node root_;
};

// A column's name in the database's own quotes.
[[nodiscard]] std::string quoted_column(SqlDialect dialect, std::string_view column);

}  // namespace baton::views
