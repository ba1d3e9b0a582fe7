// The two tables of the lock service: the owner of each lock and the end of its lease, and the
// epoch that may write.
//
//     lease(lock_key, owner, epoch, expires_at, status, taken_at)   by the database's clock, in us
//     fence(lock_key, epoch)
//
// Locks of clients are in two others of the same shape, `lock_lease` and `lock_fence`: whatever the
// name of such a lock, no statement about it reaches the row that decides which coordinator leads.
//
// The tables are two, so that a long transaction of a leader, which holds its row of `fence`, never
// keeps its own renewal waiting. A row of `fence` outlives its lease: a lock that is made again
// goes on counting epochs where it was, so that no old epoch becomes valid again.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"
#include "ports/sql.h"

namespace baton::catalog {

// The lock of the coordinator, made by the migration.
inline constexpr std::string_view kLeaderLock = "leader";

// Whose locks are meant.
enum class LockSpace : std::uint8_t { coordinators, clients };
[[nodiscard]] std::string lease_table(LockSpace space);
[[nodiscard]] std::string fence_table(LockSpace space);

// Makes the tables as version 1 of the catalog has them, with their first rows. In the caller's
// transaction, if it has one.
[[nodiscard]] Result<Done> make_first_lease_tables(Sql& sql);
// Adds the column of version 2, `taken_at`.
[[nodiscard]] Result<Done> add_lease_times(Sql& sql);
// Makes the tables of version 3 for locks of clients, and moves these locks there from among those
// of the coordinators.
[[nodiscard]] Result<Done> move_locks_of_clients(Sql& sql);
// Makes all tables as they are now, for a lock service without a catalog.
[[nodiscard]] Result<Done> make_lease_tables(Sql& sql);

}  // namespace baton::catalog
