// Which failures of the database are retried, and how often.
#pragma once

#include "base/result.h"
#include "ports/sql.h"

namespace baton::coordinator {

inline constexpr int kDatabaseAttemptsMax = 3;

// After this error nothing has happened, and another attempt on the same connection may succeed:
// the connection to a restarted server is made again, and the loser of a deadlock may win the next
// time.
[[nodiscard]] inline bool may_be_tried_again(const Sql& sql, const Error& error) {
    return sql.dialect() != SqlDialect::sqlite && error.code == ErrorCode::catalog_unavailable;
}

}  // namespace baton::coordinator
