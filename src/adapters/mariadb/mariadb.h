// The catalog in a MariaDB (or MySQL) database, in InnoDB tables.
//
// Several processes may use it at once: which of them writes is decided by the lease and enforced
// by the fence, not here. Transactions that write are SERIALIZABLE; readers have the snapshot of
// their begin() and never wait.
//
// Tables are made outside of transactions, as MariaDB has it: the next process continues an
// interrupted attempt.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>

#include "base/time.h"
#include "ports/sql.h"

namespace baton::mariadb {

struct MariadbOptions {
    // mysql://user:password@host:port/database, or mariadb://. With ?sslmode=require or verify-full
    // it is encrypted, or there is no connection; the server's certificate is verified
    // (sslrootcert) unless the host is this machine, and sslcert and sslkey are shown if it wants
    // one.
    std::string url;
    // Makes the tables of a new database, or changes those of an old one. Runs on one process at a
    // time.
    std::function<Result<Done>(Sql& sql)> initialise;
    Duration connect_deadline = std::chrono::seconds(5);
    Duration lock_deadline = std::chrono::seconds(2);
    Duration statement_deadline = std::chrono::seconds(30);
    Duration idle_in_transaction = std::chrono::seconds(5);
};

// Errors: catalog_unavailable (no server, no database, no permission), invalid_configuration (the
// URL), and those of `initialise`.
[[nodiscard]] Result<std::unique_ptr<SqlDatabase>> open_mariadb(const MariadbOptions& options);

}  // namespace baton::mariadb
