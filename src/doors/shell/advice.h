// Advice beside an answer that would leave a newcomer at a loss.
#pragma once

#include <string>

#include "sql/ast.h"

namespace baton::shell {

// A sentence to stand below the table of the statement, which has no rows. Empty: there is no need.
[[nodiscard]] std::string advice_on(const sql::Statement& statement);

}  // namespace baton::shell
