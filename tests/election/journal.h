// What leaders have written, each line under an epoch and in the order of the commits. A line under
// an epoch that comes after one under a higher epoch is stale: a deposed leader has written it.
#pragma once

#include <cstdint>
#include <string>

#include "base/id.h"
#include "base/result.h"
#include "ports/sql.h"

namespace baton::testing {

// The tables of the lock service, and a journal, in an empty database.
void make_journal(Sql& sql);

// A line, in the transaction of the caller.
[[nodiscard]] Result<Done> append(Sql& sql, Epoch epoch);

struct JournalFindings {
    std::uint64_t writes = 0;
    std::uint64_t stale = 0;
};
[[nodiscard]] JournalFindings read_journal(Sql& sql);

// Begins a transaction as servers have them by themselves: a SELECT in it locks nothing, and what
// it saw may have changed when it writes. SQLite has no such thing.
[[nodiscard]] Result<Done> begin_weakly(Sql& sql);
// Looks at the fence and does not hold it: what hold_fence() must not be.
[[nodiscard]] Result<bool> is_fence_of(Sql& sql, const std::string& key, Epoch epoch);

}  // namespace baton::testing
