// FaultySqlDatabase is a database on which things go wrong when a test says so.
//
// A test gives a function that is asked before every call, and decides: an error instead of the
// call, an error after the call took effect, a transaction that is lost. It wraps a real database,
// so that what is left afterwards is what a real one would leave.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "ports/sql.h"

namespace baton::testing {

// The next call. A read is a statement that begins with SELECT, WITH, VALUES or PRAGMA; every other
// statement is a write.
enum class SqlCall : std::uint8_t {
    connect,
    begin,
    read,
    write,
    script,
    savepoint,  // set, released or rolled back to
    commit,
    sync,
    backup,
};

struct SqlMoment {
    SqlCall call;
    std::uint64_t number;  // of calls of this kind so far, this one included, on all connections
    std::string_view sql;  // of read and write
};

struct SqlFault {
    ErrorCode code = ErrorCode::catalog_unavailable;
    // The call took effect and only its answer is lost: for unknown_outcome.
    bool took_effect = false;
    // The database gave up the whole transaction, as SQLite does when the disk is full: every
    // further call fails the same way until rollback().
    bool transaction_lost = false;
};

// Asked from any thread that uses the database, one at a time.
using SqlFaults = std::function<std::optional<SqlFault>(const SqlMoment& moment)>;

// One fault, at the n-th call of a kind, from 1; several of them make a script.
struct PlannedFault {
    SqlCall call;
    std::uint64_t number;
    SqlFault fault;
};
[[nodiscard]] SqlFaults as_planned(std::vector<PlannedFault> plan);

class FaultySqlDatabase final : public SqlDatabase {
public:
    // `real` outlives it and its connections.
    FaultySqlDatabase(SqlDatabase& real, SqlFaults faults);
    ~FaultySqlDatabase() override;

    // From now on; nothing goes wrong with an empty function. Counting goes on.
    void set_faults(SqlFaults faults);
    [[nodiscard]] std::uint64_t calls(SqlCall call) const;

    [[nodiscard]] Result<std::unique_ptr<Sql>> connect(Access access) override;
    [[nodiscard]] Result<Done> backup_to(const std::string& path) override;

    struct Shared;

private:
    SqlDatabase& real_;
    std::shared_ptr<Shared> shared_;
};

}  // namespace baton::testing
