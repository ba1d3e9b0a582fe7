// What to say beside an answer that would leave a newcomer at a loss.
#pragma once

#include <string>

#include "catalog/view_query.h"
#include "sql/ast.h"

namespace baton::shell {

// A sentence for below the table; empty if the table speaks for itself.
[[nodiscard]] std::string advice_on(const sql::Statement& statement, const Table& table);

}  // namespace baton::shell
