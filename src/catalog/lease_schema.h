// The two tables of the lock service: who holds which lock until when, and which epoch may write.
//
//     lease(lock_key, owner, epoch, expires_at, status)   expires_at in us, by the database's clock
//     fence(lock_key, epoch)
//
// They are two, so that a long transaction of a leader, which holds its row of `fence`, never keeps
// its own renewal waiting. A row of `fence` outlives its lease: a lock that is made again goes on
// counting where it was, and nobody's old epoch is valid again.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "ports/sql.h"

namespace baton {

// The lock of the coordinator, made by the migration.
inline constexpr std::string_view kLeaderLock = "leader";

// CREATE TABLE statements, separated by `;`.
[[nodiscard]] std::string lease_tables(SqlDialect dialect);
// What the new tables begin with. In the caller's transaction.
[[nodiscard]] Result<Done> fill_lease_tables(Sql& sql);

}  // namespace baton
