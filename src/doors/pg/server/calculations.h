// Which SELECTs from nothing are questions, and which are those of PostgreSQL's catalog. Internal
// to statements.cc.
#pragma once

#include <span>

#include "doors/pg/catalog/tokens.h"

namespace baton::pgserver {

// Whether a SELECT from nothing has types, parameters, arrays or functions that are not those of
// PostgreSQL's server: a health check like SELECT 1 has none, and waits for no question.
[[nodiscard]] bool calculates(std::span<const pg::Token> tokens);

}  // namespace baton::pgserver
