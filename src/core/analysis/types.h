// The types of literals and of mixed operands, by the rules of the dialect.
//
// A bare whole number has the smallest unsigned type that holds it, the smallest signed one if it
// is negative. Mixed numbers meet in the type C++ would give them: types shorter than 32 bits
// become INT32, then the wider wins, and of two alike in width the unsigned one; a float wins over
// every integer. Text meets text in VARSIZED. Nothing else mixes.
#pragma once

#include <optional>
#include <span>

#include "base/result.h"
#include "model/expression.h"
#include "sql/ast.h"

namespace baton::analysis {

// Of an operand of arithmetic: INT32 for shorter types, else itself. A number.
[[nodiscard]] DataType promoted(DataType type);
// Of the result of arithmetic on two numbers.
[[nodiscard]] DataType arithmetic_type(DataType a, DataType b);
// In which values are compared, or chosen between: their own type if they agree.
[[nodiscard]] std::optional<DataType> common_type(std::span<const DataType> types);
// Whether CAST can be asked for: among numbers, to VARSIZED, from text to anything but CHAR, and
// between BOOLEAN and numbers.
[[nodiscard]] bool castable(DataType from, DataType to);

// The value in that type: a cast, or the constant that the cast would give if that is in range.
[[nodiscard]] Expression converted(Expression expression, DataType type);

[[nodiscard]] Expression null_of(DataType type);

// NULL has no type and is not for this.
[[nodiscard]] Expression bare_literal(const sql::Literal& literal);
// TYPE(literal). Fails with type_mismatch if the value is not one of that type.
[[nodiscard]] Result<Expression> typed_literal(const sql::TypedLiteral& literal, Position at);

}  // namespace baton::analysis
