// Readers lends read-only connections: each loan is a snapshot of the catalog at one revision,
// taken when it is lent. Readers wait for the disk if the writer is ahead of it, never for the
// writer, nor the writer for them.
#pragma once

#include <memory>

#include "base/result.h"
#include "base/time.h"
#include "catalog/reader.h"
#include "coordinator/commit/durable.h"
#include "coordinator/reading/connection_pool.h"
#include "ports/sql.h"

namespace baton::coordinator {

// One revision of the whole catalog, for as long as it is held. Used by one thread at a time.
class Snapshot {
public:
    Snapshot(Snapshot&&) noexcept = default;
    Snapshot& operator=(Snapshot&&) = delete;
    ~Snapshot();

    [[nodiscard]] Revision revision() const { return revision_; }
    [[nodiscard]] catalog::Reader read() const { return catalog::Reader(*sql_); }
    [[nodiscard]] Sql& sql() const { return *sql_; }

private:
    friend class Readers;
    Snapshot(ConnectionPool& owner, std::unique_ptr<Sql> sql)
        : owner_(&owner), sql_(std::move(sql)) {}

    ConnectionPool* owner_;
    std::unique_ptr<Sql> sql_;
    Revision revision_;
};

class Readers {
public:
    using Urgency = ConnectionPool::Urgency;

    Readers(SqlDatabase& database, Durable& durable, std::size_t connections_max,
            std::string busy = "too many reads are under way", std::size_t reserve = 0)
        : durable_(durable),
          connections_(database, Access::read, connections_max, std::move(busy), reserve) {}

    // Waits for a connection if all are lent. Fails with slow_down if none comes back in time.
    // Every Snapshot must be gone before this is.
    [[nodiscard]] Result<Snapshot> snapshot(Urgency urgency = Urgency::ordinary);

private:
    Durable& durable_;
    ConnectionPool connections_;
};

}  // namespace baton::coordinator
