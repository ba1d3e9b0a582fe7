// The signals of a catalog in PostgreSQL: LISTEN on a connection of its own.
#pragma once

#include <memory>
#include <string>

#include "ports/sql_signals.h"

namespace baton::postgres {

// Connects at the first wait.
[[nodiscard]] std::unique_ptr<SqlSignals> listen_to_postgres(const std::string& url);

}  // namespace baton::postgres
