// SqlLater is what a connection to a server offers beside Sql: statements that need no answer now.
// They go with the next statement that does, or with the commit, in one trip to the server and
// back, in the order in which they were given; so does the beginning of the transaction.
//
// Errors:  of statements that were put off come from the call that they went with, and cost the
//          whole transaction: every further call fails the same way until rollback().
// A request by itself takes three trips. A database that is in this process has nothing to save and
// offers none.
#pragma once

#include <span>
#include <string_view>

#include "base/result.h"
#include "ports/sql.h"

namespace baton {

class SqlLater {
public:
    virtual ~SqlLater() = default;

    // As Sql::begin(Access::write).
    virtual Result<Done> begin_later() = 0;
    // As Sql::run without rows, in a transaction.
    virtual Result<Done> run_later(std::string_view sql, std::span<const SqlValue> parameters) = 0;
};

// Null: the connection has no such way.
[[nodiscard]] inline SqlLater* later_of(Sql& sql) {
    return dynamic_cast<SqlLater*>(&sql);
}

}  // namespace baton
