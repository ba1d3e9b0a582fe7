// Types of operators and predicates over typed operands: conversions are added, nullability follows
// from the operands, and operands that do not fit are refused.
//
// type_inference (2007): no type fits all operands, as for 'a' + 1 or 'a' < 1.
// type_mismatch (2006): one operand must be of a certain type and is not, as in AND.
#pragma once

#include <string_view>
#include <vector>

#include "base/result.h"
#include "core/analysis/budget.h"
#include "model/expression.h"
#include "sql/ast.h"

namespace baton::analysis {

// An expression that was written somewhere.
struct Operand {
    Expression value;
    bool untyped = false;  // a bare NULL, which takes the type of its surroundings
    const sql::Expr* written = nullptr;
};

// All take the expression that was written as a whole, for messages.
[[nodiscard]] Result<Expression> arithmetic(Function function, Operand left, Operand right,
                                            const sql::Expr& whole);
[[nodiscard]] Result<Expression> negated(Operand operand, const sql::Expr& whole);
[[nodiscard]] Result<Expression> unchanged(Operand operand, const sql::Expr& whole);  // +x
// Both operands in their common type.
[[nodiscard]] Result<Expression> comparison(Function function, std::vector<Operand> operands,
                                            const sql::Expr& whole);
// x BETWEEN a AND b is x >= a AND x <= b, x IN (a, b) is x = a OR x = b, each comparison in the
// common type of its own two sides, as in C++. Where these agree, it is one call; else the subject,
// the first operand, is copied.
[[nodiscard]] Result<Expression> between(std::vector<Operand> operands, const sql::Expr& whole,
                                         Budget& budget);
[[nodiscard]] Result<Expression> in_list(std::vector<Operand> operands, const sql::Expr& whole,
                                         Budget& budget);
// AND, OR, NOT.
[[nodiscard]] Result<Expression> logical(Function function, std::vector<Operand> operands);
[[nodiscard]] Expression is_null(Operand operand);
[[nodiscard]] Result<Expression> is_nan(Operand operand, const sql::Expr& whole);
[[nodiscard]] Result<Expression> cast(Operand operand, DataType type, const sql::Expr& whole);

// The value, if it has a type; a bare NULL alone has none: type_inference.
[[nodiscard]] Result<Expression> typed(Operand operand);
// A value of that type, a bare NULL among them; else type_mismatch, which says that `what` needs
// it.
[[nodiscard]] Result<Expression> needed(Operand operand, DataType type, std::string_view what);

// A call whose result can be NULL if an argument can.
[[nodiscard]] Expression call(Function function, std::vector<Expression> arguments, DataType type);
[[nodiscard]] Expression inverted(Expression truth);  // NOT

// As it was written, for a message; shortened if it is long.
[[nodiscard]] std::string shown(const sql::Expr& expr);
// "X of type INT32"
[[nodiscard]] std::string described(const Operand& operand);

}  // namespace baton::analysis
