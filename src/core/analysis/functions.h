// The functions of the dialect that are called by name: the number and types of their arguments,
// and the types of their results. Aggregates are not among them (aggregates.h).
//
//   ABS                      a number; signed integers give the next wider type, which holds the
//                            result (INT64 stays), others their own
//   CEIL FLOOR ROUND         a number; its own type
//   EXP POW SQRT             numbers; FLOAT64
//   MOD                      as the operator %
//   CONCAT                   two or more texts; VARSIZED
//   CHAR_LENGTH OCTET_LENGTH a text; UINT64
//   TO_BASE64 FROM_BASE64    a text; VARSIZED
//   CASTTOUNIXTS             a text; UINT64, in ms
//   CASTFROMUNIXTS           a whole number of ms; VARSIZED
//   DAY_OF MONTH_OF YEAR_OF  a whole number of ms; UINT64. Also without the underscore
//   ISNULL ISNAN             as the predicates
//   CONDITIONAL              conditions and values in turn, then the default; the common type of
//                            the values, NULL only if one of them can be
//
// Fails with arity, type_mismatch, type_inference, and not_supported for an unknown name.
#pragma once

#include <vector>

#include "core/analysis/operators.h"

namespace baton::analysis {

// `whole` holds a Call; `arguments` are its arguments.
[[nodiscard]] Result<Expression> call_function(const sql::Expr& whole,
                                               std::vector<Operand> arguments);

// "ABS takes 1 argument, but has 2"; least and most are inclusive.
[[nodiscard]] Error wrong_arity(const sql::Expr& whole, std::size_t least, std::size_t most);

[[nodiscard]] Error unknown_function(const sql::Expr& whole);

}  // namespace baton::analysis
