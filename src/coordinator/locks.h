// Locks is the lock service for clients: named locks that one owner at a time has, for a time that
// it has to renew, under an epoch that grows whenever the lock is taken.
//
// The promises of catalog/lease.h hold here: the database's clock alone decides, so any coordinator
// of the catalog serves locks, also while none leads. A client that writes elsewhere under a lock
// sends the epoch along, so that late writes of an earlier owner can be refused. The lock of the
// coordinators themselves is in other tables, and no name reaches it.
#pragma once

#include <optional>
#include <vector>

#include "base/result.h"
#include "catalog/lease.h"
#include "catalog/views/view_query.h"
#include "coordinator/reading/connection_pool.h"
#include "ports/sql.h"
#include "sql/ast.h"

namespace baton::coordinator {

class Locks {
public:
    static constexpr std::size_t kConnectionsMax = 4;

    // The database outlives it. Connections are made when they are needed.
    explicit Locks(SqlDatabase& database)
        : connections_(database, Access::write, kConnectionsMax,
                       "too many locks are being asked for") {}

    // From any thread; waits for the database. ACQUIRE and RENEW give one row, the others none.
    // Fails with invalid_configuration, unknown_lock, lock_held, lock_lost, lock_not_active,
    // slow_down, and errors of the database; then nothing was done, unless it is unknown_outcome.
    [[nodiscard]] Result<std::optional<views::Table>> run(const sql::LockStatement& statement);
    // Of the row that ACQUIRE and RENEW give; none for the others.
    [[nodiscard]] static std::optional<std::vector<views::TableColumn>> columns(
        const sql::LockStatement& statement);

private:
    ConnectionPool connections_;
};

}  // namespace baton::coordinator
