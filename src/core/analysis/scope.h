// A Scope is the columns that an expression can name, and how: NAME, or RELATION.NAME.
//
// A column belongs to the relation it came from: the alias where there is one, else the name of the
// source, which a subquery without an alias passes on with the columns it selects as they are. A
// column that is computed or renamed belongs to none. START and END of the window that was made
// last hide columns of the same name, which remain reachable as RELATION.START. Fails with
// unknown_field: no such column, with the nearest name; or several, with all of them.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "model/schema.h"
#include "sql/ast.h"

namespace baton::analysis {

struct ScopeColumn {
    std::optional<std::string> relation;
    Column column;
    bool of_window = false;  // START or END of the window that was made last
};

struct Scope {
    std::vector<ScopeColumn> columns;  // by position in the rows
};

[[nodiscard]] Schema schema_of(const Scope& scope);

[[nodiscard]] Result<std::size_t> find_column(const Scope& scope, const sql::ColumnRef& name,
                                              Position at);

// The columns of `*` or `RELATION.*`.
[[nodiscard]] Result<std::vector<std::size_t>> find_star(const Scope& scope, const sql::Star& star,
                                                         Position at);

// RELATION.NAME for messages, or NAME if it belongs to none.
[[nodiscard]] std::string full_name(const ScopeColumn& column);

// As seen from outside a subquery or beyond another window: START and END are columns like others.
void forget_window(Scope& scope);

// START and END of a window.
[[nodiscard]] std::vector<ScopeColumn> window_columns();

}  // namespace baton::analysis
