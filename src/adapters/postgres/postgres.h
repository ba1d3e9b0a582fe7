// The catalog in a PostgreSQL database.
//
// Several processes may use it at once: which of them writes is decided by the lease and enforced
// by the fence, not here. Transactions that write are SERIALIZABLE; readers have the snapshot of
// their begin() and never wait.
//
// Deadlines: a session that stands still inside a transaction is ended by the server, so that one
// whose process was paused does not hold its locks; a statement, and the wait for a lock, end by
// themselves; and a server that does not answer is given up.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>

#include "base/time.h"
#include "ports/sql.h"

namespace baton::postgres {

struct PostgresOptions {
    std::string url;  // postgres://user:password@host:port/database
    // Makes the tables of a new database, or changes those of an old one. Runs on one process at a
    // time. It ends its own transactions.
    std::function<Result<Done>(Sql& sql)> initialise;
    Duration connect_deadline = std::chrono::seconds(5);
    Duration lock_deadline = std::chrono::seconds(2);
    Duration statement_deadline = std::chrono::seconds(30);
    Duration idle_in_transaction = std::chrono::seconds(5);
};

// Errors: catalog_unavailable (no server, no database, no permission), invalid_configuration (the
// URL), and those of `initialise`.
[[nodiscard]] Result<std::unique_ptr<SqlDatabase>> open_postgres(const PostgresOptions& options);

}  // namespace baton::postgres
