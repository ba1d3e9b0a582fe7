// Random conditions over the columns of a view.
#pragma once

#include <rapidcheck.h>

#include "catalog/views/views.h"
#include "sql/ast.h"

namespace baton::properties {

// A condition that fits the types of the columns; `derived` says whether it may use columns that
// are computed from other rows.
[[nodiscard]] rc::Gen<sql::Expr> any_condition(const kinds::View& view, bool derived);

// A value that such a column may have, from few, so that comparisons are often equal.
[[nodiscard]] SqlValue any_value(kinds::ViewType type);

}  // namespace baton::properties
