// What is tried again by itself when the database failed, and how often.
#pragma once

#include "base/result.h"
#include "ports/sql.h"

namespace baton {

inline constexpr int kDatabaseAttemptsMax = 3;

// After this error nothing has happened, and another attempt on the same connection may succeed: a
// server that was restarted is connected to again, and who lost a deadlock may win the next.
[[nodiscard]] inline bool may_be_tried_again(const Sql& sql, const Error& error) {
    return sql.dialect() != SqlDialect::sqlite && error.code == ErrorCode::catalog_unavailable;
}

}  // namespace baton
